"""A look at the bytes of a text that lets clean text go within microseconds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

AT = 1
NUMBERS = 2
ADDRESSES = 4
LABELS = 8
KEY_SHAPES = 16
ESCAPES = 32
DISGUISES = 64
PAIRS = 128
LETTERED = 256
SPELLED = 512
DOCUMENTS = 1024
ACCOUNTS = 2048
CLINICAL = 4096
DEVICES = 8192
BIRTHS = 16384
GEO = 32768
URLS = 65536
USERS = 131072
HOMES = 262144
COOKIES = 524288
SPOKEN = 1048576
LONG_WORDS = 2097152
"""What a text may hold: each flag asks for its detectors."""

MIN_DIGITS = 6
"""The fewest digits of a number that is taken for personal: a British national insurance number."""
KEY_RUN = 20
"""The shortest API key that is known by its shape alone: an AWS key id."""

_DIGITS = b"0123456789"
_MARKS = b"@:=.\\-%"
_LEADS_OF_DISGUISES = bytes((0xC2, 0xC4, 0xCC, 0xCD, *range(0xD8, 0xE4), 0xEA, 0xEF, 0xF0, 0xF3))
_LEADS_OF_SCRIPTS = bytes((*range(0xD0, 0xE2), *range(0xE3, 0xF0)))
"""First bytes of Cyrillic, Arabic, Devanagari, Chinese, Japanese and Korean, where words are not parted as in Latin."""
_LEADS = bytes(sorted({*_LEADS_OF_DISGUISES, *_LEADS_OF_SCRIPTS}))
_BORING = bytes(c for c in range(256) if c not in _DIGITS + _MARKS + _LEADS)
_NOT_DIGITS = bytes(c for c in range(256) if c not in _DIGITS)
_NOT_LEADS = bytes(c for c in range(256) if c not in _LEADS_OF_DISGUISES)
_NOT_SCRIPTS = bytes(c for c in range(256) if c not in _LEADS_OF_SCRIPTS)
_RUNS = bytes(97 if chr(c).isascii() and (chr(c).isalnum() or c in b"_-") else 32 for c in range(256))
_WORD_BYTES = bytes((c | 32 if 65 <= c <= 90 else c) if c > 127 or chr(c).isalpha() else 32 for c in range(256))
_SHAPE_BYTES = bytes(48 if c in _DIGITS else 97 if c < 128 and chr(c).isalpha() else 32 for c in range(256))
_JOINTS = b" ./()-\xc2\xa0"
_LONG_NUMBER = b"0" * 7
_FIVE_DIGITS = b"0" * 5
"""What ids with letters hold on end, but for Indian tax numbers, which need their name, and Italian tax codes."""
_WIDE_COLON = "：".encode()
_LONG_RUN = b"a" * KEY_RUN
_MIDDLE_RUN = b"a" * 16
_DECIMAL_BYTES = bytes(48 if c in _DIGITS else 46 if c == 46 else 32 for c in range(256))
_DECIMALS = b"0.000"
NATIVE_PASSWORDS = re.compile(
    r"парол(?:ем|[ьяюе])|密码|密碼|口令|パスワード|暗証番号|비밀번호|암호|كلمة (?:ال)?(?:مرور|سر)(?:ي|ك)?|पासवर्ड"
)
"""Words for passwords in scripts where other words follow without a mark or a space."""
LABEL_STEMS = re.compile(
    r"pass|pwd|secret|token|key|auth|cred|bearer|contrase|senha|wachtwoord|hasło|haslo|kennwort"
    rf"|{NATIVE_PASSWORDS.pattern}"
)
"""In lower-case text: what names of secrets hold."""
_LABEL = re.compile(
    rf"(?:{LABEL_STEMS.pattern})[\w.-]{{0,40}}[\"'`*)\]\\]{{0,4}}\s{{0,4}}"
    r"(?:[:=>：\"'`“‘„«]|(?:is|was|ist|es|est|lautet|[eèé]|(?<=has[lł]o )to)\b|(?<=bearer)\s|(?<=bearer\s)\S)"
    rf"|{NATIVE_PASSWORDS.pattern}"
)
_ASCII_STEMS = tuple(stem for stem in LABEL_STEMS.pattern.split("|") if stem.isascii())
_SPELLED_END = re.compile(
    r"(?:[\[({<]\s?|\s)(?:dot|punto|punkt|point|ponto|punt|kropka|точка|\.)(?:\s?[\])}>]|\s)|[\[({<]\s?(?:at|ät|@"
    r"|arroba)\s?[\])}>]"
    r"|\bat (?:g(?:oogle)?mail|yahoo|hotmail|outlook|icloud|proton|gmx|web|aol)\."
)

_CUE_WORDS = {
    DOCUMENTS: """
