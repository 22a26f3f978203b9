#!/usr/bin/env python3
"""What small inputs cost the service: memory, the answer of /healthz, lines of the log, entries on disk.

Each case starts a fresh service of each build and sends what a hostile client, with one token or none, can send. While it
does, /healthz is asked every 20 ms from a process of its own and memory is looked at as often: `service_mib` is the
peak of slipwayd, `program_mib` that of any program it runs (executors that check datasets), both resident without pages
of files; `inodes` is the peak of those in use on the whole file system, beyond those before; `entries` are left at the end.

usage: bench/hostile_inputs.py --bin build/release/bin [--other BIN] [--case NAME ...]
"""

import argparse
import concurrent.futures
import contextlib
import gzip
import http.client
import io
import json
import multiprocessing
import os
import pathlib
import socket
import struct
import sys
import tarfile
import threading
import time
import zipfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))
MIB = 1 << 20


# ---- What is sent -----------------------------------------------------------
def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def header(side):
    return struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)


def png(side, before=b"", after=b""):
    pixels = b"".join(b"\0" + bytes(3 * side) for _ in range(min(side, 64)))
    return (b"\x89PNG\r\n\x1a\n" + before + chunk(b"IHDR", header(side)) + after + chunk(b"IDAT", zlib.compress(pixels)) +
            chunk(b"IEND", b""))


