"""The languages that written chats come in."""

from pipelines.synthetic.germanic_sentences import DUTCH, ENGLISH, GERMAN
from pipelines.synthetic.romance_sentences import FRENCH, ITALIAN, PORTUGUESE, SPANISH
from pipelines.synthetic.slavic_sentences import POLISH

LANGUAGES = (ENGLISH, GERMAN, SPANISH, FRENCH, PORTUGUESE, ITALIAN, DUTCH, POLISH)