passport reisepass passnr nr pasaporte passeport passaporte passaporto paspoort paszport paszportu driver drivers
driving dl führerschein führerscheinnummer fuehrerschein conducir conductor conduire condução conducao motorista
habilitação cnh patente rijbewijs rijbewijsnummer jazdy plate plates kennzeichen nummernschild matrícula matricula
placa immatriculation plaque targa kenteken nummerplaat pan rejestracyjny rejestracyjna registration fiscale vin
chassis fahrgestellnummer fahrzeugidentifizierungsnummer bastidor châssis telaio ssn social national identity emirates
nhs medicare medicaid tax taxpayer citizen citizenship voter aadhaar nric tin itin nino steuer steuerid steuernummer
steueridentifikationsnummer sozialversicherungsnummer rentenversicherungsnummer krankenversichertennummer
versichertennummer personalausweis personalausweisnummer ausweisnummer ausweis dni nie nif cédula cedula identidad
seguridad nass cipa sécurité securite identité identite identità identita codice tessera cidadão cidadao identidade
contribuinte cpf rg burgerservicenummer bsn rijksregisternummer identiteitskaart pesel nip dowód dowodu osobisty
personnummer fødselsnummer cpr hetu licenseplate numberplate driverslicense driverlicense drivinglicence
drivinglicense reg autokennzeichen kfzkennzeichen pkwkennzeichen autonummer nummerntafel kontrollschild matrículas
matriculas placas chapa plaques immatriculé immatriculée immatriculee targato targata targhe kentekenplaat nummerbord
rejestracyjnego rejestracyjne rejestracyjnej rejestracja nationalid taxid socialsecuritynumber socialsecurity
""",
    ACCOUNTS: """
account acct konto kontonummer kontonr bankverbindung kto compte rib cuenta clabe cbu ccc conto conta rekening
rekeningnummer konta rachunku rachunek nib nrb routing aba rtn transit sort blz bankleitzahl bsb ifsc bic swift
agência agencia cvv cvc csc cav verification security kartenprüfnummer kartenpruefnummer prüfziffer pruefziffer
sicherheitscode seguridad segurança seguranca sécurité securite cryptogramme sicurezza beveiligingscode bezpieczeństwa
bankaccount bankaccountnumber sortcode swiftcode biccode securitycode routingnumber
""",
    CLINICAL: """
mrn medical med health patient patients chart hospital accession policy member subscriber beneficiary insurance claim
patientennummer patientenid patienten patientennr fallnummer fallnr aufnahmenummer aktennummer aktenzeichen akten nhc
historia episodio asegurado dossier ipp cartella paziente prontuário prontuario processo utente patiëntnummer
patientnummer patiënt dossiernummer polisnummer polis kartoteki pacjenta choroby npi dea provider license licence
certificate lanr arztnummer col nºcol colegiado colegiada rpps bignummer crm zawodu pwz medicalrecord
medicalrecordnumber healthplan device serial implant pacemaker pump udi seriennummer gerätenummer geraetenummer
gerätenr serie série seriale serienummer seryjny
""",
    DEVICES: """
imei imeisv meid esn iccid sim simkartennummer imsi idfa idfv gaid aaid adid ad advertising advertiserid android
device udid hardware hwid machine
""",
    BIRTHS: """
dob birth birthdate birthday born geb geburtsdatum geburtstag geboren nac nacimiento nacido nacida nació nacio
cumpleaños naissance né née nascimento nascido nascida nasc nascita nato nata compleanno geboortedatum verjaardag
urodzenia ur urodzony urodzona urodzone urodziłam urodziłem urodziłaś urodziłeś urodził urodziła urodziny bday welt nací
naci nacidos nacidas nacimos naciste naiss nés nées anniversaire nasci nasceu nascer nascemos aniversário aniversario
nate nacque nascita geboortedag jarig dateofbirth fechanacimiento datenaissance
""",
    USERS: """
username usernames user login loginname screen screenname nick nickname handle gamertag benutzername benutzerkennung
benutzer anmeldename usuario usuário utilisateur identifiant utente gebruikersnaam użytkownika usr uid logname
nutzername nutzer inlognaam gebruiker utilizador użytkownik pseudo perfil profil profilo profiel
twitter instagram insta telegram discord skype tiktok snapchat reddit github twitch wechat
""",
    SPELLED: """
