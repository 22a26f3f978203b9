"""HTTP to one service.

A request is repeated only where a repetition changes nothing: everything but POST, and POST with an Idempotency-Key, which the
service answers with the first answer again. Repeated are requests whose connection broke, and answers that say "not now" (429,
503, and 409 while the first one with the same key still runs), for `retry_s` seconds with growing pauses. A request that must not
be repeated uses a fresh connection: on a kept one nobody can tell an unread request from a lost answer.

One connection is kept per thread, and none is shared with a forked process.
"""
from __future__ import annotations

import http.client
import json
import os
import random
import secrets
import socket
import ssl
import threading
import time
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from . import configuration
from .errors import Unreachable, service_error

PAUSE_MAX_S = 5.0
NOT_NOW = {429, 503}
BROKEN = (OSError, http.client.HTTPException)


@dataclass(frozen=True)
class Reply:
    """An answer as it came."""
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def json(self, address: str = "") -> Any:
        try:
            return json.loads(self.body)
        except ValueError as error:
            raise Unreachable(f"{address} did not answer with Slipway's JSON; is the address right?") from error


def new_key() -> str:
    """An Idempotency-Key of its own."""
    return secrets.token_hex(16)


def quoted(value: object) -> str:
    """A part of a path."""
    return urllib.parse.quote(str(value), safe="")


def query_text(query: dict[str, Any] | None) -> str:
    """`?a=1&b=x,y`; what is None is left out."""
    pairs = [(name, _query_value(value)) for name, value in (query or {}).items() if value is not None]
    return "?" + urllib.parse.urlencode(pairs) if pairs else ""


def _query_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, value)) if isinstance(value, (list, tuple, set)) else str(value)


def pauses() -> Iterator[float]:
    """Seconds between tries: growing, and never the same for two clients."""
    pause = 0.2
    while True:
        yield pause * random.uniform(0.75, 1.25)
        pause = min(PAUSE_MAX_S, pause * 2)


