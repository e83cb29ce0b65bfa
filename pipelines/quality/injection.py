"""Attempts to take over a model: prompt injection (in any role, tool results above all) and jailbreaks.

Patterns need a verb, its object and what ties them to a model's instructions; a word such as "ignore", "reveal" or
"key" alone says nothing (llm-guard issue 263, openhuman issue 1940). An instruction inside a tool result is judged more
strictly than one of a user, who may give orders (llm-guard issue 179). The kinds of attacks follow OWASP's LLM01:2025
and Greshake and others (arXiv 2302.12173). A score flags; what to do with it is for the reader of the table.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from pipelines.quality.anchored import AnchoredPattern

OVERRIDE_CUES = (
    """
    ignore ignores ignoring disregard forget bypass override overrule discard neglect follow obey
    ignoriere ignorieren ignoriert vergiss missachte ignora ignorad ignorar olvida olvidad ignorez oublie oubliez
    dimentica dimenticate esqueça esquece esqueca negeer vergeet zignoruj ignoruj zapomnij
    игнорируй игнорируйте забудь забудьте 忽 无 忘 無 무시해 무시하고 무시하세요 잊어 잊고
    """,
    """
    instructions instruction prompt prompts directive directives directions guideline guidelines command commands
    programming rule rules message saw know knew learned told been read above before said prior previously
    anweisungen anweisung instruktionen regeln befehle vorgaben instrucciones reglas órdenes consignes règles istruzioni
    regole instruções regras instructies regels opdrachten instrukcje polecenia инструкции указания команды
    令 示 则 求 프롬프트 프롬프트를 지시를 지시는 지시사항을 명령을 명령은 ル プ
    """,
)
REVEAL_CUES = (
    """
    initial_prompt initial_instructions hidden_prompt hidden_instructions secret_prompt secret_instructions
    original_prompt original_instructions internal_prompt internal_instructions base_prompt base_instructions
    full_prompt full_instructions developer_prompt developer_instructions system_prompt system_instructions
    system_message full_system original_system internal_system initial_system hidden_system secret_system
    developer_system preprompt pre_prompt the_above text_above words_above everything_above content_above
    instructions_above prompt_above message_above messages_above written_above given_above all_above before_this
    """,
)
ROLE_CUES = ("system instructions instruction prompt directive admin developer override",)
DATA_CUES = (
    """
    each_response each_reply each_answer each_message each_sentence each_output every_response every_reply
    every_answer every_message every_sentence every_output your_response your_reply your_answer your_message
    your_sentence your_output all_responses all_replies all_answers future_responses ai llm llms chatgpt claude
    gemini copilot language_model language_models an_assistant a_bot the_user your_user the_human the_operator
    the_best the_top most_qualified the_ideal your_new your_real your_actual your_only must_now stop_here each_of
    every_of
    """,
)
PERSONA_CUES = (
    """
    dan jailbreak unrestricted uncensored unfiltered amoral jailbroken anything_now developer_mode dev_mode god_mode
    sudo_mode debug_mode evil_mode opposite_mode without_restrictions any_restrictions without_filters any_filters
    without_ethics any_ethics without_morals any_morals without_moral any_moral without_limits any_limits
    without_limitations any_limitations without_rules any_rules
    """,
)
NO_LIMITS_CUES = (
    """
    restriction restrictions filter filters filtering limitations censorship ethics morals moral ethical safety
    moderation openai refuse decline reject the_guidelines any_guidelines your_guidelines content_policy
    content_policies content_guidelines content_rules content_restrictions content_filters content_moderation
    einschränkungen restricciones filtros censure restrizioni restrições 限
    """,
    """
    without free bound no ignoring ignore bypass disable turn override disregard remove forget break violate never
    can't cannot not don't ohne sin sans senza sem 没 不 な
    """,
)
"""Words that have to be there for a pattern: one of each group."""

_WORDS = r"(?:[\w'-]+,? ){0,4}"
_OLD = r"(?:previous|prior|above|earlier|preceding|former|past|initial|original|existing|foregoing|system|developer)"
_RULES = r"(?:instructions?|prompts?|directives?|directions|guidelines?|commands?|programming|rules?|system message)"
_DROP = (
    r"(?:ignore|disregard|forget|bypass|override|overrule|discard|neglect|do not (?:follow|obey)|don't (?:follow|obey))"
)

_DROPS = "ignor|disregard|forget|bypass|overr|discard|neglect|do not|don't"

_OVERRIDE = AnchoredPattern(
    (
        _DROPS,
        rf"{_DROP} {_WORDS}{_OLD} (?:and {_OLD} )?(?:\w+ ){{0,2}}?{_RULES}\b"
        rf"|{_DROP} (?:all |any |everything (?:in |of )?)*(?:of )?(?:your|the) {_RULES}"
        r"(?: (?:and|you|that were|above|so far)|[.,:!])"
        rf"|{_DROP} (?:all |any )?(?:the )?{_RULES} (?:above|before|you (?:were|have been|got)|given to you|so far)"
        r"|(?:forget|disregard|ignore) (?:about )?(?:everything|all|anything)(?: (?:that )?(?:you|i|we))? "
        r"(?:saw|know|knew|learned|were told|was told|have been told|been told|read|above|before|said before|prior"
        r"|previously)\b",
    ),
    (
        "ignorier|vergiss|missachte",
        r"(?:ignorier\w*|vergiss|missachte) (?:\w+ ){0,3}(?:vorherigen?|bisherigen?|obigen?|früheren?"
        r"|vorigen?) (?:\w+ )?"
        r"(?:anweisung|instruktion|regel|befehl|vorgabe)",
    ),
    (
        "ignor|olvid",
        r"(?:ignora\w*|olvida\w*) (?:\w+ ){0,3}(?:instrucciones|reglas|órdenes)(?: \w+){0,2}"
        r" (?:anteriores|previas|de arriba)",
    ),
    (
        "ignore|oublie",
        r"(?:ignore[zr]?|oublie[zr]?) (?:\w+ ){0,3}(?:instructions|consignes|règles)(?: \w+){0,2}"
        r" (?:précédentes|antérieures|ci-dessus)",
    ),
    (
        "ignor|dimentica",
        r"(?:ignora\w*|dimentica\w*) (?:\w+ ){0,3}(?:istruzioni|regole)(?: \w+){0,2} (?:precedenti|di sopra)",
    ),
    (
        "ignor|esque",
        r"(?:ignor[ea]\w*|esque[cç]\w*) (?:\w+ ){0,3}(?:instruções|regras)(?: \w+){0,2} (?:anteriores|prévias|acima)",
    ),
    (
        "negeer|vergeet",
        r"(?:negeer|vergeet) (?:\w+ ){0,3}(?:vorige|eerdere|voorgaande|bovenstaande) (?:instructies|regels|opdrachten)",
    ),
    (
        "zignoruj|ignoruj|zapomnij",
        r"(?:z?ignoruj|zapomnij) (?:\w+ ){0,3}(?:poprzedni\w*|wcześniejsz\w*|powyższ\w*) (?:instrukcj|polece)",
    ),
    ("игнорируй|забудь", r"\w+ (?:\w+ ){0,3}(?:предыдущ|прошл|прежн)\w+ (?:инструкц|указан|команд)"),
    (
        "忽略|无视|忘记|忘掉",
        r"..[^。\n]{0,8}(?:之前|以上|上面|前面|先前|此前)[^。\n]{0,8}(?:指令|指示|提示|规则|要求)",
    ),
    ("これまで|以前|上記|前|先", r"\w{1,4}の[^。\n]{0,10}(?:指示|命令|プロンプト|ルール)[^。\n]{0,8}(?:無視|忘れ)"),
    ("이전|위의|앞의|지금까지의", r"\w+[^.\n]{0,10}(?:지시|명령|프롬프트)[^.\n]{0,8}(?:무시|잊)"),
)
_PROMPT = (
    r"(?:system (?:prompt|message|instructions)|(?:initial|hidden|secret|original|internal|base|full"
    r"|developer) (?:system )?"
    r"(?:prompt|instructions)|pre-?prompt)"
)
_SHOWS = "reveal|show|print|repeat|output|display|tell|give|share|leak|expose|write|copy|recite|dump|return|say"
_REVEAL = AnchoredPattern(
    (
        f"{_SHOWS}|what",
        rf"(?:{_SHOWS}|what (?:is|are|was|were|does))(?: out| me| us"
        rf"| back)* (?:[\w'-]+ ){{0,4}}?your (?:\w+ )?{_PROMPT}\b",
    ),
    (
        "repeat|print|output|copy|recite|write|return",
        r"\w+ (?:out |back )?(?:the |all |everything |all the )*"
        r"(?:words|text|content|instructions|everything|prompt|messages?)? ?(?:written |given )?(?:above|before this)\b"
        r"(?=[^\n]{0,80}(?:verbatim|you are|instruct|prompt|word for word|code ?block|exactly))",
    ),
)
_TAKEN_ROLE = re.compile(
    r"<\|im_start\|> ?system|<\|start_header_id\|> ?system|^\W{0,6}(?:new|updated|real|actual"
    r"|additional) (?:system )?(?:instructions?|prompt|directive)s? ?:"
    r"|^\W{0,4}(?:begin |start |end )(?:of )?(?:system|admin|developer) (?:prompt|message|instructions?)\b"
    r"|^ ?(?:\[|<|#{2,3} ?|\{\{ ?)(?:system|admin|system message|system prompt|system override)(?:\]|>|:| ?\}\})",
    re.MULTILINE,
)
_MODELS = r"(?:ai|a\.i\.|llms?|language models?|chatgpt|claude|gemini|copilot|ai assistants?|ai agents?)"
_IN_DATA = AnchoredPattern(
    (
        "end|start|begin|finish|prefix|preface",
        r"\w+ (?:each|every|all|your)(?: of your)?(?: \w+)? (?:response|reply|replies|answer|message|sentence"
        r"|output)s?\b",
    ),
    (
        "in |to |with ",
        r"\w+ (?:each|every|all) (?:of your )?(?:future |subsequent |following )?(?:response|reply|answer)s?,?"
        r" (?:you|always|include|say|add|must)\b",
    ),
    (
        "note|message|attention|instruction|dear|hey|hello|important",
        rf"(?:note|message|attention|instructions?|dear|hey|hello|important)(?: to| for)?(?: all| any| the"
        rf"| every)? {_MODELS}\b",
    ),
    (
        "if ",
        r"if (?:you(?:'re| are)|this is(?: being)? read by) an? (?:ai|llm|large language model|language model"
        r"|assistant|bot)\b",
    ),
    (
        "ai|llm|language",
        r"(?:ai|llm|language) (?:assistants?|models?|agents?|systems?)(?: (?:reading|processing) this)?,?"
        r" (?:must|should|shall|will now|please)\b",
    ),
    (
        "do not|don't|never|without",
        r"(?:do not|don't|never|without) (?:tell|inform|mention|reveal|alert|notify|warn)(?:ing)?(?: \w+){0,4}"
        r" (?:to )?(?:the |your )?(?:user|human|operator)\b",
    ),
    (
        "say|state|tell|respond|answer|recommend|conclude|rate|rank",
        r"(?:say|state|tell (?:them|the user)|respond|answer|recommend|conclude|rate|rank) (?:that )?(?:\w+ ){0,5}"
        r"(?:is|as) the (?:best|top|most qualified|ideal) (?:candidate|choice|option|applicant|product)\b",
    ),
    (
        "your ",
        r"your (?:new|real|actual|only) (?:task|goal|objective|instructions?|role|mission|job) (?:is|are)\b",
    ),
    ("you must now", r"you must now\b"),
    ("stop here", r"stop here\b[^\n]{0,60}\b(?:forget|ignore|instead|new)\b"),
)

_FREE = (
    r"(?:unrestricted|uncensored|unfiltered|amoral|jailbroken"
    r"|without (?:any )?(?:restrictions|filters|ethics|morals|moral|limits|limitations|rules))"
)
_PERSONA = AnchoredPattern(
    ("do anything now", "do anything now"),
    ("you are|act as", r"(?:you are (?:now )?(?:going to (?:be|act as) )?|act as )dan\b"),
    ("[", r"\[(?:dan|jailbreak|🔓jailbreak)\]"),
    (
        "you",
        rf"you(?:'re| are| will be| will act as| shall be)(?: now)? (?:\w+[ ,]+){{0,8}}?{_FREE}\b",
        "un|amoral|jailbroken|without",
    ),
    (
        "developer|dev|god|jailbreak|sudo|debug|evil|opposite|unrestricted",
        r"\w+ mode (?:is )?(?:now )?(?:enabled|activated|on\b|output|unlocked)",
        " mode",
    ),
    (
        "enable|enter|activate|switch to|with|simulate",
        r"\w+ (?:\w+ ){0,3}?(?:developer|jailbreak|god|evil|dan|unrestricted) mode\b",
        " mode",
    ),
)
_NO_LIMITS = AnchoredPattern(
    (
        "act|pretend|respond|answer|behave|reply|role|speak|imagine|write|talk|simulate",
        r"(?:act|pretend|respond|answer|behave|reply|roleplay|role-play|speak|imagine|write|talk|simulate)\b"
        r"(?:[ ,]+[\w'-]+){0,12}?[ ,]+(?:without|free (?:of|from)|no longer bound by|not bound by|has no|have no"
        r"|with no|ignoring)"
        r" (?:\w+[ ,]+){0,4}?(?:restrictions?|filter(?:s|ing)?|limitations|guidelines|censorship|ethics|morals|moral"
        r"|ethical|safety|content polic(?:y|ies)|openai)\b",
        "without |free of|free from|bound by|has no |have no |with no |ignoring ",
    ),
    (
        "ignore|bypass|disable|turn off|override|disregard|remove|forget|break|violate",
        r"(?:turn off|\w+)(?: \w+){0,2} (?:your|openai'?s?|anthropic'?s?|google'?s?|its|all|any|ai|chatgpt'?s?)"
        r" (?:\w+ ){0,2}?(?:safety|ethical|ethics|content|moral|moderation|censorship)(?: \w+)?"
        r" (?:guidelines?|filters?|polic(?:y|ies)|restrictions?|protocols?|measures|rules|training|programming)\b",
        "safety|ethic|content|moral|moderation|censorship",
    ),
    (
        "you |can|must|may|never|will|should|do not|don't",
        r"(?:you )?(?:can ?not|can't|must not|must never|may not|never|will never|should never|do not|don't) (?:ever )?"
        r"(?:refuse|decline|reject) (?:\w+ ){0,2}"
        r"(?:requests?|questions?|anything|orders?|commands?|prompts?|my|to answer|to respond|or)\b",
        "refuse|decline|reject",
    ),
    (
        "ohne|sin|sans|senza|sem",
        r"\w+ (?:\w+ ){0,2}(?:einschränkungen|filter|restricciones|filtros|restrictions|censure|restrizioni"
        r"|restrições)\b"
        r"(?=[^\n]{0,60}(?:antworte|responde|réponds|rispondi|modell|ki\b|modelo|modèle))",
    ),
    ("没有|不受", r"..(?:任何)?(?:限制|道德|审查)[^。\n]{0,12}(?:ai|人工智能|模型|助手)"),
    ("制限", "制限(?:の|が)ない(?:ai|モデル|アシスタント)"),
)

_SURE, _LIKELY, _LESS_SURE = 0.9, 0.8, 0.6
LIKELY = 0.5
"""Score from which a turn counts as an attempt."""


OVERRIDE, REVEAL, ROLE, DATA = "override", "reveal", "role", "data"
PERSONA, NO_LIMITS = "persona", "no_limits"
INJECTIONS = frozenset({OVERRIDE, REVEAL, ROLE, DATA})
JAILBREAKS = frozenset({PERSONA, NO_LIMITS})
"""Kinds of attempts; each has cue words of its own."""


def injection_score(text: str, role: str, kinds: Collection[str] = INJECTIONS) -> float:
    """Return how surely a text of ``role`` tries to replace or to draw out a model's instructions, 0 to 1.

    System prompts and answers are judged by the plain attempts alone; orders to a model inside of data count in tool
    results only. ``kinds`` are those whose cue words are there.
    """
    lowered = _plain(text)
    is_outside = role in ("user", "tool")
    odds = 1.0
    if OVERRIDE in kinds and _OVERRIDE.search(lowered):
        odds *= 1 - _SURE
    if REVEAL in kinds and is_outside and _REVEAL.search(lowered):
        odds *= 1 - _SURE
    if ROLE in kinds and is_outside and _TAKEN_ROLE.search(lowered):
        odds *= 1 - _LESS_SURE
    if DATA in kinds and role == "tool" and _IN_DATA.search(lowered):
        odds *= 1 - _LIKELY
    return 1.0 - odds


def jailbreak_score(text: str, kinds: Collection[str] = JAILBREAKS) -> float:
    """Return how surely a text tries to talk a model out of its limits, 0 to 1."""
    lowered = _plain(text)
    odds = 1.0
    if PERSONA in kinds and _PERSONA.search(lowered):
        odds *= 1 - _SURE
    if NO_LIMITS in kinds and _NO_LIMITS.search(lowered):
        odds *= 1 - _LESS_SURE
    return 1.0 - odds


_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_SPACES = re.compile(r"[ \t]{2,}")


def _plain(text: str) -> str:
    """Lower the text and take out what is there to hide words: invisible characters, curly apostrophes, wide gaps."""
    if not text.isascii():
        text = _INVISIBLE.sub("", text).replace("\u2019", "'")
    lowered = text.lower()
    return _SPACES.sub(" ", lowered) if "  " in lowered or "\t" in lowered else lowered
