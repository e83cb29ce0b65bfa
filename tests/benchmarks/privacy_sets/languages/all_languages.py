"""What the chat set says in each language: names, addresses and sentences that no list of a detector holds."""

from privacy_sets.languages.dutch import DUTCH
from privacy_sets.languages.english import ENGLISH
from privacy_sets.languages.form import ChatLanguage
from privacy_sets.languages.french import FRENCH
from privacy_sets.languages.german import GERMAN
from privacy_sets.languages.italian import ITALIAN
from privacy_sets.languages.other_scripts import ARABIC, CHINESE, HINDI, RUSSIAN
from privacy_sets.languages.polish import POLISH
from privacy_sets.languages.portuguese import PORTUGUESE
from privacy_sets.languages.spanish import SPANISH

LANGUAGES: tuple[ChatLanguage, ...] = (
    ENGLISH,
    GERMAN,
    SPANISH,
    FRENCH,
    ITALIAN,
    PORTUGUESE,
    DUTCH,
    POLISH,
    RUSSIAN,
    CHINESE,
    ARABIC,
    HINDI,
)
"""Eight languages with names and addresses; four scripts in which only patterned values are planted."""