class Transport:
    """Sends requests to one service with one token. May be used by several threads."""

    def __init__(self, url: str | None = None, token: str | None = None, *, context: str | None = None, home: str | None = None,
                 certificate_authority: str | None = None, timeout_s: float = 60.0, retry_s: float = 15.0):
        """
        url, token, context, home   which service, by default as the command line finds it
        timeout_s   longest silence while an answer is awaited
        retry_s     how long a request that may be repeated is repeated
        """
        settings = configuration.settings_of(url, token, context, home, certificate_authority)
        self.url = settings.url
        self.timeout_s = timeout_s
        self.retry_s = retry_s
        self._token = settings.token
        self._parts = urllib.parse.urlsplit(settings.url)
        self._tls = ssl.create_default_context(cafile=settings.certificate_authority) if self._parts.scheme == "https" else None
        self._kept = threading.local()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.url}>"

    # ---- documents ----------------------------------------------------------
    def call(self, method: str, path: str, *, query: dict[str, Any] | None = None, body: Any = None,
             idempotency_key: str | None = None, wait_s: int | None = None) -> Any:
        """The JSON document of an answer; None where it has none. Raises ServiceError."""
        reply = self._request(method, path, query, body, idempotency_key, wait_s)
        return reply.json(self.url) if reply.body else None

    def call_text(self, method: str, path: str, **request: Any) -> str:
        """The text of an answer. Raises ServiceError."""
        return self.call_bytes(method, path, **request).decode()

    def call_bytes(self, method: str, path: str, *, query: dict[str, Any] | None = None, body: Any = None,
                   idempotency_key: str | None = None, wait_s: int | None = None) -> bytes:
        """The bytes of an answer. Raises ServiceError."""
        return self._request(method, path, query, body, idempotency_key, wait_s).body

    def _request(self, method: str, path: str, query: dict[str, Any] | None, body: Any, key: str | None,
                 wait_s: int | None) -> Reply:
        headers = {"Idempotency-Key": key} if key else {}
        if wait_s:
            headers["Prefer"] = f"wait={wait_s}"
        content = None
        if body is not None:
            content = json.dumps(body, allow_nan=False).encode()
            headers["Content-Type"] = "application/json"
        reply = self.send(method, path + query_text(query), content, headers, repeatable=method != "POST" or bool(key),
                          silence_s=self.timeout_s + (wait_s or 0))
        return reply

    # ---- requests -----------------------------------------------------------
    def send(self, method: str, target: str, content: bytes | None = None, headers: dict[str, str] | None = None, *,
             repeatable: bool = True, silence_s: float | None = None) -> Reply:
        """The 2xx answer to a request. Raises ServiceError for another one, Unreachable when there is none."""
        end = time.monotonic() + self.retry_s
        is_uncertain = False    # an earlier try may have been carried out
        for pause in pauses():
            is_last = time.monotonic() + pause > end
            try:
                reply = self._send_once(method, target, content, headers or {}, repeatable, silence_s or self.timeout_s)
            except BROKEN as error:
                is_refused = isinstance(error, ConnectionRefusedError)
                if is_last or _is_hopeless(error) or not (repeatable or is_refused):
                    raise Unreachable(f"{self.url} does not answer: {error or type(error).__name__}") from error
                is_uncertain = is_uncertain or not is_refused
            else:
                if 200 <= reply.status < 300:
                    return reply
                if method == "DELETE" and reply.status == 404 and is_uncertain:
                    return Reply(204, reply.headers, b"")
                if is_last or not _is_worth_repeating(reply, repeatable):
                    raise self.error_of(reply)
                pause = max(pause, min(_retry_after_s(reply), max(0.0, end - time.monotonic())))
            time.sleep(pause)
        raise AssertionError("pauses never end")

    def _send_once(self, method: str, target: str, content: bytes | None, headers: dict[str, str], is_kept: bool,
                   silence_s: float) -> Reply:
        connection = self._connection(silence_s) if is_kept else self._connect(silence_s)
        was_used = connection.sock is not None
        try:
            connection.request(method, self._parts.path + target, content, self._with_token(headers))
            answer = connection.getresponse()
            reply = Reply(answer.status, answer.headers, answer.read())
        except BROKEN:
            self._drop(connection)
            if not was_used:
                raise
            # The service closes a connection that was idle for long: that is no failure of this request.
            return self._send_once(method, target, content, headers, is_kept, silence_s)
        except BaseException:
            self._drop(connection)
            raise
        if not is_kept or answer.will_close:
            self._drop(connection)
        return reply

    @contextmanager
    def stream(self, target: str, headers: dict[str, str], silence_s: float) -> Iterator[http.client.HTTPResponse]:
        """The answer to a GET, to be read piece by piece. Raises ServiceError for one that is not 2xx; what breaks raises
        OSError or HTTPException, here and while it is read."""
        connection = self._connect(silence_s)
        try:
            connection.request("GET", self._parts.path + target, headers=self._with_token(headers))
            answer = connection.getresponse()
            if not 200 <= answer.status < 300:
                raise self.error_of(Reply(answer.status, answer.headers, answer.read()))
            yield answer
        finally:
            connection.close()

    def error_of(self, reply: Reply) -> Exception:
        """The exception of an answer that is not 2xx."""
        try:
            problem = json.loads(reply.body)
        except ValueError:
            problem = None
        if not isinstance(problem, dict):
            return Unreachable(f"{self.url} answered {reply.status} without a reason; is the address right?")
        return service_error(reply.status, problem)

    def _with_token(self, headers: dict[str, str]) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}", "User-Agent": "slipway-python", **headers}

    # ---- connections --------------------------------------------------------
    def _connect(self, silence_s: float) -> http.client.HTTPConnection:
        host = self._parts.hostname
        if self._tls:
            return http.client.HTTPSConnection(host, self._parts.port or 443, timeout=silence_s, context=self._tls)
        return http.client.HTTPConnection(host, self._parts.port or 80, timeout=silence_s)

    def _connection(self, silence_s: float) -> http.client.HTTPConnection:
        """That of this thread; a forked process has its own."""
        kept = getattr(self._kept, "connection", None)
        if kept is None or self._kept.process != os.getpid():
            kept = self._kept.connection = self._connect(silence_s)
            self._kept.process = os.getpid()
        kept.timeout = silence_s
        if kept.sock is not None:
            kept.sock.settimeout(silence_s)
        return kept

    def _drop(self, connection: http.client.HTTPConnection) -> None:
        connection.close()
        if getattr(self._kept, "connection", None) is connection:
            self._kept.connection = None


def _is_worth_repeating(reply: Reply, repeatable: bool) -> bool:
    if reply.status == 429:
        return True    # nothing was done
    if reply.status == 409 and b"idempotency_in_flight" in reply.body:
        return True
    return repeatable and reply.status in NOT_NOW


def _retry_after_s(reply: Reply) -> float:
    text = reply.headers.get("Retry-After", "")
    return float(text) if text.isdigit() else 0.0


def _is_hopeless(error: BaseException) -> bool:
    """What another try will not change."""
    return isinstance(error, ssl.SSLCertVerificationError) or (isinstance(error, socket.gaierror)
                                                               and error.errno == socket.EAI_NONAME)
