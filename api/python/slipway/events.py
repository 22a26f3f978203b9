"""Server-sent events: one generator that goes on over broken connections.

A stream is asked for again with the id of the last event that arrived (`Last-Event-ID`), so nothing is lost or told twice. The
service sends a comment every 15 seconds; silence of three times that means that the connection is dead. What a slow reader missed
(`gap`) is read as JSON and given in its place.
"""
from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .errors import ServiceUnavailable, TooManyRequests, Unreachable
from .transport import BROKEN, Transport, pauses, query_text

SILENCE_S = 45.0
LINE_BYTES_MAX = 64 << 20


@dataclass(frozen=True)
class Event:
    """One thing that happened."""
    #: Its number, as text: give it as `after` to go on behind it.
    id: str
    #: state, progress, metric, log, checkpoint, compile, warning, gap or end
    type: str
    body: dict[str, Any]


def parse(lines: Iterable[bytes]) -> Iterator[Event | None]:
    """Events of the lines of a stream; None for each comment, which only says that the stream is alive."""
    kind, identity, data = "", "", []
    for raw in lines:
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        if not line:
            if data:
                yield Event(identity, kind or "message", _object("\n".join(data)))
            kind, data = "", []
            continue
        if line.startswith(":"):
            yield None
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "id":
            identity = value
        elif field == "event":
            kind = value
        elif field == "data":
            data.append(value)


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {"text": text}
    return value if isinstance(value, dict) else {"value": value}


def _lines(answer) -> Iterator[bytes]:
    while line := answer.readline(LINE_BYTES_MAX):
        yield line


def stream(transport: Transport, path: str, *, types: Iterable[str] | None = None, query: dict[str, Any] | None = None,
           after: str | int | None = None, patience_s: float = 300.0) -> Iterator[Event | None]:
    """Every event of a stream, over broken connections; None each time the service ended it, which then is asked for again.

    patience_s   how long the service may be away before Unreachable is raised
    """
    last = None if after is None else str(after)
    target = path + query_text({**(query or {}), "types": list(types) if types else None})
    lost_since, waits = None, pauses()
    while True:
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last} if last is not None else {})
        try:
            with transport.stream(target, headers, SILENCE_S) as answer:
                for event in parse(_lines(answer)):
                    lost_since, waits = None, pauses()
                    if event is not None:
                        last = event.id or last
                        yield event
            yield None
            reason = "the stream ended"
        except (*BROKEN, ServiceUnavailable, TooManyRequests, Unreachable) as error:
            reason = str(error) or type(error).__name__
        lost_since = lost_since or time.monotonic()
        if time.monotonic() - lost_since > patience_s:
            raise Unreachable(f"{transport.url} has been away for {patience_s:.0f} s: {reason}")
        time.sleep(next(waits))


def follow(transport: Transport, path: str, has_ended: Callable[[], bool], *, types: Iterable[str] | None = None,
           after: str | int | None = None, patience_s: float = 300.0) -> Iterator[Event]:
    """The events of one object, to its last one (`end`). `has_ended` is asked when a stream ends without it."""
    wanted = set(types) if types else None
    last = after
    for event in stream(transport, path, types=sorted(wanted | {"end"}) if wanted else None, after=after, patience_s=patience_s):
        if event is None:
            # Cut off, or an object whose events have been deleted: its end then never comes.
            if _is_over(transport, path, last or 0, has_ended):
                return
            continue
        last = event.id
        if event.type == "gap":
            yield from _missed(transport, path, int(event.body["from"]), int(event.body["to"]), wanted)
            continue
        if wanted is None or event.type in wanted:
            yield event
        if event.type == "end":
            return


def _is_over(transport: Transport, path: str, last: str | int, has_ended: Callable[[], bool]) -> bool:
    try:
        return has_ended() and not _items(transport, path, last, None, 1)
    except (Unreachable, ServiceUnavailable, TooManyRequests):    # the stream is asked for again, and its patience ends this
        return False


def _items(transport: Transport, path: str, after: str | int, types: list[str] | None, limit: int) -> list[dict[str, Any]]:
    return transport.call("GET", path, query={"after": after, "types": types, "limit": limit})["items"]


def _missed(transport: Transport, path: str, begin: int, end: int, wanted: set[str] | None) -> Iterator[Event]:
    """The events of these numbers, as JSON."""
    after = begin - 1
    while after < end:
        items = _items(transport, path, after, sorted(wanted) if wanted else None, 200)
        for item in items:
            if item["seq"] > end:
                return
            yield Event(str(item["seq"]), item["type"], item["body"] or {})
        if not items:
            return
        after = items[-1]["seq"]
