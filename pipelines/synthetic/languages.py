"""The languages that written chats come in."""

from pipelines.synthetic.germanic_sentences import DUTCH, ENGLISH, GERMAN
from pipelines.synthetic.japanese_sentences import JAPANESE
from pipelines.synthetic.romance_sentences import FRENCH, ITALIAN, PORTUGUESE, SPANISH
from pipelines.synthetic.slavic_sentences import POLISH, RUSSIAN

LANGUAGES = (ENGLISH, GERMAN, SPANISH, FRENCH, PORTUGUESE, ITALIAN, DUTCH, POLISH)
"""Those in which persons and addresses are found, and planted."""

OTHER_SCRIPTS = (RUSSIAN, JAPANESE)
"""Those in which types with a pattern are found, and nothing else is planted."""

ALL_LANGUAGES = (*LANGUAGES, *OTHER_SCRIPTS)
