"""Names of accounts: handles, names after their label, home directories."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipelines.privacy.placeholders import ALGORITHM, is_code_read, is_placeholder
from pipelines.privacy.prefilter import USERS
from pipelines.privacy.scan import USERNAME, Scan, Span, words_of
from pipelines.privacy.url_credentials import SERVICE_ACCOUNTS

_SYSTEM_ACCOUNTS = """
user users username user1 userid user_name usr me myself you your yourname your_name your_username yourusername myuser
myname name someone somebody anyone anybody everyone everybody nobody all here channel team group author owner member
members person people public default shared guest guests anonymous anon none null undefined unknown true false string
test tests testuser test_user demo sample example foo bar baz admin administrator root sysadmin superuser system
daemon bin sys nobody operator support help info contact sales noreply ubuntu debian fedora centos alpine arch kali pi
vagrant ec2-user ec2_user core cloud-user azureuser opc docker container runner runneradmin node deno python jovyan
jenkins travis circleci gitlab github gitlab-runner buildkite actions codespace vscode gitpod coder sandbox workspace
www www-data nginx apache httpd http mail ftp git svn hg postgres mysql redis mongo mongodb oracle hadoop hdfs spark
airflow kafka zookeeper elasticsearch tomcat jboss app apps application service services backend frontend web deploy
deployer dev developer build builder ci worker linuxbrew homebrew steam deck model assistant bot agent human client
customer student teacher dba sa postgresuser dbuser db_user profile profiles settings login logout signin signup
register new edit list search current self home about index
"""
SYSTEM_ACCOUNTS = frozenset(_SYSTEM_ACCOUNTS.split()) | SERVICE_ACCOUNTS
"""Names of accounts that stand for no person."""

_AT_WORDS = """
njit jit vectorize numba columnname column_name tablename table_name sql query count value values index result media
import charset font-face keyframes supports page layer container namespace include mixin extend apply tailwind use
forward function return if else for each while foreach endforeach endif section yield extends csrf method auth param
params returns return throws see since version author title notice dev custom var global throws exception precondition
since version deprecated serial serializable parcelize composable entity link code brief note todo override test
before after beforeeach aftereach beforeall bean autowired component service repository controller entity table column
id data getter setter builder property staticmethod classmethod abstractmethod dataclass pytest app router api
decorator wraps lru_cache cached cache contextmanager task shared_task click hydra torch jit interface implementation
end protocol optional required synthesize dynamic selector available objc escaping autoclosure main discardableresult
published state binding environment observedobject stateobject viewbuilder type types context graph base vocab echo
off array args psboundparameters spec moduledoc doc impl behaviour callback ts-ignore ts-expect-error ts-nocheck flow
jsx license preserve template internal private protected public readonly example default typedef callback enum
namespace module exports summary description operationid here channel everyone all team mention latest next beta alpha
canary rc
"""
AT_WORDS = frozenset(_AT_WORDS.split())
"""What follows a sign at in code, style sheets, documentation comments and package managers."""

_FIRST_OF_SCRIPTS = "\u0400"
_HANDLE = re.compile(
    r"(?<![^\s(\[{,;:!?>*_\"'“‘«/.，。：（—–-])(?<!://)@(?P<name>[A-Za-z_][A-Za-z0-9_]{2,29})(?P<rest>\.[A-Za-z0-9_]{2,29})?"
)
_CODE_AFTER = re.compile(r"\s{0,2}(?:[=({\[\\/@:]|\.[A-Za-z_]|->|\+=|<-)")
_CODE_LINE = re.compile(
    r"[;{}]\s*$|^\s*(?:def |class |select |set |declare |print |exec |insert |update |var |let |const |import |from "
    r"|public |private |return |if |for )|(?:=|\)|\]) ?@|[=<>]{2}|\(\)"
)
_SOCIAL = re.compile(
    r"\b(?:twitter|x\.com|insta(?:gram)?|ig|tiktok|telegram|snap(?:chat)?|threads|mastodon|bluesky|discord|github"
    r"|gitlab|handle|follow(?:ing)?|tweet(?:s|ed)?"
    r"|dm|username|user name|my (?:user|account)"
    r"|perfil|profile?|profilo|profiel|pseudo|nick(?:name)?|reddit|linkedin|youtube|twitch|skype|wechat|line id|signal"
    r"|replied as|posted (?:by|as)"
    r"|via|credit to|cc|tag(?:ged)?|mention(?:ed)?|профил\w|ник|логин)\b[^\n]{0,24}$"
    r"|(?:账号|帳號|アカウント|حساب\w?|यूज\u093c?र\S{0,4}|प्रोफ\S{0,6})[^\n]{0,12}$"
)
_WORD = r"[^\W\u0600-\u0fff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
_NAME = rf"[A-Za-z0-9À-ɏ](?:{_WORD}|[.+-]){{1,38}}{_WORD}"
_OWNER = r"(?:my|mi|tu|su|meu|teu|seu|mio|tuo|suo|mon|ton|son|votre|mein|dein|ihr|mijn|jouw|uw|mój|twój|мой|твой|ваш)"
_SIDES = "user|usuari[oa]|usu[aá]ri[oa]|utilizador|utilisateur|utente|(?:be)?nutzer|gebruiker|użytkownik|пользователь"
_LABEL = re.compile(
    r"\b(?P<long>user[ _-]?names?|log[ _-]?in[ _-]?(?:names?|as|id)|user[ _-]?ids?|screen[ _-]?names?"
    r"|nick[ _-]?names?|handle|account[ _-]?name"
    r"|(?:be)?nutzer(?:name|kennung)|anmeldename|inlognaam|pseudo|nombre de usuario"
    r"|nom d'utilisateur|identifiant|nome (?:de|do) (?:usu[aá]rio|utilizador)"
    r"|nome utente|gebruikersnaam|nazwa użytkownika|ник(?:нейм)?(?:ом|а)?|логин(?:ом|а)?|юзернейм"
    r"|gamertag|(?:twitter|instagram|insta|telegram|discord|skype|tiktok|snapchat|reddit|github|twitch|wechat"
    r"|ig)(?: (?:handle|name|id|account|user|username))?)"
    r"(?![^\W_])|(?P<short>\b(?:user|usr|uid|login|usuario|utilisateur|benutzer|logname|account)(?=\s?=))"
    rf"|(?P<own>\b{_OWNER} (?:{_SIDES}|login|nick|account|konto|profile?|perfil|profilo|profiel|профиль|аккаунт))"
    r"(?![^\W_])"
    rf"|(?P<side>\b(?:{_SIDES})(?![^\W_])|用户|用戶|사용자|المستخدم)(?=[\"'`*]{{0,3}} ?[:：])"
    r"|(?P<pair>\b(?:login|nick))(?=[\"'`*]{0,3} ?[:：])"
    r"|(?P<foreign>用户(?:名|id)|用戶名|登录名|昵称|[账帐]号|帳號|ユーザー?(?:名|id)|ログインid|アカウント名?|ニックネーム"
    r"|사용자 ?이름|아이디|닉네임"
    r"|اسم (?:ال)?مستخدم\w?|يوزر|имя пользователя|उपयोगकर्ता नाम|यू(?:ज\u093c?|\u095b)र ?(?:नेम|आईडी|नाम)|लॉगिन)"
)
_SEPARATOR = re.compile(
    r"[\"'`*_)\]]{0,3}\s{0,3}(?P<mark>[:：=]>?|\b(?:is|was|ist|es|est|è|é|jest|to|as|это)\b"
    r"|[—-](?=\s)|是|为|為|は|는|은|هو|है)?\s{0,3}(?P<quote>[\"'`“«@]{0,2})"
)
_VALUE = re.compile(_NAME)
_CHOSEN = re.compile(r"(?=.*[^\W\d_]{3})(?:.*_.*|.*[^\W_][0-9]{2,}|.*[^\W\d_]{2}\.[^\W\d_]{2}.*)")
_FILE = re.compile(
    r".*\.(?:com|net|org|io|dev|js|ts|json|ya?ml|txt|csv|xml|html?|css|jpe?g|png|log|conf|ini|java|py|rb|go|rs|md)",
)
_PASSWORD_NEXT = re.compile(
    r"[\s,;/|]{1,4}(?:(?:and|y|et|und|en|e|i|и|my|mi|o|a|the)\s){0,2}"
    r"(?:pass|pwd|contrase|clave|senha|palavra-passe|mot de passe|wachtwoord|has[lł]o|kennwort|парол|密[码碼])"
)
_FLAG = re.compile(r"(?:^|\s)--user(?:name)?[ =](?P<value>[\w.+-]{3,40})")
_HOME = re.compile(
    r"(?:(?<![\w.])/(?:home|Users|mnt/c/Users|c/Users)/|\b[A-Za-z]:(?:\\{1,4}|/)(?:[Uu]sers"
    r"|Documents and Settings)(?:\\{1,4}|/))"
    r"(?P<name>[^\W\d_][\w.+-]{0,38}[\w])(?![\w@%{}$<>])"
)


def user_names(scan: Scan) -> Iterator[Span]:
    """Find handles, names after a word for them, and the owner in a home directory. Canonical: lower case, no ``@``."""
    yield from labelled_names(scan)
    if "@" in scan.text:
        yield from handles(scan)


def handles(scan: Scan) -> Iterator[Span]:
    """Find ``@name`` in prose; decorators, annotations, package scopes, style rules and variables of code stay."""
    text = scan.text
    for found in _HANDLE.finditer(text):
        start, end = found.start(), found.end("name")
        name = found["name"].lower()
        if start in scan.url_ats or name in AT_WORDS or name in SYSTEM_ACCOUNTS or text[end : end + 1] in ("-", "@"):
            continue
        line_start = text.rfind("\n", max(0, start - 300), start) + 1
        line_end = text.find("\n", end, end + 300)
        before = scan.lowered[max(line_start, start - 60) : start]
        is_told = _SOCIAL.search(before) is not None
        if found["rest"] and is_told:
            end = found.end()
        elif found["rest"] or _CODE_AFTER.match(text, end):
            continue
        line = text[line_start : line_end if line_end >= 0 else end + 300]
        if not is_told and (_is_code(line) or _is_annotation(text, line_start, start, end)):
            continue
        yield Span(start, end, USERNAME, scan.lowered[start + 1 : end])


def _is_code(line: str) -> bool:
    return _CODE_LINE.search(line.lower()) is not None


def _is_annotation(text: str, line_start: int, start: int, end: int) -> bool:
    """Tell whether ``@Name`` stands as annotations do: in brackets, with a capital, alone on its line, after a star."""
    lead = text[line_start:start].strip()
    if text[start - 1 : start] in ("(", "[", "{") or (lead and not lead.strip("*/#")):
        return True
    if text[start + 1].isupper() and not any(c.isdigit() or c == "_" for c in text[start + 1 : end]):
        return text[end : end + 1] not in tuple(",.!?:")
    if lead:
        return False
    stop = text.find("\n", end)
    return text[line_start:start] != "" or (stop >= 0 and not text[end:stop].strip())


def labelled_names(scan: Scan) -> Iterator[Span]:
    """Find account names after a label. A plain word needs quotes or the end of its line; prose needs a digit in it."""
    if scan.label and _is_name_label(scan.label) and _VALUE.fullmatch(scan.text) and _is_name(scan.text):
        yield Span(0, len(scan.text), USERNAME, scan.text.lower())
    for label in _labels(scan):
        separator = _SEPARATOR.match(scan.text, label.end())
        value = _VALUE.match(scan.text, separator.end()) if separator else None
        if separator and value and _is_name(value[0].rstrip(".-+")) and _is_proved(scan, label, separator, value):
            end = value.start() + len(value[0].rstrip(".-+"))
            yield Span(value.start(), end, USERNAME, scan.lowered[value.start() : end])
    for flag in _FLAG.finditer(scan.text):
        if _is_name(flag["value"]):
            yield Span(*flag.span("value"), USERNAME, flag["value"].lower())


def _labels(scan: Scan) -> Iterator[re.Match[str]]:
    for first, last in scan.cue_windows(USERS):
        yield from _LABEL.finditer(scan.lowered, first, last)


def home_directories(scan: Scan) -> Iterator[Span]:
    r"""Find the owner's name in ``/home/NAME``, ``/Users/NAME`` and ``C:\\Users\\NAME``. Canonical: lower case."""
    for found in _HOME.finditer(scan.text):
        name = found["name"].lower()
        if name not in SYSTEM_ACCOUNTS and not is_placeholder(name):
            yield Span(*found.span("name"), USERNAME, name)


