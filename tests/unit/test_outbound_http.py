"""What is sent goes to the address that was checked, signed, once; private addresses are refused in any notation."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.adapters.outbound_http import (
    AddressRefused,
    RequestFailed,
    checked_target,
    is_public,
    is_signed,
    post_json,
    signature,
)

SECRET = b"an-invented-secret"
PUBLIC = "93.184.215.14"


class Server:
    """A loopback server that keeps what it was sent and answers with ``status``."""

    def __init__(self):
        self.status, self.seen = 200, []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                server.seen.append((self.path, dict(self.headers), body))
                self.send_response(server.status)
                if server.status == 302:
                    self.send_header("Location", f"http://127.0.0.1:{server.http.server_port}/elsewhere")
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"ok")

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.http.server_port}/hook?x=1"


@pytest.fixture
def server():
    started = Server()
    yield started
    started.http.shutdown()
    started.http.server_close()


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/", "https://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://0x7f000001/",
        "http://0/", "https://[::1]/", "https://[::]/", "https://[::ffff:127.0.0.1]/", "https://[::ffff:10.0.0.1]/",
        "https://[64:ff9b::7f00:1]/", "https://[2002:7f00:1::]/", "https://10.1.2.3/", "https://192.168.1.1/",
        "https://172.16.0.1/", "http://169.254.169.254/latest/meta-data/", "https://100.64.0.1/", "https://[fe80::1]/",
        "https://[fd00::1]/", "https://224.0.0.1/", "https://localhost/", "file:///etc/passwd", "gopher://example.com/",
        "https://", "", "https://user:word@example.com/", "https://[::1", "http://example.com:99999/",
    ],
)  # fmt: skip
def test_addresses_that_are_not_public_are_refused_in_every_notation(url):
    with pytest.raises(AddressRefused) as refused:
        checked_target(url)
    assert "word" not in str(refused.value).replace("password", "")


def test_one_private_address_among_public_ones_is_enough_to_refuse():
    with pytest.raises(AddressRefused, match="public address"):
        checked_target("https://example.com/", resolve=lambda host, port: [PUBLIC, "10.0.0.1"])


def test_a_name_that_resolves_otherwise_later_changes_nothing():
    answers = iter([[PUBLIC], ["127.0.0.1"]])
    target = checked_target("https://example.com/hook", resolve=lambda host, port: next(answers))
    assert (target.address, target.host, target.path) == (PUBLIC, "example.com", "/hook")


def test_plain_http_is_for_private_addresses_alone():
    with pytest.raises(AddressRefused, match="wanted https"):
        checked_target("http://example.com/", resolve=lambda host, port: [PUBLIC])


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_inside_ipv6_is_judged_as_itself(address):
    assert is_public(f"::ffff:{address}") == is_public(str(address))
    if not is_public(str(address)):
        assert not is_public(f"64:ff9b::{address}")


def test_a_body_arrives_signed_with_its_key(server):
    body = json.dumps({"id": "d-1"}).encode()
    target = checked_target(server.url, allow_private=True)
    assert post_json(target, body, secret=SECRET, idempotency_key="d-1") == b"ok"
    [(path, headers, sent)] = server.seen
    assert (path, sent, headers["Idempotency-Key"]) == ("/hook?x=1", body, "d-1")
    at = int(headers["Turnmill-Signature"].split(",")[0].removeprefix("t="))
    assert is_signed(SECRET, headers["Turnmill-Signature"], sent, now=at)
    assert not is_signed(SECRET, headers["Turnmill-Signature"], sent + b" ", now=at)
    assert not is_signed(b"another", headers["Turnmill-Signature"], sent, now=at)
    assert not is_signed(SECRET, headers["Turnmill-Signature"], sent, now=at + 301)
    assert SECRET.decode() not in str(headers)


def test_a_redirect_is_not_followed(server):
    server.status = 302
    with pytest.raises(RequestFailed, match="found 302"):
        post_json(checked_target(server.url, allow_private=True), b"{}")
    assert len(server.seen) == 1


@pytest.mark.parametrize("header", ["", "t=,v1=", "v1=aa", "t=x,v1=aa", "t=1"])
def test_a_header_of_another_form_is_no_signature(header):
    assert not is_signed(SECRET, header, b"", now=1)


def test_the_time_is_under_the_signature():
    assert signature(SECRET, 1, b"x") != signature(SECRET, 2, b"x")


def test_nobody_there_is_told_without_the_body(server):
    server.http.shutdown()
    server.http.server_close()
    with pytest.raises(RequestFailed, match="wanted an answer") as failed:
        post_json(checked_target(server.url, allow_private=True), b"secret-body")
    assert "secret-body" not in str(failed.value)