dot punkt punto ponto punt kropka arroba chiocciola arobase arobas klammeraffe apenstaartje małpa dash hyphen gmail
yahoo hotmail outlook icloud proton gmx aol googlemail
""",
    SPOKEN: """
phone phones telephone mobile cell call number dial ring reach text contact telefon handy nummer teléfono telefono
móvil número numero téléphone numéro telefone telemóvel celular telefoon mobiel numer zadzwoń ruf llama appelle
appelez chiama ligue bel
""",
    HOMES: "home users",
    PAIRS: """
pwd pass password passwords passwd passwort passwörter passphrase passcode passe pswd psw kennwort contraseña contrasena
senha wachtwoord hasło haslo
""",
    COOKIES: """
cookie phpsessid jsessionid sessionid sid session connect remember sapisid hsid ssid laravel xsrf csrf host secure li
auth
""",
}
"""Whole words that ask for detectors, lower-case, with those of compound labels (``dateofbirth``)."""
_FOREIGN_WORDS = {
    DOCUMENTS: """
паспорт 护照 護照 旅券 パスポート 여권 جواز पासपोर्ट водительск 驾驶证 驾照 駕照
運転免許 운전면허 رخصة ड्राइविंग госномер номерн 车牌 車牌 ナンバープレート
차량번호 ナンバー 号牌 машины автомоб автономер لوحة سيار प्लेट
身份证 身分證 マイナンバー 個人番号 주민등록 هوية инн снилс आधार पैन
""",
    ACCOUNTS: "银行账 銀行帳 账号 口座番号 계좌번호 الحساب счет счёт खाता 安全码 セキュリティコード",
    CLINICAL: """
病历 病歷 住院号 カルテ番号 患者番号 환자번호 المريض номер истори मरीज
序列号 製造番号 シリアル番号 серийн 일련번호 التسلسلي
""",
    DEVICES: "手机串号 串号",
    BIRTHS: "рожд родил 出生 生日 生于 生於 生まれ 生年月日 誕生日 생년월일 생일 태어 ميلاد مواليد ولد जन्म पैदा",
    USERS: """
