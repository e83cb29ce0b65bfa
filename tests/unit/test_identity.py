"""Identity of turns: stable for good, blind to what is not visible content, unlinkable without the key."""

import hashlib
import hmac
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.intake.identity import IdentityKey
from pipelines.intake.items import MediaPart, Message, Rating, ToolCall

KEY = IdentityKey(bytes(range(32)))
ROOT = KEY.root_id("acme", "support", "conv-1", "ada@example.com")

VECTORS = {
    "plain": (Message("user", "How do I cut a thread?"), "60685081b661e3d95948903054c6b35c"),
    "unicode": (Message("assistant", "Grüße, 你好 🍸"), "5ba3334b446c67ae3e725a56bb1a4223"),
    "empty": (Message("assistant", ""), "2be578b1011ee16d812ec78b0ea08f38"),
    "call": (
        Message("assistant", tool_calls=[ToolCall("c1", "weather", '{"city": "Oslo", "days": 2}')]),
        "5313083333ffe9b84e32beec6dc640d2",
    ),
    "broken call": (
        Message("assistant", tool_calls=[ToolCall("c1", "q", '{"x":1}{"x":2}')]),
        "163af0f882fafe12f0462baaad282105",
    ),
    "result": (Message("tool", "rain", tool_call_id="c1"), "88a3a13a5a329e6fb2782a51460c5078"),
    "system": (Message("system", "Be brief."), "876a155badf9301a41ecf19dcd141a2e"),
}


@pytest.mark.parametrize("name", VECTORS)
def test_content_ids_never_change(name):
    message, expected = VECTORS[name]
    assert KEY.content_id(message) == expected


def test_place_ids_never_change():
    assert ROOT == "88326513bc58eba6c4d84cce6dbb857a"
    assert KEY.root_id("default", "default", None, None) == "d853a7a180c87f6ac51591dc73c7dcce"
    assert KEY.turn_id(ROOT, KEY.content_id(VECTORS["plain"][0])) == "dc847924c1308626b26c870563630e0d"
    assert KEY.message_turn_id(ROOT, "span-7/0") == "0e68302bce53648fd47ae3103fa89660"
    assert KEY.user_ref("acme", "ada@example.com") == "1bf5e0e852f7a4a2d617879517fe1f5f"
    assert KEY.conversation_ref("acme", "conv-1") == "4ec80a77041cf8f5900d1fb045445eb4"
    assert KEY.split_bucket("acme", "ada@example.com") == 61
    assert KEY.media_digest(b"pixels") == "988ef93f7aeca89d643c4cf23862def7078ec697481885b6cd31229e1f1bd967"
    assert (
        KEY.feedback_id(ROOT, "0" * 32, "ada@example.com", Rating("thumb", 1.0)) == "f06f2bd910c37a346a370ae6d0f2d508"
    )


def test_an_id_is_plain_hmac_over_length_prefixed_fields_cut_to_128_bits():
    fields = (b"content", b"user", b"hello")
    content = b"".join(len(field).to_bytes(4, "big") + field for field in fields)
    expected = hmac.digest(KEY.key, content, hashlib.sha256)[:16].hex()
    assert KEY.content_id(Message("user", "hello")) == expected


@given(st.binary(min_size=32, max_size=150), st.text(st.characters(codec="utf-8")))
def test_keys_of_any_length_give_the_hmac_of_the_standard_library(key, text):
    raw = "\n".join(("a", text, "a")).encode()
    content = b"".join(len(field).to_bytes(4, "big") + field for field in (b"message", b"r", raw))
    expected = hmac.digest(key, content, hashlib.sha256)[:16].hex()
    assert IdentityKey(key).message_turn_id("r", raw.decode()) == expected


def test_a_short_key_is_refused():
    with pytest.raises(ValueError, match="at least 32 bytes, found 31"):
        IdentityKey(b"k" * 31)


def test_a_key_survives_pickling_and_never_shows():
    copy = pickle.loads(pickle.dumps(KEY))
    assert copy.content_id(Message("user", "x")) == KEY.content_id(Message("user", "x"))
    assert KEY.key.hex() not in repr(KEY)
    assert str(KEY.key)[2:-1] not in repr(KEY)


