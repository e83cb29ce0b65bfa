"""Names by rule: lists, cues and shapes, over all tokens at once; joined with what the network says."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pipelines.privacy.tagger import lexicon as signs_of
from pipelines.privacy.tagger.decode import ADDRESS, PERSON
from pipelines.privacy.tagger.tokens import (
    CAPITALS,
    DIGIT,
    FIRST_SEPARATOR,
    INITIAL,
    INNER,
    LETTER,
    LINE,
    PLAIN,
    TITLE,
    Bytes,
    Tokens,
)

Flags = npt.NDArray[np.bool_]
_DOT = ord(".")


def join_rules(tokens: Tokens, signs: npt.NDArray[np.uint16], kinds: Bytes) -> None:
    """Add to ``kinds`` what rules find where the network found nothing, and take out what is none; it is changed.

    One word alone that the network takes for an address counts as nothing: it would be no address.
    """
    of_address = (kinds == ADDRESS) & (tokens.code < FIRST_SEPARATOR)
    # Marks between two words of an address are filled in later.
    beside = _next(of_address) | _before(of_address)
    alone = of_address & (tokens.code == LETTER) & ~(beside | _next(_next(of_address)) | _before(_before(of_address)))
    named = names_by_rule(tokens, signs) | introduced(tokens, signs) | greeted(tokens, signs)
    kinds[named & ((kinds == 0) | alone)] = PERSON
    kinds[whole_names(tokens, signs, kinds == PERSON) & ((kinds == 0) | alone)] = PERSON
    kinds[towns_by_rule(tokens, kinds == ADDRESS) & (kinds == 0)] = ADDRESS
    kinds[degrees(tokens, signs, kinds == PERSON) & (kinds == 0)] = PERSON
    kinds[no_names_by_rule(tokens, signs, kinds == PERSON)] = 0


def names_by_rule(tokens: Tokens, signs: npt.NDArray[np.uint16]) -> Flags:
    """Return which tokens are names by rule.

    A capitalised word is one when it follows a title, when it is a given name that is nothing else, or when given name,
    initial, particle and family name stand side by side; never a word that tells of an eponym or a company, or one in
    front of such a word.
    """
    is_word = tokens.code == LETTER
    shape = tokens.words.shape
    capital = is_word & ((shape == TITLE) | (shape == CAPITALS) | (shape == INNER))
    common = _has(signs, signs_of.COMMON)
    title = is_word & _has(signs, signs_of.TITLE_CUE)
    stop = _has(signs, _STOPS) & is_word
    given = capital & _has(signs, signs_of.GIVEN) & ~stop
    family = capital & _has(signs, signs_of.FAMILY) & ~stop
    dot = tokens.code == _DOT
    particle = is_word & _has(signs, signs_of.PARTICLE)
    opened = _next(title) | _next(dot, title)
    # Dott.ssa, Dr.in: the end of a title behind its dot.
    opened |= _next(opened & is_word & (shape == PLAIN) & _next(dot, title) & (tokens.words.length <= 3))
    opened |= _next(particle & opened)
    opened |= _next(particle & opened)
    named = capital & ~stop & ~title & opened
    named |= particle & opened & (_before(named) | _before(particle & opened & _before(named)))
    listed = is_word & _has(signs, signs_of.GIVEN | signs_of.FAMILY) & ~stop
    named |= listed & (shape == PLAIN) & _next(dot, title)
    only_given = given & ~common
    named |= only_given & (_before(capital & ~stop & ~common) | (~_has(signs, signs_of.PLACE) & (shape == TITLE)))
    named |= family & ~common & _next(given)
    initial = is_word & (shape == INITIAL)
    named |= (only_given | (family & ~common)) & (_next(dot, initial) | _next(initial))
    named |= capital & ~stop & ~common & _next(only_given)
    # A small word of two letters behind a name is one (ab, as, sa) before it is a kind of company.
    small = (shape == PLAIN) & (tokens.words.length <= 2)
    return named & ~_before(stop & ~_has(signs, signs_of.NOT_A_PERSON) & ~small)


def introduced(tokens: Tokens, signs: npt.NDArray[np.uint16]) -> Flags:
    """Return which words are names, in any case, since they are given as one, as in ``my name is lena olmi``.

    Up to five words that are no ordinary ones, particles between them, none after a mark or on the next line.
    """
    word = tokens.code == LETTER
    named = word & _has(signs, signs_of.SAYS_NAME)
    name_word = word & _has(signs, signs_of.NAME_WORD)
    of_form = word & np.isin(tokens.words.first, _FORM_LABELS)
    of_form |= name_word & _next(word & np.isin(tokens.words.first, _WHOLE))
    named |= (tokens.code == ord(":")) & _next(of_form)
    if not (named.any() or name_word.any()):
        return named
    link = word & np.isin(tokens.words.first, _LINKS)
    of_persons = name_word & _next(word & np.isin(tokens.words.first, _OWNED))
    named |= (link & _next(of_persons)) | _new_owners(tokens, name_word)
    # The pronoun of a reflexive verb stands behind it: nazywam się, chamo-me.
    filler = (word & np.isin(tokens.words.first, _PRONOUNS)) | (tokens.code == _HYPHEN)
    opened = _next(named)
    for _ in range(2):
        opened |= _next(opened & filler)
    particle = word & _has(signs, signs_of.PARTICLE)
    unknown = _unknown(tokens, signs) & ~filler & ~link
    found = unknown & opened
    for _ in range(4):
        beyond = _next(found)
        found |= unknown & (beyond | _next(particle & (beyond | _next(particle & beyond))))
    return found


def _new_owners(tokens: Tokens, name_word: Flags) -> Flags:
    """Return the words that lead to the new name of an account: the ``to`` of ``the name on my account to``."""
    inside = (tokens.code == LETTER) | (tokens.code > LINE)
    inside &= tokens.code < FIRST_SEPARATOR
    near = name_word.copy()
    for _ in range(_REACH):
        near |= _next(near) & inside
    account = near & np.isin(tokens.words.first, _ACCOUNTS)
    near = account.copy()
    for _ in range(_REACH):
        near |= _next(near) & inside
    return near & np.isin(tokens.words.first, _TO)


def whole_names(tokens: Tokens, signs: npt.NDArray[np.uint16], is_name: Flags) -> Flags:
    """Return which words belong to a name beside them: written alike, on the same line, and no ordinary words.

    Behind a name also over a particle; in front of it not at the start of a sentence, where any word has a capital.
    """
    word = tokens.code == LETTER
    shape = tokens.words.shape
    upper = word & (shape == CAPITALS)
    titled = word & ((shape == TITLE) | (shape == INNER))
    free, common = _unknown(tokens, signs), _has(signs, signs_of.COMMON)
    particle = word & _has(signs, signs_of.PARTICLE)
    colon = tokens.code == ord(":")
    inner = _next(word | colon)
    # The label of a form, such as Fecha de Ingreso, is no name.
    label = _before(colon)
    found = is_name | (titled & free & _alone(tokens, is_name, particle))
    for one_case in (upper, titled):
        known, open_word = is_name & one_case & ~common, one_case & free
        for _ in range(2):
            over = particle & (_next(known) | _next(particle & _next(known)))
            known |= open_word & ~label & (_next(known) | _next(over))
            known |= open_word & inner & (_before(known) | _before(particle & _before(known)))
        found |= known
    return found | (particle & _next(found) & _before(found)) | _linking(particle, found)


def _alone(tokens: Tokens, is_name: Flags, particle: Flags) -> Flags:
    """Tell which words begin a text or a line that is nothing else but them and a name."""
    border = (tokens.code >= FIRST_SEPARATOR) | (tokens.code == LINE)
    to_the_end = is_name & _before(border)
    for _ in range(3):
        to_the_end |= (is_name | particle) & _before(to_the_end)
    return _next(border) & _before(to_the_end)


def _linking(particle: Flags, is_name: Flags) -> Flags:
    """Tell which of two particles stand between parts of a name: ``van der``."""
    first = particle & _next(is_name) & _before(particle & _before(is_name))
    return first | (particle & _next(first))


def greeted(tokens: Tokens, signs: npt.NDArray[np.uint16]) -> Flags:
    """Return which capitalised words stand between a greeting or thanks and a mark, as in ``Gracias, Lena``.

    The same behind the word that tells of a signature: ``signed by Lena Olmi.``
    """
    word = tokens.code == LETTER
    greeting = word & np.isin(tokens.words.first, _GREETINGS)
    greeting |= _next(word & np.isin(tokens.words.first, _SIGNED)) & np.isin(tokens.words.first, _BY)
    greeting |= (tokens.code == ord(":")) & _next(word & np.isin(tokens.words.first, _CUSTOMERS))
    if not greeting.any():
        return greeting
    closing = _CLOSING[tokens.code]
    name = _unknown(tokens, signs) & ((tokens.words.shape == TITLE) | (tokens.words.shape == INNER))
    inside = name | (word & _has(signs, signs_of.PARTICLE))
    opened = _next(greeting) | _next(tokens.code == ord(","), greeting)
    found, ended = name & opened, name & _before(closing)
    for _ in range(3):
        found |= inside & _next(found)
        ended |= inside & _before(ended)
    return found & ended


def _unknown(tokens: Tokens, signs: npt.NDArray[np.uint16]) -> Flags:
    """Tell which words are neither ordinary words nor cues."""
    known = signs_of.COMMON | _STOPS | signs_of.TITLE_CUE | signs_of.INTRO_CUE
    return (tokens.code == LETTER) & (tokens.words.length > 2) & ~_has(signs, known)


def towns_by_rule(tokens: Tokens, is_address: Flags) -> Flags:
    """Return which capitalised words stand right behind the postal code of an address, two at most."""
    number = tokens.code == DIGIT
    reached = is_address.copy()
    for _ in range(_REACH + 1):
        reached |= _next(reached) & (tokens.code != LETTER) & (tokens.code < FIRST_SEPARATOR)
    code = reached & number & (tokens.words.length >= 3) & (tokens.words.length <= 6)
    capital = (tokens.code == LETTER) & (tokens.words.shape == TITLE)
    letters = (tokens.code == LETTER) & (tokens.words.shape == CAPITALS) & (tokens.words.length == 2)
    return capital & (_next(code) | _next(letters, code))


def degrees(tokens: Tokens, signs: npt.NDArray[np.uint16], is_name: Flags) -> Flags:
    """Return which tokens are what follows a name and belongs to it: ``MD``, ``Jr``."""
    return _has(signs, signs_of.DEGREE) & (tokens.words.shape != PLAIN) & _next(is_name)


def no_names_by_rule(tokens: Tokens, signs: npt.NDArray[np.uint16], is_name: Flags) -> Flags:
    """Return which tokens, taken for names, are none.

    Those are products, weekdays and months that stand alone, without a title or a greeting; words in lower case that
    stand alone; eponyms of diseases and theorems; initials without a name; parts of host names; what is called with an
    at sign and is no known name (``@Override``).
    """
    is_word = tokens.code == LETTER
    other = is_name & is_word & _has(signs, signs_of.NOT_A_PERSON)
    if other.any():
        kept = is_name & is_word & ~other
        cue = _has(signs, signs_of.TITLE_CUE | signs_of.INTRO_CUE)
        other &= ~(_next(kept) | _before(kept) | _next(cue) | _next(_next(cue)))
    plain = is_word & (tokens.words.shape == PLAIN)
    alone = _plain_words(signs, plain & is_name, is_name)
    eponym = _eponyms(tokens, signs, is_name) | _of_science(tokens, signs, is_name)
    none = eponym | (plain & _in_host_name(tokens)) | _lone_initials(tokens, signs, is_name) | _called(tokens, signs)
    return other | alone | (is_name & none)


def _plain_words(signs: npt.NDArray[np.uint16], plain: Flags, is_name: Flags) -> Flags:
    """Tell which names in lower case are also words and stand alone, without a cue: ``sample``."""
    if not plain.any():
        return plain
    cue = _has(signs, signs_of.TITLE_CUE | signs_of.INTRO_CUE)
    beside = _next(is_name) | _before(is_name) | _next(cue) | _next(_next(cue))
    return plain & _has(signs, signs_of.COMMON) & ~beside


def _eponyms(tokens: Tokens, signs: npt.NDArray[np.uint16], is_name: Flags) -> Flags:
    """Tell which tokens are names of diseases, with what stands before them: ``Gilles de la Tourette``."""
    chain = (tokens.code == LETTER) & _has(signs, signs_of.EPONYM_NAME) & (tokens.words.shape == TITLE)
    if not chain.any():
        return chain
    title = _has(signs, signs_of.TITLE_CUE)
    chain &= ~(_next(title) | _next(tokens.code == _DOT, title))
    linked = is_name | _has(signs, signs_of.PARTICLE)
    for _ in range(4):
        chain |= _before(chain) & linked
    return chain


def _of_science(tokens: Tokens, signs: npt.NDArray[np.uint16], is_name: Flags) -> Flags:
    """Tell which names stand in that of a theorem or a law: ``teorema di Olmi``, ``the Olmi transform``.

    One word or two with a hyphen. A given name that owns one ("Lena's theorem") may be a person's who writes.
    """
    word = tokens.code == LETTER
    theorem = word & np.isin(tokens.words.first, _THEOREMS)
    law = word & np.isin(tokens.words.first, _LAWS)
    if not (theorem.any() or law.any()):
        return theorem
    hyphen = tokens.code == _HYPHEN
    name = is_name & word & (tokens.words.shape == TITLE)
    name &= ~(_next(_has(signs, signs_of.TITLE_CUE)) | _next(is_name & word) | _before(is_name & word))
    particle = word & (_has(signs, signs_of.PARTICLE) | np.isin(tokens.words.first, _OF))
    begun = _next(particle) & _next(_next(theorem | law)) | _next(word & np.isin(tokens.words.first, _POLISH_LAWS))
    found = name & (begun | _next(particle, law))
    found |= name & _next(hyphen, found)
    ended = _before(theorem) | (~_has(signs, signs_of.GIVEN) & _before(_before(_before(theorem) & _is_s(tokens))))
    closing = name & ended
    return found | closing | (name & _before(hyphen & _before(closing)))


def _is_s(tokens: Tokens) -> Flags:
    """Tell which words are an s, that of a possessive where an apostrophe stands before it."""
    return (tokens.code == LETTER) & (tokens.words.length == 1) & (tokens.words.first == ord("s"))


def _lone_initials(tokens: Tokens, signs: npt.NDArray[np.uint16], is_name: Flags) -> Flags:
    """Tell which single capitals stand without a name or a cue beside them: ``rev B``."""
    initial = (tokens.code == LETTER) & (tokens.words.shape == INITIAL) & is_name
    if not initial.any():
        return initial
    named = is_name & (tokens.code == LETTER) & ~initial
    dot = tokens.code == _DOT
    cue = _has(signs, signs_of.TITLE_CUE | signs_of.INTRO_CUE)
    beside = named.copy()
    for _ in range(3):
        through = beside & (initial | dot | named)
        beside |= _next(through) | _before(through)
    return initial & ~(beside | _next(named) | _before(named) | _next(cue) | _next(dot, cue) | _next(_next(cue)))


def _called(tokens: Tokens, signs: npt.NDArray[np.uint16]) -> Flags:
    """Tell which words right behind an at sign are in no list of names: marks in code, packages, channels."""
    at_sign = (tokens.code == ord("@")) & _next_is_glued(tokens)
    return _next(at_sign) & ~_has(signs, signs_of.GIVEN | signs_of.FAMILY)


def _in_host_name(tokens: Tokens) -> Flags:
    """Tell which words stand right beside a dot with another word right beyond it."""
    glued = _next_is_glued(tokens)
    dot, word = tokens.code == _DOT, tokens.code == LETTER
    dotted = dot & glued & _next(glued) & _next(word) & _before(word)
    return _next(dotted) | _before(dotted)


def _next_is_glued(tokens: Tokens) -> Flags:
    glued = np.zeros(tokens.start.size, bool)
    glued[:-1] = tokens.end[:-1] == tokens.start[1:]
    return glued


_HYPHEN = ord("-")


def _short_words(text: str) -> npt.NDArray[np.uint64]:
    return np.array([int.from_bytes(word.encode()[:8], "little") for word in text.split()], np.uint64)


_LINKS = _short_words("is ist es est é è to")
_OWNED = _short_words(
    "my our your his her their s full first last mein meine unser dein sein ihr mi su mon son notre votre meu seu mio "
    "suo mijn uw zijn haar moje"
)
_GREETINGS = _short_words(
    "hello hi dear hey thanks you morning hallo danke tag morgen lieber liebe hola gracias estimada estimado bonjour "
    "merci cher chère olá oi obrigado obrigada caro cara ciao salve grazie gentile buongior hoi dank beste geachte "
    "cześć witaj dobry dziękuję"
)
_SIGNED = _short_words(
    "signed unterschrieben unterzeichnet gezeichnet firmado signé signée assinado firmato getekend ondertekend "
    "podpisano"
)
_CUSTOMERS = _short_words("customer client kunde kundin cliente klient klientka klant")
# Letters beyond ASCII stay capitals in what is known of a word.
_FORM_LABELS = _short_words(
    "surname forename vorname nachname familienname apellido apellidos prénom prÉnom prenom cognome sobrenome apelido "
    "voornaam achternaam nazwisko"
)
_WHOLE = _short_words("full first last family given volledige")
_THEOREMS = _short_words(
    "theorem theorems lemma conjecture transform polynomial inequality postulate paradox teorema teoremas transformada "
    "trasformata théorème satz stelling twierdzenie lemat"
)
_LAWS = _short_words("law laws ley loi legge lei wet gesetz distribución distribution distribuição distribuzione")
_POLISH_LAWS = _short_words("twierdzenie prawo lemat")
_OF = _short_words("of von")
_BY = _short_words("by von por par da door przez")
_CLOSING = np.zeros(256, bool)
_CLOSING[[*map(ord, ".,!?:"), LINE]] = True
_CLOSING[FIRST_SEPARATOR:] = True
_ACCOUNTS = _short_words("account konta konto cuenta compte conta rekening profile profil")
_TO = _short_words("to auf a en para in na")
_REACH = 4
_PRONOUNS = _short_words("się sie me mi ik io je yo")
_STOPS = signs_of.NOT_A_PERSON | signs_of.COMPANY_CUE | signs_of.EPONYM_CUE | signs_of.STREET


def _has(signs: npt.NDArray[np.uint16], bits: int) -> Flags:
    return (signs & np.uint16(bits)) != 0


def _next(flags: Flags, earlier: Flags | None = None) -> Flags:
    """Tell which tokens follow one that is flagged (and that follows an ``earlier`` one)."""
    shifted = np.zeros_like(flags)
    shifted[1:] = flags[:-1]
    if earlier is not None:
        shifted[2:] &= earlier[:-2]
        shifted[:2] = False
    return shifted


def _before(flags: Flags) -> Flags:
    shifted = np.zeros_like(flags)
    shifted[:-1] = flags[1:]
    return shifted