用户 用戶 账号 帳號 登录名 昵称 ユーザ アカウント ニックネーム ログイン 사용자 아이디 닉네임
المستخدم مستخدم حساب يوزر пользовател
логин ник юзер аккаунт профил उपयोगकर्ता यूज लॉगिन
""",
    PAIRS: "парол 密码 密碼 口令 パスワード 暗証番号 비밀번호 암호 المرور مرور السر पासवर्ड",
    SPELLED: "точка собака",
}
_FOREIGN_CUES: dict[str, int] = {}
for _flag, _words in _FOREIGN_WORDS.items():
    for _foreign in _words.split():
        _FOREIGN_CUES[_foreign] = _FOREIGN_CUES.get(_foreign, 0) | _flag
_FOREIGN = re.compile("|".join(sorted(_FOREIGN_CUES, key=len, reverse=True)))
_LEAST_DIGITS = {DOCUMENTS: 2, ACCOUNTS: 3, CLINICAL: 3, DEVICES: 8, BIRTHS: 3}
"""The fewest digits of a text in which the values of these can be."""
_WHOLE_NAMES = frozenset(
    b"username usernames loginname screenname nickname nick handle gamertag benutzername benutzerkennung anmeldename"
    b" usuario usu\xc3\xa1rio utilisateur identifiant utente gebruikersnaam u\xc5\xbcytkownika name names id ids as"
    b" login utilizador nutzername nutzer benutzer inlognaam gebruiker u\xc5\xbcytkownik pseudo perfil profil profilo"
    b" profiel"
    b" twitter instagram insta telegram discord skype tiktok snapchat reddit github twitch wechat".split()
)
"""Without a sign of equality a name follows one of these only."""
_USER_PAIR = re.compile(r"(?i:\buser)(?:[\"'`]{0,2} ?[:：]| is )")
_COPULAS = frozenset(b"is es est ist jest \xc3\xa8 \xc3\xa9".split())
_SUFFIXES = ("number", "no", "nr", "id", "code", "name")


def _cues() -> dict[bytes, int]:
    cues: dict[bytes, int] = {}
    for flag, words in _CUE_WORDS.items():
        for word in words.split():
            compounds = [word + suffix for suffix in _SUFFIXES] if flag in _LEAST_DIGITS and len(word) > 2 else []
            for cue in (word, *compounds):
                cues[cue.encode()] = cues.get(cue.encode(), 0) | flag
    return cues


_CUES = _cues()
_CUE_SET = frozenset(_CUES)
_CUES_OF_TEXT = {word.decode(): flags for word, flags in _CUES.items()}
_WORD = re.compile(r"[^\W\d_]+")
_LETTERS_ALONE = "".join(chr(c) if chr(c).isalpha() else " " for c in range(128))
_DIGIT = re.compile(r"[0-9]")
_WITHOUT_DIGITS = frozenset({"bic", "swift", "swiftcode", "biccode"})
_WITH_DIGITS = DOCUMENTS | ACCOUNTS | CLINICAL | DEVICES | BIRTHS
_VALUE_REACH = 72
_SHORT_REACH = 12
_REACH = 32
"""How far a label reaches from the word in it that asked for its detector."""
_LONG_PHONE = 7
_IP_DIGITS = 4
_IP_DOTS = 3
_ALL_LABELS = DOCUMENTS | ACCOUNTS | CLINICAL | DEVICES | BIRTHS | USERS
_DIGITS_SPOKEN = """
zero oh one two three four five six seven eight nine null eins zwei zwo drei vier fünf sechs sieben acht neun cero uno
dos tres cuatro cinco seis siete ocho nueve zéro un deux trois quatre cinq sept huit neuf um dois três quatro sete
oito nove due tre quattro cinque sei sette otto nul een één twee vijf zes zeven negen jeden dwa trzy cztery pięć sześć
siedem osiem dziewięć
"""
_DIGIT_WORDS = frozenset(word.encode() for word in _DIGITS_SPOKEN.split())
_MIN_DIGIT_WORDS = 5
"""Spoken digits of the shortest phone number, where two may be doubled."""


def signals(text: str) -> int:
    """Return the flags of what ``text`` may hold; 0 means that no detector can find anything.

    With ``DISGUISES`` the other flags count only after the text has been folded. Dates and ages are not among them:
    only a clinical policy asks for those, in every text with a digit.
    """
    raw = text.encode("utf-8", "surrogatepass")
    kept = raw.translate(None, _BORING)
    flags = digits = 0
    if kept.strip(b"."):
        digits = len(kept.translate(None, _NOT_DIGITS))
        flags = _signals_of(raw, kept, digits)
        if len(raw) != len(text):
            flags |= _signals_of_scripts(text, raw, kept, digits)
    runs = raw.translate(_RUNS)
    if _MIDDLE_RUN in runs:
        flags |= (KEY_SHAPES if _LONG_RUN in runs else 0) | (LONG_WORDS | LETTERED if digits >= MIN_DIGITS else 0)
    words = raw.translate(_WORD_BYTES).split()
    if not _CUE_SET.isdisjoint(words):
        flags |= _signals_of_words(text, words, flags, digits)
    if b")" in raw and b"at)" in raw or b"]" in raw and b"at]" in raw:
        flags |= SPELLED
    if flags & PAIRS:
        if b"--" in raw or _has_label(text):
            flags |= LABELS
        flags &= ~PAIRS
    return flags


def _has_label(text: str) -> bool:
    lowered = text.lower()
    return (not text.isascii() or any(stem in lowered for stem in _ASCII_STEMS)) and _LABEL.search(lowered) is not None


@lru_cache(maxsize=4096)
def signals_of_label(words: tuple[str, ...]) -> int:
    """Return the flags that the words of a field's name ask for, whatever its value."""
    flags = _cue_flags(word.encode("utf-8", "surrogatepass") for word in words) & ~(SPELLED | SPOKEN)
    return flags | (_ALL_LABELS if not all(map(str.isascii, words)) else 0)


def cues_in(lowered: str) -> dict[int, list[tuple[int, int]]]:
    """Return by flag the stretches of a lower-case text around the words that ask for it, joined where they meet."""
    windows: dict[int, list[tuple[int, int]]] = {flag: [] for flag in _CUE_WORDS}
    hits = _CUES_OF_TEXT.keys() & _words_of(lowered)
    places = [(at, word, _CUES_OF_TEXT[word]) for at, word in _places(lowered, hits)]
    if not lowered.isascii():
        places += [(found.start(), found[0], _FOREIGN_CUES[found[0]]) for found in _FOREIGN.finditer(lowered)]
    for start, word, flags in sorted(places):
        end = start + len(word)
        if word not in _WITHOUT_DIGITS and not _DIGIT.search(lowered, end, end + _VALUE_REACH):
            flags &= ~_WITH_DIGITS | (BIRTHS if _DIGIT.search(lowered, max(0, start - _SHORT_REACH), start) else 0)
        for flag in _single(flags):
            found = windows[flag]
            if found and found[-1][1] >= start - _REACH:
                found[-1] = (found[-1][0], end + _REACH)
            else:
                found.append((max(0, start - _REACH), end + _REACH))
    return windows


