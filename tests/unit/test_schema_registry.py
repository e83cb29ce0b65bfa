"""Schemas come from the registry once, an outage is told as one, and no credential is shown."""

import base64
import json
import pickle
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from pipelines.adapters import schema_registry
from pipelines.adapters.schema_registry import SchemaRegistry, SchemaRegistryConfigError
from pipelines.intake.writer_schemas import SchemasUnavailable, WriterSchema

GUID = "89791762-2336-4186-9674-299b90a802e2"
NOT_FOUND = (404, {"error_code": 40403, "message": "Schema 9 not found"})
PASSWORD = "not-a-real-password"


class Server:
    """A loopback server with documented answers of the REST interface: path -> status and body, or a list of them."""

    def __init__(self):
        self.answers = {}
        self.asked = []
        self.headers = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                server.asked.append(self.path)
                server.headers.append(dict(self.headers))
                answer = server.answers.get(self.path, NOT_FOUND)
                if isinstance(answer, list):
                    answer = answer.pop(0) if len(answer) > 1 else answer[0]
                status, body = answer
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(schema_registry, "BACKOFF_SECONDS", 0.001)
    started = Server()
    yield started
    started.http.shutdown()
    started.http.server_close()


@pytest.fixture
def auth(tmp_path):
    path = tmp_path / "auth"
    path.write_text(f"turnmill:{PASSWORD}\n")
    path.chmod(0o600)
    return path


def test_a_schema_without_a_type_is_avro_and_is_asked_for_once(server):
    server.answers["/schemas/ids/7"] = 200, {"schema": '"string"'}
    registry = SchemaRegistry(server.url + "/")
    assert registry.schema(7) == WriterSchema("AVRO", '"string"')
    assert pickle.loads(pickle.dumps(registry)).schema(7) == WriterSchema("AVRO", '"string"')
    assert server.asked == ["/schemas/ids/7"]


def test_a_schema_is_found_by_guid_with_its_type(server):
    server.answers[f"/schemas/guids/{GUID}"] = 200, {"schema": "{}", "schemaType": "JSON", "guid": GUID}
    assert SchemaRegistry(server.url).schema(GUID) == WriterSchema("JSON", "{}")


def test_references_come_each_after_those_that_it_needs_and_once(server):
    def reference(subject):
        return {"name": subject, "subject": subject, "version": 1}

    server.answers["/schemas/ids/1"] = 200, {"schema": "top", "references": [reference("b/x"), reference("a")]}
    server.answers["/subjects/b%2Fx/versions/1?deleted=true"] = 200, {"schema": "B", "references": [reference("a")]}
    server.answers["/subjects/a/versions/1?deleted=true"] = 200, {"subject": "a", "version": 1, "id": 3, "schema": "A"}
    assert SchemaRegistry(server.url).schema(1) == WriterSchema("AVRO", "top", ("A", "B"))
    assert len(server.asked) == 3


def test_references_in_a_circle_end(server):
    circle = {"schema": "C", "references": [{"name": "c", "subject": "c", "version": 2}]}
    server.answers["/schemas/ids/1"] = server.answers["/subjects/c/versions/2?deleted=true"] = 200, circle
    assert SchemaRegistry(server.url).schema(1) == WriterSchema("AVRO", "C", ("C",))


def test_an_unknown_schema_is_none_and_is_asked_for_again_later(server, monkeypatch):
    registry = SchemaRegistry(server.url)
    assert registry.schema(9) is None
    assert registry.schema(9) is None
    assert len(server.asked) == 1
    monkeypatch.setattr(schema_registry, "UNKNOWN_SECONDS", 0)
    server.answers["/schemas/ids/9"] = 200, {"schema": '"int"'}
    assert registry.schema(9) == WriterSchema("AVRO", '"int"')


def test_a_passing_fault_is_tried_again(server):
    server.answers["/schemas/ids/5"] = [(503, b""), (500, {"error_code": 50001}), (200, {"schema": '"int"'})]
    assert SchemaRegistry(server.url).schema(5) == WriterSchema("AVRO", '"int"')


@pytest.mark.parametrize(
    "answer",
    [
        (500, {"error_code": 50001, "message": "store"}),
        (401, {"error_code": 401}),
        (403, b"<html>"),
        (404, b"<html>not a registry</html>"),
        (404, {"detail": "no such page"}),
        (200, b"<html>"),
        (200, []),
        (200, {"id": 3}),
        (200, {"schema": "x", "references": [{"name": "y"}]}),
        (302, b""),
    ],
)
def test_all_that_is_not_an_answer_of_a_registry_is_an_outage_and_no_verdict_on_the_record(server, answer):
    server.answers["/schemas/ids/4"] = answer
    registry = SchemaRegistry(server.url)
    with pytest.raises(SchemasUnavailable):
        registry.schema(4)
    server.answers["/schemas/ids/4"] = 200, {"schema": '"int"'}
    assert registry.schema(4) == WriterSchema("AVRO", '"int"')


def test_a_registry_that_is_not_there_is_an_outage(server):
    server.http.shutdown()
    server.http.server_close()
    with pytest.raises(SchemasUnavailable, match="cannot be reached"):
        SchemaRegistry(server.url).schema(1)


def test_a_missing_reference_makes_the_schema_unknown(server):
    server.answers["/schemas/ids/6"] = 200, {"schema": "x", "references": [{"name": "y", "subject": "y", "version": 1}]}
    assert SchemaRegistry(server.url).schema(6) is None


def test_credentials_come_from_the_file_and_are_never_shown(server, auth):
    server.answers["/schemas/ids/2"] = 401, {"error_code": 401}
    registry = SchemaRegistry(server.url, auth)
    with pytest.raises(SchemasUnavailable) as refused:
        registry.schema(2)
    sent = base64.b64decode(server.headers[0]["authorization"].split()[1]).decode()
    assert sent == f"turnmill:{PASSWORD}"
    assert PASSWORD not in f"{refused.value} {refused.value!r} {registry!r}"
    assert PASSWORD.encode() not in pickle.dumps(registry)


@pytest.mark.parametrize(
    "url", ["", "registry.example.com", "ftp://registry.example.com", "http://", "http://u:p@example.com"]
)
def test_an_address_that_cannot_be_used_is_told_without_its_credentials(url):
    with pytest.raises(SchemaRegistryConfigError) as refused:
        SchemaRegistry(url)
    assert "u:p" not in str(refused.value)


def test_a_credentials_file_that_others_may_read_is_refused(server, auth):
    auth.chmod(0o640)
    with pytest.raises(SchemaRegistryConfigError, match="0640"):
        SchemaRegistry(server.url, auth).check()


@pytest.mark.parametrize("text", ["", "no-colon-in-it", "two:lines\nof:it"])
def test_a_credentials_file_of_another_form_is_refused_without_a_quote(server, auth, text):
    auth.write_text(text)
    with pytest.raises(SchemaRegistryConfigError) as refused:
        SchemaRegistry(server.url, auth).check()
    assert not text or text not in str(refused.value)


def test_missing_files_are_told_at_the_start(server, tmp_path):
    for missing in ({"auth": tmp_path / "none"}, {"ca": tmp_path / "none"}):
        with pytest.raises(SchemaRegistryConfigError):
            SchemaRegistry(server.url, **missing).check()
