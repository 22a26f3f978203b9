"""Uploads in pieces, continued where the service says.

The key of an upload is made from the file's name, size and checksum. A call that begins again, in this process or in another one,
is therefore given the same upload by the service and sends only what is missing.
"""
from __future__ import annotations

import hashlib
import pathlib
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .downloads import sha256_of
from .endpoints import Endpoints
from .errors import Conflict, NotFound, ServiceUnavailable, TooManyRequests, Unreachable
from .transport import BROKEN, pauses, quoted

PIECE_BYTES = 8 << 20
Report = Callable[[int, int], None]


def upload_file(client: Endpoints, path: pathlib.Path, filename: str, report: Report, patience_s: float) -> str:
    """The id of a complete upload with the bytes of `path`."""
    size = path.stat().st_size
    if size == 0:
        raise ValueError(f"{path} is empty")
    request = {"filename": filename, "size": size, "sha256": sha256_of(path)}
    key = hashlib.sha256(f"upload:{filename}:{size}:{request['sha256']}".encode()).hexdigest()
    upload = client.create_upload(request, idempotency_key=key)
    try:
        upload = client.get_upload(upload["id"])
    except NotFound:    # the one that this key made has been deleted or has expired since
        upload = client.create_upload(request)
    if not upload["complete"]:
        _send(client, upload["id"], path, size, upload["received"], report, patience_s)
        client.complete_upload(upload["id"])
    report(size, size)
    return upload["id"]


def _send(client: Endpoints, upload: str, path: pathlib.Path, size: int, offset: int, report: Report, patience_s: float) -> None:
    end, waits = time.monotonic() + patience_s, pauses()
    with open(path, "rb") as file:
        while offset < size:
            report(offset, size)
            file.seek(offset)
            piece = file.read(min(PIECE_BYTES, size - offset))
            if not piece:
                raise ValueError(f"{path} became shorter while it was sent")
            try:
                client.send("PATCH", f"/v1/uploads/{quoted(upload)}", piece,
                            {"Content-Type": "application/octet-stream", "Upload-Offset": str(offset)}, repeatable=False)
                offset += len(piece)
            except Conflict:    # a part of an earlier try has arrived
                offset = client.get_upload(upload)["received"]
                continue
            except (*BROKEN, Unreachable, ServiceUnavailable, TooManyRequests) as error:
                if time.monotonic() > end:
                    raise Unreachable(f"the upload of {path} broke off after {offset} of {size} bytes; call again to continue") from error
                time.sleep(next(waits))
                offset = _received(client, upload, offset)
                continue
            end, waits = time.monotonic() + patience_s, pauses()


def _received(client: Endpoints, upload: str, offset: int) -> int:
    """Where to go on; `offset` while the service is still away."""
    try:
        return client.get_upload(upload)["received"]
    except (Unreachable, ServiceUnavailable):
        return offset


@contextmanager
def packed(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    """A tar of the files of a folder, without hidden ones. The same files give the same bytes, so an upload can be continued."""
    files = sorted(path for path in folder.rglob("*") if path.is_file()
                   and not any(part.startswith(".") for part in path.relative_to(folder).parts))
    if not files:
        raise ValueError(f"{folder} has no files")
    with tempfile.TemporaryDirectory(prefix="slipway-") as temporary:
        target = pathlib.Path(temporary) / f"{folder.resolve().name}.tar"
        with tarfile.open(target, "w", dereference=True, format=tarfile.GNU_FORMAT) as archive:
            for path in files:
                archive.add(path, path.relative_to(folder).as_posix(), recursive=False, filter=_without_traces)
        yield target


def _without_traces(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Without times and owners. A hard link is written as the file that it is."""
    entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname, entry.mode = 0, 0, 0, "", "", 0o644
    return entry
