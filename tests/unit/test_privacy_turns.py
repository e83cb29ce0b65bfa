"""Turns and ratings: every kept string is covered, with its JSON pointer."""

import json
from copy import deepcopy

import pytest

from pipelines.intake.items import Feedback, MediaPart, Message, Rating, ToolCall, Turn
from pipelines.privacy.anonymizer import Anonymizer
from pipelines.privacy.keys import KeyFolder
from pipelines.privacy.policy import ANALYTICS
from pipelines.privacy.turns import anonymize_feedback, anonymize_items, anonymize_turn

MAIL = "nina@korvane-labs.com"


@pytest.fixture(scope="module")
def anonymizer(tmp_path_factory) -> Anonymizer:
    return Anonymizer(KeyFolder(tmp_path_factory.mktemp("lake") / "keys").open_or_create(), ANALYTICS)


def turn(message: Message, user_id: str | None = None) -> Turn:
    ids = {"turn_id": "t", "parent_id": "r", "root_id": "r", "system_turn_id": None, "content_id": "c"}
    refs = {"conversation_ref": None, "user_ref": None, "user_id": user_id}
    rest = {"tenant": "default", "stream": "default", "consent": "training", "source": "test", "adapter_version": 1}
    return Turn(entry=0, position=0, message=message, **ids, **refs, **rest)


def feedback(rating: Rating, user_id: str | None = None) -> Feedback:
    ids = {"feedback_id": "f", "target_turn_id": None, "user_ref": None, "user_id": user_id}
    rest = {"tenant": "default", "stream": "default", "consent": "training", "source": "test", "adapter_version": 1}
    return Feedback(entry=0, position=0, rating=rating, **ids, **rest)


def full_message() -> Message:
    return Message(
        role="assistant",
        text=f"text {MAIL}",
        reasoning=f"reasoning {MAIL}",
        parts=[MediaPart("image", f"image/{MAIL}", uri=f"https://korvane.com/?m={MAIL}")],
        tool_calls=[ToolCall(f"id {MAIL}", f"name {MAIL}", json.dumps({"to": MAIL, "n": 1}))],
        tool_call_id=f"call {MAIL}",
        tool_name=f"tool {MAIL}",
        model=f"model {MAIL}",
        response_id=f"response {MAIL}",
        finish_reason=f"reason {MAIL}",
        flags=["cut"],
    )


def test_every_string_of_a_message_is_covered_and_pointed_at(anonymizer):
    clean = anonymize_turn(turn(full_message()), anonymizer)
    assert MAIL not in repr(clean)
    pointers = {pointer for pointer, *_ in clean.redactions}
    assert pointers == {
        *(
            f"/{name}"
            for name in ("text", "reasoning", "tool_call_id", "tool_name", "model", "response_id", "finish_reason")
        ),
        *(f"/tool_calls/0/{name}" for name in ("id", "name", "arguments")),
        *(f"/parts/0/{name}" for name in ("media_type", "uri")),
    }
    assert clean.counts == {"EMAIL": 12}
    assert json.loads(clean.message.tool_calls[0].arguments)["n"] == 1
    assert clean.message.flags == ["cut"]
    for pointer, start, end, kind in clean.redactions:
        value = clean.message
        for step in pointer.strip("/").split("/"):
            value = value[int(step)] if step.isdigit() else getattr(value, step)
        assert value[start:end].startswith(f"<{kind}_")


def test_the_raw_turn_is_not_changed(anonymizer):
    raw = turn(full_message())
    before = deepcopy(raw)
    anonymize_turn(raw, anonymizer)
    assert raw == before


def test_a_clean_message_is_the_same_object(anonymizer):
    message = Message(
        "user", "hello", model="gpt-4o-2024-08-06", finish_reason="stop", response_id="chatcmpl-9a8b7c6d5e4f"
    )
    clean = anonymize_turn(turn(message, "nina-korv"), anonymizer)
    assert clean.message is message
    assert clean.redactions == []
    assert clean.counts == {}


def test_the_logs_own_user_id_is_replaced_everywhere(anonymizer):
    message = Message("user", "I am Nina-Korv.", tool_calls=[ToolCall("c1", "greet", '{"who":"nina-korv"}')])
    clean = anonymize_turn(turn(message, "nina-korv"), anonymizer)
    assert "korv" not in repr(clean.message).lower()
    assert clean.counts == {"USERNAME": 2}


def test_a_user_id_that_is_an_address_is_an_address_in_text(anonymizer):
    clean = anonymize_turn(turn(Message("user", f"write to {MAIL}"), MAIL), anonymizer)
    assert clean.counts == {"EMAIL": 1}


