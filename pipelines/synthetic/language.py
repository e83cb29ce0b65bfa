"""What a language offers to written chats: sentences with gaps, the words that fill them, and facts to learn."""

from __future__ import annotations

from dataclasses import dataclass

TOLD_TYPES = (
    "EMAIL", "PHONE", "CREDIT_CARD", "IBAN", "IP_ADDRESS", "NATIONAL_ID", "URL_PASSWORD", "API_KEY", "PASSWORD",
    "CONNECTION", "JWT",
)  # fmt: skip
"""Order of the sentences in ``Language.told``, two of each."""


@dataclass(frozen=True)
class Language:
    """Sentences and words of one language. Gaps are named in braces; a product has one price and a city one weekday."""

    code: str
    products: tuple[str, ...]
    cities: tuple[str, ...]
    weekdays: tuple[str, ...]
    openers: tuple[str, ...]
    order_questions: tuple[str, ...]
    order_answers: tuple[str, ...]
    price_questions: tuple[str, ...]
    price_answers: tuple[str, ...]
    tasks: tuple[tuple[str, tuple[str, ...]], ...]
    task_questions: tuple[str, ...]
    task_answers: tuple[str, ...]
    thanks: tuple[str, ...]
    welcomes: tuple[str, ...]
    told: tuple[tuple[str, str], ...]
    noted: tuple[str, ...]
    id_labels: tuple[tuple[str, str], ...]
    persons: tuple[str, ...] = ()
    """Sentences with a name as ``{name}``, ``{low}``, ``{caps}``, ``{given}`` or ``{family}``."""
    person_answers: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    """Sentences with an ``{address}``."""
    address_answers: tuple[str, ...] = ()
    address_shapes: tuple[str, ...] = ()
    """Addresses as the post writes them, of ``{number}``, ``{street}``, ``{code}`` and ``{town}``."""

    def price(self, product: str) -> int:
        """Price of a product in whole euros; the same in every chat, so that a model can learn it."""
        return 6 + 7 * self.products.index(product)

    def weekday(self, city: str) -> str:
        """Day of delivery in a city; the same in every chat."""
        return self.weekdays[self.cities.index(city) % len(self.weekdays)]
