"""A judge over HTTP: order cannot sway it, faults are tried again, and only a reply in the wanted form is a verdict."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from pipelines.adapters.http_judge import MOST_SILENT, HttpJudge, JudgeEndpoint, judge_target, written
from pipelines.adapters.outbound_http import AddressRefused, RequestFailed
from pipelines.promotion.evidence import Evidence
from pipelines.promotion.held_out import JudgedRow
from pipelines.promotion.judge import JudgeSilent, compare_answers, score_pair
from pipelines.promotion.paired_bootstrap import Interval
from pipelines.promotion.rule import PromotionRule, judge

KEY = "an-invented-key"


def better(asked):
    """Prefer the answer that says yes, as a fair judge would wherever it stands."""
    first = asked.split("<first>\n")[1].split("\n</first>")[0]
    second = asked.split("<second>\n")[1].split("\n</second>")[0]
    if ("yes" in first) == ("yes" in second):
        return '{"winner": "tie"}'
    return json.dumps({"winner": "first" if "yes" in first else "second"})


class Endpoint:
    """A loopback server that answers like a chat completions endpoint, with the faults that it is told first."""

    def __init__(self):
        self.reply, self.faults, self.seen, self.delay = better, [], [], 0.0
        self.open, self.most_open, self.lock = 0, 0, threading.Lock()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with endpoint.lock:
                    endpoint.seen.append((self.path, self.headers.get("Authorization"), asked))
                    endpoint.open += 1
                    endpoint.most_open = max(endpoint.most_open, endpoint.open)
                    fault = endpoint.faults.pop(0) if endpoint.faults else None
                time.sleep(endpoint.delay)
                status, body, more = endpoint.answer(asked) if fault is None else fault
                with endpoint.lock:
                    endpoint.open -= 1
                self.send_response(status)
                for name, value in more.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def answer(self, asked):
        words = self.reply(asked["messages"][0]["content"])
        return 200, json.dumps({"choices": [{"message": {"role": "assistant", "content": words}}]}).encode(), {}

    def judge(self, **values):
        waits = []
        target = judge_target(f"http://127.0.0.1:{self.http.server_port}/v1")
        judge = HttpJudge(JudgeEndpoint(target, "judge-model", **{"key": KEY, "timeout": 5.0, **values}), waits.append)
        return judge, waits


@pytest.fixture
def endpoint():
    started = Endpoint()
    yield started
    started.http.shutdown()
    started.http.server_close()


def test_a_fair_judge_is_asked_both_ways_round_with_model_and_key(endpoint):
    asked, _ = endpoint.judge()
    assert score_pair(asked, "Rain?", "yes", "no") == 1.0
    assert score_pair(asked, "Rain?", "no", "yes") == -1.0
    assert [path for path, *_ in endpoint.seen] == ["/v1/chat/completions"] * 4
    assert {key for _, key, _ in endpoint.seen} == {f"Bearer {KEY}"}
    assert {told["model"] for *_, told in endpoint.seen} == {"judge-model"}
    assert KEY not in repr(asked.endpoint)


def test_a_judge_that_always_likes_the_first_decides_nothing(endpoint):
    endpoint.reply = lambda asked: '{"winner": "first"}'
    assert score_pair(endpoint.judge()[0], "Rain?", "yes", "no") == 0.0


@pytest.mark.parametrize("fault", [(429, b"", {}), (500, b"busy", {}), (503, b"", {}), (408, b"", {})])
def test_faults_that_may_pass_are_tried_again_with_growing_waits(endpoint, fault):
    endpoint.faults = [fault] * 3
    asked, waits = endpoint.judge()
    assert score_pair(asked, "Rain?", "yes", "no") == 1.0
    assert waits == [1.0, 2.0, 4.0]


def test_the_endpoint_may_ask_for_a_longer_wait_and_not_for_an_endless_one(endpoint):
    endpoint.faults = [(429, b"", {"Retry-After": "7"}), (429, b"", {"Retry-After": "86400"})]
    asked, waits = endpoint.judge()
    asked("Rain?<first>\nyes\n</first><second>\nno\n</second>")
    assert waits == [7.0, 60.0]


def test_a_slow_endpoint_is_given_up_and_tried_again(endpoint):
    endpoint.delay = 0.5
    asked, waits = endpoint.judge(timeout=0.1, tries=2)
    with pytest.raises(JudgeSilent, match="found TimeoutError") as silent:
        asked("a secret question")
    assert len(waits) == 1
    assert "secret" not in str(silent.value)


def test_a_refused_key_is_not_tried_again(endpoint):
    endpoint.faults = [(401, KEY.encode(), {})]
    asked, waits = endpoint.judge()
    with pytest.raises(RequestFailed, match="found 401") as failed:
        asked.probe()
    assert not waits
    assert KEY not in str(failed.value)


@pytest.mark.parametrize(
    "words",
    [
        "",
        "first",
        '{"winner": "both"}',
        '{"winner": "first", "why": "it is longer"}',
        '```json\n{"winner": "first"}```',
    ],
)
def test_replies_in_another_form_decide_nothing(endpoint, words):
    endpoint.reply = lambda asked: words
    assert score_pair(endpoint.judge()[0], "Rain?", "yes", "no") is None


@pytest.mark.parametrize(
    "answer",
    [b"", b"<html>", b"[]", b"{}", b'{"choices": []}', b'{"choices": [{"message": {"content": null}}]}', b"\xff"],
)
def test_garbage_in_place_of_a_completion_is_no_verdict(endpoint, answer):
    endpoint.faults = [(200, answer, {})]
    assert written(answer) == ""
    assert score_pair(endpoint.judge()[0], "Rain?", "yes", "no") is None


def test_an_endpoint_that_is_gone_is_not_asked_for_ever(endpoint):
    endpoint.faults = [(500, b"", {})] * 100
    asked, _ = endpoint.judge(tries=2)
    assert [score_pair(asked, "Rain?", "yes", "no") for _ in range(9)] == [None] * 9
    assert len(endpoint.seen) == 2 * MOST_SILENT


def compared(n):
    row = {"prompt": [{"role": "user", "content": "Rain?"}], "completion": [{"role": "assistant", "content": "yes"}]}
    rows = [JudgedRow(row, f"user-{i}") for i in range(n)]
    answers = [SimpleNamespace(answers=[words] * n) for words in ("yes", "no")]
    return rows, SimpleNamespace(candidate=answers[0], reference=answers[1])


def test_pairs_are_asked_at_once_up_to_the_bound_with_the_same_result(endpoint):
    endpoint.delay = 0.02
    rows, models = compared(12)
    asked, _ = endpoint.judge()
    found = compare_answers(asked, rows, models, 1, at_once=3)
    assert 1 < endpoint.most_open <= 3
    assert found == compare_answers(better, rows, models, 1)
    assert (found.mean, found.n) == (1.0, 12)


def test_a_candidate_is_held_when_its_judge_decides_nothing(endpoint):
    endpoint.reply = lambda asked: "I like both."
    rows, models = compared(4)
    judged = compare_answers(endpoint.judge()[0], rows, models, 1)
    assert judged.n == 0
    better_loss = Interval(-0.5, -0.6, -0.4, 100, 100)
    found = judge(Evidence(objective_base=better_loss, judged=judged), PromotionRule())
    assert (found.verdict, "before the judge" in found.reason) == ("hold", True)
    assert judge(Evidence(objective_base=better_loss), PromotionRule()).verdict == "promote"
    assert compare_answers(better, [], models, 1) is None


@pytest.mark.parametrize("key", ["", "two words", "line\nbreak", "kéy"])
def test_a_key_that_is_no_header_value_is_refused_without_being_shown(endpoint, key):
    with pytest.raises(ValueError, match="one word of printable ASCII") as refused:
        endpoint.judge(key=key)
    assert not key or key not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "address", "allowed"),
    [
        ("http://judge.example/v1", "93.184.215.14", False),
        ("http://judge.example/v1", "10.0.0.7", False),
        ("https://judge.example/v1", "10.0.0.7", False),
        ("http://judge.example/v1", "169.254.169.254", False),
        ("http://user:word@127.0.0.1/v1", "127.0.0.1", False),
        ("ftp://judge.example", "93.184.215.14", True),
        ("http://judge.example/v1", "93.184.215.14", True),
    ],
)
def test_text_goes_nowhere_that_is_not_declared(url, address, allowed):
    with pytest.raises(AddressRefused):
        judge_target(url, allow_private=allowed, resolve=lambda *_: [address])


@pytest.mark.parametrize(
    ("url", "address", "allowed", "path"),
    [
        ("https://judge.example/v1", "93.184.215.14", False, "/v1/chat/completions"),
        ("https://judge.example/v1/", "93.184.215.14", False, "/v1/chat/completions"),
        ("https://judge.example/openai/chat/completions?v=1", "93.184.215.14", False, "/openai/chat/completions?v=1"),
        ("http://localhost:8000", "127.0.0.1", False, "/chat/completions"),
        ("http://[::1]:8000/v1", "::1", False, "/v1/chat/completions"),
        ("http://judge.example/v1", "10.0.0.7", True, "/v1/chat/completions"),
    ],
)
def test_the_endpoint_is_found_from_its_base(url, address, allowed, path):
    target = judge_target(url, allow_private=allowed, resolve=lambda *_: [address])
    assert (target.path, target.address) == (path, address)