def _is_name_label(label: str) -> bool:
    words = " ".join(words_of(label))
    return words in _NAME_LABELS or words.endswith((" username", " user name", " handle"))


_OBJECT_NAMES = """
user request req self this process os config settings data body params session props ctx event account form row obj
"""
_OBJECTS = frozenset(_OBJECT_NAMES.split())
_NAME_LABELS = frozenset(
    {
        "username",
        "user name",
        "login",
        "login name",
        "handle",
        "screen name",
        "nickname",
        "nick",
        "user",
        "user id",
        "userid",
        "benutzername",
        "usuario",
        "usuário",
        "utilizador",
        "utilisateur",
        "benutzer",
        "gebruiker",
        "utente",
        "логин",
    }
)


def _is_name(value: str) -> bool:
    lowered = value.lower()
    return (
        3 <= len(value) <= 40
        and lowered not in SYSTEM_ACCOUNTS
        and not is_placeholder(value)
        and not value.replace(".", "").isdigit()
    )


def _is_proved(scan: Scan, label: re.Match[str], separator: re.Match[str], value: re.Match[str]) -> bool:
    """Tell whether what stands after a label is its value and not the next word of a sentence or an expression."""
    text, end = scan.text, value.end()
    mark, quote = separator["mark"], separator["quote"]
    after = text[end : end + 1]
    if after in ("(", "[", "<") or (after == "." and text[end + 1 : end + 2].isalnum()):
        return False
    if label["own"] or label["side"] or label["pair"]:
        return _is_chosen(scan, label, separator, value)
    if mark in ("-", "—") and scan.lowered[label.start()] < _FIRST_OF_SCRIPTS:
        return False
    if not quote and is_code_read(value[0]) and (mark == "=" or after == "," or value[0].split(".")[0] in _OBJECTS):
        return False
    has_sign = any(c.isdigit() or c in "_." for c in value[0].rstrip("."))
    if quote.startswith("@"):
        return separator.start() < separator.start("quote")
    if mark is None:
        return has_sign and any(map(str.isdigit, value[0]))
    if mark not in (":", "：", "=", ":>", "=>"):
        return has_sign or bool(quote)
    if quote:
        return label["short"] is None or has_sign or after in ("'", '"')
    if label["short"]:
        tight = text[separator.end() - 1] == "="
        return tight and (has_sign or after in ("", ";", "&", "\n", " ")) and after not in (",", ")")
    return has_sign or after in ("", "\n", "\r", ",", ";", "&", "}", "|") or text[end : end + 2] in (". ", ".\n", ".")


def _is_chosen(scan: Scan, label: re.Match[str], separator: re.Match[str], value: re.Match[str]) -> bool:
    """Tell whether a value looks made for an account, where its label may also name the one who speaks.

    Transcripts begin their lines with the same words: there a password has to follow, or nothing else.
    """
    name, rest = value[0].rstrip(".-+"), scan.lowered[value.end() : value.end() + 40]
    if separator["mark"] in (":", "：", "=") and _PASSWORD_NEXT.match(rest):
        return True
    if separator["quote"].startswith("@"):
        return True
    if not _CHOSEN.fullmatch(name) or _FILE.fullmatch(name.lower()) or ALGORITHM.fullmatch(name):
        return False
    if separator["quote"] or not label["side"]:
        return separator["mark"] is not None
    line_start = scan.text.rfind("\n", 0, label.start()) + 1
    is_alone = rest[:1] in ("", "\n", "\r") and not name[-1].isdigit()
    return is_alone or scan.text[line_start : label.start()].strip(" \t*#>-") != ""
