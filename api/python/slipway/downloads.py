"""Files of checkpoints: fetched in part, continued, and given their name once their checksum is right.

What has arrived stays in NAME.part, so the next call continues after a break or a restart. The part is locked: two downloads of one
file never write into each other.
"""
from __future__ import annotations

import fcntl
import hashlib
import os
import pathlib
import time
from collections.abc import Callable

from .errors import DiskError, IntegrityError, ServiceUnavailable, Unreachable
from .transport import BROKEN, Transport, pauses, quoted

PIECE_BYTES = 1 << 20
Report = Callable[[int, int], None]    # (bytes so far, bytes in all)


def checkpoint_file(transport: Transport, checkpoint: dict, name: str, target: pathlib.Path, report: Report,
                    patience_s: float) -> pathlib.Path:
    """The file `name` of a checkpoint's document, as `target`."""
    entry = next((file for file in checkpoint["files"] if file["name"] == name), None)
    if entry is None:
        raise FileNotFoundError(f"checkpoint {checkpoint['id']} has no file `{name}`; it has "
                                + ", ".join(file["name"] for file in checkpoint["files"]))
    part = target.with_name(target.name + ".part")
    with open(part, "ab") as file:
        _lock(file, part)
        if file.tell() > entry["bytes"]:
            file.truncate(0)
        path = f"/v1/checkpoints/{quoted(checkpoint['id'])}/files/{quoted(name)}"
        _fetch(transport, path, file, entry["bytes"], report, patience_s)
        os.fsync(file.fileno())
        if sha256_of(part) != entry["sha256"]:
            part.unlink()
            raise IntegrityError(f"what arrived is not {name} of {checkpoint['id']}: the checksums differ; it was removed, try again")
        os.replace(part, target)
    return target


def exported_weights(transport: Transport, checkpoint: str, query: str, target: pathlib.Path, patience_s: float) -> pathlib.Path:
    """The weights of a checkpoint for other frameworks. Made while they are sent, so each try begins again."""
    part = target.with_name(target.name + ".part")
    end, waits = time.monotonic() + patience_s, pauses()
    try:
        with open(part, "wb") as file:
            _lock(file, part)
            while True:
                file.truncate(0)
                file.seek(0)
                try:
                    _receive(transport, f"/v1/checkpoints/{quoted(checkpoint)}/weights.safetensors{query}", {}, file, lambda _: None)
                    break
                except (*BROKEN, ServiceUnavailable) as error:
                    _give_up(transport, error, end)
                    time.sleep(next(waits))
            file.flush()
            os.fsync(file.fileno())
            os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
    return target


def _fetch(transport: Transport, path: str, file, size: int, report: Report, patience_s: float) -> None:
    """Appends what is missing, over broken connections."""
    end, waits = time.monotonic() + patience_s, pauses()
    report(file.tell(), size)
    while (have := file.tell()) < size:
        try:
            headers = {"Range": f"bytes={have}-"} if have else {}
            _receive(transport, path, headers, file, lambda count: report(count, size))
        except (*BROKEN, ServiceUnavailable) as error:
            file.flush()
            if file.tell() > have:
                end, waits = time.monotonic() + patience_s, pauses()
            _give_up(transport, error, end)
            time.sleep(next(waits))
        if file.tell() > size:
            raise IntegrityError(f"{path} has more than the {size} bytes that were named")
    file.flush()


def _receive(transport: Transport, path: str, headers: dict[str, str], file, report: Callable[[int], None]) -> None:
    """Appends the body of an answer. A body that is shorter than it says raises IncompleteRead."""
    with transport.stream(path, headers, transport.timeout_s) as answer:
        if headers and answer.status != 206:
            file.truncate(0)
            file.seek(0)
        while piece := answer.read(PIECE_BYTES):
            try:
                file.write(piece)
            except OSError as error:    # of the disk, not of the connection: another try does not help
                raise DiskError(f"{file.name} cannot be written: {error.strerror}") from error
            report(file.tell())
        if answer.length:
            raise ConnectionResetError("the connection broke off")


def _give_up(transport: Transport, error: BaseException, end: float) -> None:
    if time.monotonic() > end:
        raise Unreachable(f"{transport.url} broke off: {error or type(error).__name__}; call again to continue") from error


def _lock(file, part: pathlib.Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise FileExistsError(f"{part} is being written by another download") from error


def sha256_of(path: pathlib.Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