def test_a_call_and_its_answer_keep_the_same_id(anonymizer):
    call = anonymize_turn(turn(Message("assistant", tool_calls=[ToolCall(f"c-{MAIL}", "f", "{}")])), anonymizer)
    answer = anonymize_turn(turn(Message("tool", "ok", tool_call_id=f"c-{MAIL}")), anonymizer)
    assert call.message.tool_calls[0].id == answer.message.tool_call_id


def test_ratings_lose_the_values_of_text_and_response(anonymizer):
    rating = Rating("edit", text=f"better: {MAIL}, nina-korv", response_id=f"r {MAIL}")
    clean = anonymize_feedback(feedback(rating, "nina-korv"), anonymizer)
    assert MAIL not in repr(clean)
    assert [pointer for pointer, *_ in clean.redactions] == ["/text", "/text", "/target_response_id"]
    assert clean.counts == {"EMAIL": 2, "USERNAME": 1}
    assert rating.text.startswith("better: nina@")


def test_a_rating_without_text_is_the_same_object(anonymizer):
    rating = Rating("thumb", 1.0, response_id="chatcmpl-1")
    assert anonymize_feedback(feedback(rating), anonymizer).rating is rating


def test_items_of_a_batch_come_out_as_each_does_alone(anonymizer):
    rating = feedback(Rating("edit", text=f"better: {MAIL}"), "nina-korv")
    items = [turn(full_message()), rating, turn(Message("user", "hello"))]
    alone = [anonymize_turn(items[0], anonymizer), anonymize_feedback(rating, anonymizer)]
    assert anonymize_items(items, anonymizer)[:2] == alone
    assert anonymize_items(items, anonymizer)[2].message is items[2].message


def test_an_item_that_fails_takes_no_neighbour_along(anonymizer, monkeypatch):
    def fail(row, tagged):
        if "bad" in row.fields["/text"]:
            raise MemoryError
        return edit(row, tagged)

    edit = anonymizer._row
    monkeypatch.setattr(anonymizer, "_row", fail)
    one, failed, other = anonymize_items([turn(Message("user", text)) for text in ("a", "bad", "c")], anonymizer)
    assert isinstance(failed, MemoryError)
    assert (one.message.text, other.message.text) == ("a", "c")


def test_dates_of_one_user_move_alike_and_those_of_another_do_not():
    keys = KeyFolder.__new__(KeyFolder)
    keys.epoch = keys._current_epoch = 1
    keys._read = {"surrogate-1": bytes(range(32))}
    writer = Anonymizer(keys)

    def text_of(user_ref):
        one = turn(Message("user", "date of birth: 1987-03-14"))
        one.user_ref = user_ref
        return anonymize_turn(one, writer).message.text

    assert text_of("u1") == text_of("u1")
    assert len({text_of(user) for user in ("u1", "u2", "u3")}) > 1


def test_tools_are_anonymised_as_json_and_tell_their_places(anonymizer):
    tools = json.dumps([{"type": "function", "function": {"name": "page", "description": f"Pages {MAIL}."}}])
    clean = anonymize_turn(turn(Message("assistant", "Done.", tools=tools)), anonymizer)
    described = json.loads(clean.message.tools)[0]["function"]["description"]
    assert MAIL not in described and described.startswith("Pages <EMAIL_")
    [(pointer, start, end, kind)] = clean.redactions
    assert (pointer, kind) == ("/tools", "EMAIL") and clean.message.tools[start:end].startswith("<EMAIL_")


def test_tools_of_one_request_are_anonymised_equally_in_all_of_its_answers(anonymizer):
    tools = json.dumps([{"type": "function", "function": {"name": "page", "description": f"Pages {MAIL}."}}])
    answers = [turn(Message("assistant", text, tools=tools)) for text in ("One.", f"Two: {MAIL}")]
    first, second = anonymize_items(answers, anonymizer)
    assert first.message.tools == second.message.tools != tools
    assert [pointer for pointer, *_ in first.redactions] == ["/tools"]
    assert {pointer for pointer, *_ in second.redactions} == {"/text", "/tools"}


def test_tools_that_name_the_user_lose_the_name_for_this_user(anonymizer):
    tools = json.dumps([{"type": "function", "function": {"name": "page", "description": "Pages Nina-Korv only."}}])
    told = [turn(Message("assistant", "Done.", tools=tools), user_id=user) for user in ("nina-korv", "other-user")]
    named, other = anonymize_items(told, anonymizer)
    assert "nina-korv" not in named.message.tools.lower()
    assert other.message.tools == tools
