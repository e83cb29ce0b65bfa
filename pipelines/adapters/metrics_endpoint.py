"""An HTTP endpoint for probes and Prometheus: ``/metrics``, ``/ready``, ``/health``. It listens on loopback by default.

Ready means that every job does what it should; healthy, that the supervisor itself moves on, whatever its jobs do: an
orchestrator that restarts what is not healthy would otherwise undo the back-off of a job.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import orjson
from prometheus_client import CollectorRegistry, make_wsgi_app

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

Troubles = dict[str, str]
OK, UNAVAILABLE, NOT_FOUND = "200 OK", "503 Service Unavailable", "404 Not Found"
HOST = "127.0.0.1"


class EndpointError(RuntimeError):
    """The endpoint cannot listen where it should."""

    safe_to_show = True


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name in http.server
        """Keep no log of requests."""


class Endpoint:
    """Answers with the metrics of ``registry`` and with what ``troubles`` and ``beats`` tell."""

    def __init__(
        self, registry: CollectorRegistry, troubles: Callable[[], Troubles], beats: Callable[[], bool]
    ) -> None:
        self._metrics = make_wsgi_app(registry)
        self._troubles, self._beats = troubles, beats

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request (PEP 3333)."""
        path = environ.get("PATH_INFO", "/")
        if path == "/metrics":
            return self._metrics(environ, start_response)
        if path == "/ready":
            troubles = self._troubles()
            return _json(start_response, UNAVAILABLE if troubles else OK, ready=not troubles, troubles=troubles)
        if path == "/health":
            beats = self._beats()
            return _json(start_response, OK if beats else UNAVAILABLE, healthy=beats)
        return _json(start_response, NOT_FOUND, error="wanted /metrics, /ready or /health")


def _json(start_response: StartResponse, status: str, **body: Any) -> list[bytes]:
    start_response(status, [("Content-Type", "application/json"), ("Cache-Control", "no-store")])
    return [orjson.dumps(body) + b"\n"]


@contextmanager
def serving(endpoint: Endpoint, port: int, host: str = HOST) -> Iterator[int]:
    """Serve in a thread; yield the port, a free one where ``port`` is 0. Errors: ``EndpointError`` when it is taken."""
    try:
        server = make_server(host, port, endpoint, server_class=_Server, handler_class=_Quiet)
    except OSError as error:
        raise EndpointError(
            f"wanted to serve metrics at {host}:{port}, found that it cannot be listened on ({error.strerror}); "
            "give another --metrics-port."
        ) from None
    thread = threading.Thread(target=server.serve_forever, name="metrics", daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