def test_a_key_cannot_be_changed():
    with pytest.raises(AttributeError):
        KEY.key = b"other"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("caf\u00e9", "cafe\u0301"),
        ("a\nb", "a\r\nb"),
        ("a\nb", "a\rb"),
        ("a", " \n a\t"),
    ],
)
def test_spellings_of_the_same_visible_text_share_an_id(one, other):
    assert KEY.content_id(Message("user", one)) == KEY.content_id(Message("user", other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Message("user", "a"), Message("assistant", "a")),
        (Message("user", "a"), Message("user", "A")),
        (Message("user", "a b"), Message("user", "a  b")),
        (Message("user", "ab"), Message("user", "a", parts=[MediaPart("image", sha256="b")])),
        (
            Message("assistant", tool_calls=[ToolCall(None, "f", "1"), ToolCall(None, "g", "2")]),
            Message("assistant", tool_calls=[ToolCall(None, "g", "2"), ToolCall(None, "f", "1")]),
        ),
        (
            Message("assistant", tool_calls=[ToolCall(None, "f", '{"id": 123456789012345678901}')]),
            Message("assistant", tool_calls=[ToolCall(None, "f", '{"id": 123456789012345678902}')]),
        ),
        (
            Message("assistant", tool_calls=[ToolCall(None, "f", "not json")]),
            Message("assistant", tool_calls=[ToolCall(None, "f", "not  json")]),
        ),
    ],
)
def test_different_visible_content_has_different_ids(one, other):
    assert KEY.content_id(one) != KEY.content_id(other)


def test_equal_json_arguments_are_one_call_whatever_their_layout():
    one = Message("assistant", tool_calls=[ToolCall("c1", "f", '{"b": 1, "a": "\\u00e9"}')])
    other = Message("assistant", tool_calls=[ToolCall("c2", "f", '{"a":"é","b":1}')])
    assert KEY.content_id(one) == KEY.content_id(other)


def test_hidden_and_generated_fields_do_not_count():
    bare = Message("assistant", "Rain.")
    full = Message(
        "assistant", "Rain.", 3, "thoughts", [], [], "c1", "w", "model", "chatcmpl-1", "stop", None, ["flag"]
    )
    assert KEY.content_id(bare) == KEY.content_id(full)


def test_absent_and_empty_ids_are_different_places():
    roots = {KEY.root_id("t", "s", c, u) for c in (None, "", "x") for u in (None, "", "x")}
    assert len(roots) == 9


@given(st.lists(st.text(max_size=3), min_size=4, max_size=4), st.lists(st.text(max_size=3), min_size=4, max_size=4))
def test_fields_never_run_into_each_other(one, other):
    assert (KEY.root_id(*one) == KEY.root_id(*other)) == (one == other)


def test_another_key_and_another_tenant_give_other_ids():
    other = IdentityKey(b"o" * 32)
    message = Message("user", "hello")
    assert KEY.content_id(message) != other.content_id(message)
    assert KEY.user_ref("a", "ada") != KEY.user_ref("b", "ada")
    assert KEY.user_ref("a", "ada") != other.user_ref("a", "ada")


def test_references_of_the_same_id_differ_by_purpose():
    assert KEY.user_ref("t", "x") != KEY.conversation_ref("t", "x")


def test_split_buckets_spread_evenly():
    counts = [0] * 100
    for number in range(20_000):
        counts[KEY.split_bucket("t", f"user-{number}")] += 1
    assert min(counts) > 130
    assert max(counts) < 270


def test_a_rating_is_the_same_feedback_only_when_all_of_it_is_the_same():
    ratings = [
        Rating("thumb", 1.0),
        Rating("thumb", -1.0),
        Rating("thumb", 1.0, text="why"),
        Rating("stars", 1.0),
        Rating("evaluation", 1.0, measure="tone"),
        Rating("evaluation", 1.0, measure="facts"),
    ]
    ids = [KEY.feedback_id(ROOT, "0" * 32, None, rating) for rating in ratings]
    assert len(set(ids)) == len(ratings)
    assert KEY.feedback_id(ROOT, "0" * 32, None, Rating("thumb", 1.0)) == ids[0]
    assert KEY.feedback_id(ROOT, "1" * 32, None, Rating("thumb", 1.0)) != ids[0]


@given(st.text(), st.text())
def test_any_string_has_an_id(role, text):
    assert len(KEY.content_id(Message(role, text + "\ud800"))) == 32