@lru_cache(maxsize=4096)
def _single(flags: int) -> tuple[int, ...]:
    return tuple(flag for flag in _CUE_WORDS if flags & flag)


def _words_of(lowered: str) -> set[str]:
    if lowered.isascii():
        return set(lowered.translate(_LETTERS_ALONE).split())
    return set(_WORD.findall(lowered))


def _places(lowered: str, words: Iterable[str]) -> Iterator[tuple[int, str]]:
    for word in words:
        at = lowered.find(word)
        while at >= 0:
            yield at, word
            at = lowered.find(word, at + len(word))


def _cue_flags(words: Iterable[bytes]) -> int:
    flags = 0
    for word in _CUE_SET.intersection(words):
        flags |= _CUES[word]
    return flags


def _signals_of_words(text: str, words: list[bytes], flags: int, digits: int) -> int:
    """Return the flags of whole words, those left out whose values the text is too short of digits for."""
    found = _cue_flags(words)
    for flag, least in _LEAST_DIGITS.items():
        if digits < least and not (flag == ACCOUNTS and (b"bic" in words or b"swift" in words)):
            found &= ~flag
    if found & SPELLED and not (digits >= _LONG_PHONE or _SPELLED_END.search(text.lower())):
        found &= ~SPELLED
    if found & SPOKEN and sum(map(_DIGIT_WORDS.__contains__, words)) >= _MIN_DIGIT_WORDS:
        found |= SPELLED
    if digits and b"pan" in words:
        found |= LETTERED
    if found & HOMES and "/" not in text and "\\" not in text:
        found &= ~HOMES
    if found & USERS and "=" not in text and _WHOLE_NAMES.isdisjoint(words) and not _USER_PAIR.search(text):
        found &= ~USERS
    if not flags & (PAIRS | AT):
        found &= ~COOKIES
        if not digits and _COPULAS.isdisjoint(words):
            found &= ~USERS
    return found & ~SPOKEN


def _signals_of_scripts(text: str, raw: bytes, kept: bytes, digits: int) -> int:
    """Return the flags of text outside of ASCII: disguises, and cues in scripts that do not part words as Latin."""
    flags = 0
    if kept.translate(None, _NOT_LEADS):
        flags = DISGUISES | (PAIRS if _WIDE_COLON in raw else 0)
    if kept.translate(None, _NOT_SCRIPTS):
        found = _flags_of_scripts(text.lower())
        for flag, least in _LEAST_DIGITS.items():
            found &= ~flag if digits < least else -1
        flags |= found
    return flags


def _flags_of_scripts(lowered: str) -> int:
    flags = 0
    for found in _FOREIGN.finditer(lowered):
        flags |= _FOREIGN_CUES[found[0]]
    return flags


def _signals_of(raw: bytes, kept: bytes, digits: int) -> int:
    flags = 0
    if b"@" in kept or (b"%" in kept and b"%40" in raw):
        flags = AT
    if b"\\" in kept:
        flags |= ESCAPES
    if b"-----" in kept:
        flags |= KEY_SHAPES
    colons = kept.count(b":")
    if colons or b"=" in kept:
        flags |= PAIRS
        if colons and b"://" in raw:
            flags |= URLS
    return flags | _signals_of_digits(raw, kept, digits, colons) if digits else flags


def _signals_of_digits(raw: bytes, kept: bytes, digits: int, colons: int) -> int:
    flags = 0
    dots = kept.count(b".")
    if digits >= MIN_DIGITS:
        shape = raw.translate(_SHAPE_BYTES, _JOINTS)
        if _FIVE_DIGITS in shape:
            flags = LETTERED | (NUMBERS if _LONG_NUMBER in shape else 0)
        if (dots and _DECIMALS in raw.translate(_DECIMAL_BYTES)) or (b"\xc2" in kept and b"\xc2\xb0" in raw):
            flags |= GEO
    if b" is" in raw and (b"ey is" in raw or b"oken is" in raw or b"ecret is" in raw):
        flags |= PAIRS
    dotted = digits >= _IP_DIGITS and dots >= _IP_DOTS and raw.translate(_DECIMAL_BYTES).count(b"0.0") > 1
    if dotted or colons >= 5 or (colons >= 2 and b"::" in raw) or kept.count(b"-") >= 5:
        flags |= ADDRESSES
    return flags
