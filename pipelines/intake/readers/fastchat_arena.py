"""FastChat and Arena raw rows: ``tstamp``, ``type``, and ``state`` or, for two models side by side, ``states``.

Source: lm-sys/FastChat, gradio_web_server.py, gradio_block_arena_anony.py and Conversation.dict. A vote repeats the
state that it judges. Messages before ``offset`` are examples of the prompt template, which nobody said; they are left
out.
"""

from __future__ import annotations

from typing import Any

from pipelines.intake import flags
from pipelines.intake.items import Entry, MediaPart, Message, Rating, Talk
from pipelines.intake.media import inline_media, linked_media, other_part
from pipelines.intake.roles import chain, role_of
from pipelines.intake.shape import (
    BadShape,
    first_id,
    objects,
    optional_id,
    optional_list,
    optional_number,
    optional_object,
    optional_text,
    optional_time,
    wrong_type,
)
from pipelines.intake.tool_arguments import compact_json

NAME = "fastchat_arena"
VERSION = 1
TELLS = frozenset({"state", "states"})
EXCLUDES: frozenset[str] = frozenset()

JUDGEMENTS = {"upvote": ("thumb", 1.0), "downvote": ("thumb", -1.0), "flag": ("flag", None)}
VOTES = {
    "leftvote": (1.0, -1.0, "side_by_side"),
    "rightvote": (-1.0, 1.0, "side_by_side"),
    "tievote": (0.0, 0.0, "side_by_side"),
    "bothbad_vote": (-1.0, -1.0, "bothbad"),
}
LONGEST_NAME = 1_000
"""Characters of an image's hash or address; a longer string is the image itself."""


def matches(entry: Entry) -> bool:
    """Tell by ``tstamp`` and ``type`` with a ``state`` object or a list of ``states``."""
    if "tstamp" not in entry or "type" not in entry:
        return False
    return isinstance(entry.get("state"), dict) or isinstance(entry.get("states"), list)


def read(entry: Entry) -> list[Talk]:
    """Return a talk for each state, with what the row judges. Raises BadShape for wrong types."""
    row_type = optional_text(entry, "type")
    states = objects(entry, "states") if "states" in entry else [optional_object(entry, "state") or {}]
    talks = [_read_state(state, entry) for state in states]
    if row_type in VOTES:
        if len(talks) != 2:
            raise BadShape(f"a vote must hold two states, found {len(talks)}")
        left, right, measure = VOTES[row_type]
        for talk, value in zip(talks, (left, right), strict=True):
            _judge(talk, Rating("vote", value, measure=measure), entry)
    elif row_type in JUDGEMENTS:
        kind, thumb = JUDGEMENTS[row_type]
        for talk in talks:
            _judge(talk, Rating(kind, thumb), entry)
    elif row_type == "chat":
        for talk in talks:
            _date_reply(talk, entry)
    return talks


def _read_state(state: dict[str, Any], entry: Entry) -> Talk:
    user_name, assistant_name = _role_names(state)
    messages = []
    offset = int(optional_number(state, "offset") or 0)
    for number, said in enumerate(optional_list(state, "messages")[max(offset, 0) :]):
        if not isinstance(said, list) or len(said) != 2:
            raise wrong_type("each of messages", "a pair of role and content", said)
        name, content = said
        if content is None:
            continue
        messages.append(_read_message(_role(name, number, user_name, assistant_name), content))
    if system := optional_text(state, "system_message") or optional_text(state, "system"):
        messages.insert(0, Message("system", system))
    model = optional_text(state, "model_name") or optional_text(entry, "model")
    for message in messages:
        if message.role == "assistant":
            message.model = model
        if state.get("has_csam_image") is True and message.parts:
            message.flags.append(flags.UPSTREAM_FLAGGED)
    return Talk(chain(messages), optional_id(state, "conv_id"), first_id(entry, "ip"))


def _role_names(state: dict[str, Any]) -> tuple[str, str]:
    names = optional_list(state, "roles") or ["user", "assistant"]
    if len(names) != 2 or not all(isinstance(name, str) for name in names):
        raise wrong_type("roles", "two strings", names)
    return names[0], names[1]


def _role(name: Any, number: int, user_name: str, assistant_name: str) -> str:
    """Return the role of a speaker by the template's names; where these are equal the two take turns."""
    if user_name == assistant_name:
        return ("user", "assistant")[number % 2]
    if name == user_name:
        return "user"
    return "assistant" if name == assistant_name else role_of(name)


def _read_message(role: str, content: Any) -> Message:
    """Read a text, or a list of a text and its images (further elements say how images were scaled)."""
    if isinstance(content, str):
        return Message(role, content)
    if not isinstance(content, list) or not content or not isinstance(content[0], str):
        raise wrong_type("content", "a string or a list of text and images", content)
    message = Message(role, content[0])
    images = content[1] if len(content) > 1 else []
    message.parts = [_read_image(image) for image in (images if isinstance(images, list) else [images])]
    return message


def _read_image(image: Any) -> MediaPart:
    if isinstance(image, dict):
        if encoded := optional_text(image, "base64_str"):
            return inline_media("image", None, encoded)
        if url := optional_text(image, "url"):
            return linked_media("image", None, url)
    if isinstance(image, str) and image:
        return linked_media("image", None, image) if len(image) <= LONGEST_NAME else _long_image(image)
    return other_part(compact_json(image, "images"))


def _long_image(image: str) -> MediaPart:
    return linked_media("image", None, image) if image[:5].lower() == "data:" else inline_media("image", None, image)


def _judge(talk: Talk, rating: Rating, entry: Entry) -> None:
    """Add a rating of the talk's last reply; without one the talk itself is judged."""
    rating.target = _last_reply(talk)
    rating.created_at = optional_time(entry, "tstamp")
    talk.ratings.append(rating)


def _date_reply(talk: Talk, entry: Entry) -> None:
    if (index := _last_reply(talk)) is not None:
        talk.messages[index].created_at = optional_time(entry, "finish") or optional_time(entry, "tstamp")


def _last_reply(talk: Talk) -> int | None:
    replies = [index for index, message in enumerate(talk.messages) if message.role == "assistant"]
    return replies[-1] if replies else None