def zip_of(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def long_names(labels):
    lines = ["x,label"] + [f"{number},{number}{'a' * 1_000_000}" for number in range(labels)]
    return gzip.compress("\n".join(lines).encode(), 9)


def folders(chains, depth):
    """An archive of two images and `chains` empty files, each of which makes `depth` folders within one another."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=9) as archive:
        for number in range(chains):
            archive.addfile(tarfile.TarInfo(f"{number}" + "/a" * depth))
        for name in ("a/a.png", "b/b.png"):
            entry = tarfile.TarInfo(name)
            entry.size = len(png(8))
            archive.addfile(entry, io.BytesIO(png(8)))
    return buffer.getvalue()


# ---- How it is sent ---------------------------------------------------------
def upload(service, filename, content, sha256=None):
    """The id of an upload, or the status of the answer that refused it."""
    body = {"filename": filename, "size": len(content)}
    if sha256:
        body["sha256"] = sha256
    made = service.call("POST", "/v1/uploads", body)
    if made.status != 201:
        return made.status
    sent = service.call("PATCH", f"/v1/uploads/{made.json['id']}", content,
                        {"Content-Type": "application/octet-stream", "Upload-Offset": "0"}, timeout_s=120)
    assert sent.status in (200, 204), (sent.status, sent.body)
    return made.json["id"]


def check(service, name, filename, content, format, options=None):
    """The state of a dataset made of an upload, once its check has ended."""
    made = upload(service, filename, content)
    service.post(f"/v1/uploads/{made}/complete", None)
    answer = service.call("POST", "/v1/datasets", {"name": name, "format": format, "source": {"upload": made},
                                                   "options": options or {}})
    if answer.status not in (200, 201, 202):
        return str(answer.status)
    end = time.monotonic() + 120
    while time.monotonic() < end:
        state = service.get(f"/v1/datasets/{name}")["state"]
        if state != "checking":
            return state
        time.sleep(0.1)
    return "checking after 120 s"


def count_statuses(statuses):
    return {str(status): statuses.count(status) for status in sorted(set(statuses), key=str)}


def silent(service, content):
    """The connection of a POST without a token that has sent its body as far as it was taken; None: no connection."""
    with contextlib.suppress(OSError):
        connection = socket.create_connection(("127.0.0.1", service.port), 5)
        connection.settimeout(5)
        with contextlib.suppress(OSError):
            connection.sendall(b"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                               b"Content-Length: 1048576\r\n\r\n" + content)
        return connection
    return None


# ---- The cases: each returns figures of its own -----------------------------
def chunk_before_header(service):
    content = zip_of({"a/a.png": png(29_000, before=chunk(b"teSt", header(8))), "b/b.png": png(8)})
    return {"sent_bytes": len(content), "state": check(service, "pixels", "pixels.zip", content, "image_folder")}


def long_labels(service):
    content = long_names(300)
    return {"sent_bytes": len(content),
            "state": check(service, "names", "names.csv.gz", content, "csv", {"label_column": "label"})}


def lists_of_datasets(service):
    content = long_names(3)
    for number in range(12):
        check(service, f"names-{number}", "names.csv.gz", content, "csv", {"label_column": "label"})
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: service.call("GET", "/v1/datasets", timeout_s=120), range(64)))
    return {"sent_bytes": 12 * len(content), "answer_bytes": max(len(answer.body) for answer in answers)}


def wrong_checksums(service):
    made = upload(service, "zeros.bin", bytes(600 * MIB), "0" * 64)
    if isinstance(made, int):
        return {"refused": made}
    with concurrent.futures.ThreadPoolExecutor(24) as pool:
        answers = list(pool.map(lambda _: service.call("POST", f"/v1/uploads/{made}/complete", timeout_s=300).status, range(24)))
    return {"answers": count_statuses(answers)}


def bodies_without_a_token(service):
    with concurrent.futures.ThreadPoolExecutor(64) as pool:
        connections = [one for one in pool.map(lambda _: silent(service, bytes(MIB - 1)), range(1000)) if one]
    time.sleep(2)
    for connection in connections:
        connection.close()
    return {}


def long_paths(service):
    path = "/" + "a" * 8000
    ends, asked = time.monotonic() + 5, [0] * 4

    def ask(place):
        while time.monotonic() < ends:
            with contextlib.suppress(OSError, http.client.HTTPException):
                connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=5)
                while time.monotonic() < ends:
                    connection.request("GET", path)
                    connection.getresponse().read()
                    asked[place] += 1
    threads = [threading.Thread(target=ask, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"requests": sum(asked)}


def many_folders(service):
    content = folders(1500, 66)
    return {"sent_bytes": len(content), "state": check(service, "folders", "folders.tar.gz", content, "image_folder")}


def compressed_text(service):
    text = chunk(b"zTXt", b"k\0\0" + zlib.compress(bytes(7_900_000), 9))
    content = zip_of({"a/a.png": png(8, after=text * 1000), "b/b.png": png(8)})
    began = time.monotonic()
    state = check(service, "text", "text.zip", content, "image_folder")
    return {"sent_bytes": len(content), "seconds": round(time.monotonic() - began, 1), "state": state}


def announced_uploads(service):
    answers = [service.call("POST", "/v1/uploads", {"filename": "a.bin", "size": 16 << 30}).status for _ in range(40)]
    return {"announced_gib": 640, "answers": count_statuses(answers)}


def jobs_and_tokens(service):
    import service as programs
    programs.write_points(service.data / "points")
    service.dataset("points", "csv", {"group_column": "family"})
    held = json.dumps(programs.points_job(limits={"start_after": "2099-01-01T00:00:00Z"}))
    jobs = [service.call("POST", "/v1/jobs", held).status for _ in range(2500)]
    tokens = [service.call("POST", "/v1/tokens", {"name": f"t{number}", "role": "viewer"}).status for number in range(1500)]
    return {"jobs": count_statuses(jobs), "tokens": count_statuses(tokens)}


CASES = {one.__name__: one for one in (
    chunk_before_header, long_labels, lists_of_datasets, wrong_checksums, bodies_without_a_token, long_paths, many_folders,
    compressed_text, announced_uploads, jobs_and_tokens)}


# ---- What it costs ----------------------------------------------------------
def ask_health(port, stop, slowest_ms):
    while not stop.is_set():
        began = time.monotonic()
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request("GET", "/healthz")
            answered = connection.getresponse().status == 200
            connection.close()
        except (OSError, http.client.HTTPException):
            answered = False
        taken_ms = 1000 * (time.monotonic() - began)
        slowest_ms.value = max(slowest_ms.value, taken_ms if answered else 60_000.0)
        time.sleep(0.02)


def resident_mib(process):
    """Resident memory, without pages of files that others share, as the kernel counts it now."""
    with contextlib.suppress(OSError, StopIteration):
        text = pathlib.Path(f"/proc/{process}/status").read_text()
        return int(next(line for line in text.splitlines() if line.startswith("RssAnon")).split()[1]) / 1024
    return 0.0


def programs_of(home):
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                command = (folder / "cmdline").read_bytes()
                if b"slipway-executor" in command and str(home).encode() in command:
                    found.append(int(folder.name))
    return found


def watch(service, stop, peaks):
    before = used_inodes(service.home)
    while not stop.is_set():
        peaks["service_mib"] = max(peaks["service_mib"], resident_mib(service.process.pid))
        for process in programs_of(service.home):
            peaks["program_mib"] = max(peaks["program_mib"], resident_mib(process))
        peaks["inodes"] = max(peaks["inodes"], used_inodes(service.home) - before)
        time.sleep(0.02)


def used_inodes(folder):
    of = os.statvfs(folder)
    return of.f_files - of.f_ffree


def size_of_logs(home):
    return sum(file.stat().st_size for pattern in ("slipwayd.log*", "out.log") for file in home.glob(pattern))


def entries(home):
    return sum(len(folders) + len(files) for top, folders, files in os.walk(home) if "postgres" not in top)


def measure(bin_folder, case):
    import service as programs
    programs.BIN = pathlib.Path(bin_folder).resolve()
    service = programs.Service()
    stop, asked_stop, slowest_ms = threading.Event(), multiprocessing.Event(), multiprocessing.Value("d", 0.0)
    try:
        service.start()
        before_log, before_entries = size_of_logs(service.home), entries(service.home)
        peaks = {"service_mib": 0.0, "program_mib": 0.0, "inodes": 0}
        watcher = threading.Thread(target=watch, args=(service, stop, peaks))
        asker = multiprocessing.Process(target=ask_health, args=(service.port, asked_stop, slowest_ms))
        watcher.start()
        asker.start()
        try:
            figures = CASES[case](service)
        finally:
            asked_stop.set()
            asker.join()
            stop.set()
            watcher.join()
        figures |= {name: round(value, 1) for name, value in peaks.items()}
        figures |= {"healthz_slowest_ms": round(slowest_ms.value, 1), "log_bytes": size_of_logs(service.home) - before_log,
                    "entries": entries(service.home) - before_entries}
        return figures
    finally:
        stop.set()
        asked_stop.set()
        service.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"), help="programs of the first build")
    parser.add_argument("--other", default="", help="programs of the build to compare with")
    parser.add_argument("--case", action="append", choices=list(CASES), default=[], help="only this case; may be repeated")
    arguments = parser.parse_args()
    sides = {"first": arguments.bin} | ({"other": arguments.other} if arguments.other else {})
    for case in arguments.case or CASES:
        for side, programs in sides.items():
            print(json.dumps({"case": case, "build": side} | measure(programs, case)), flush=True)


if __name__ == "__main__":
    main()
