#!/usr/bin/env python3
"""What slow clients cost everybody else: slowhttptest (Debian's package of that name) in its four modes against the service.

For each mode, with so many connections that send their headers or bodies a few bytes at a time, ask for overlapping ranges or
read their answers slowly, another client asks for the list of jobs at a fixed rate from an address of its own. Prints one
line of JSON: per mode the other client's p50 and p99 in milliseconds, how many of its requests had no answer or another status than
200, and how many connections the service held at most; `quiet` is the same client alone.

usage: bench/slow_clients.py [--connections 2000] [--rate 200] [--seconds 20] [--bin build/release/bin]
"""
import argparse
import http.client
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))
# Mode: its options. A page of events is what is read slowly: it is larger than the buffers of a connection.
MODES = {"slow_headers": ["-H", "-i", "2"], "slow_body": ["-B", "-i", "2", "-s", "8192"],
         "ranges": ["-R", "-a", "5", "-b", "3000"],
         "slow_read": ["-X", "-k", "10", "-n", "2", "-w", "16", "-y", "64", "-z", "8"]}
WARM_UP_S = 5    # until the slow clients are connected


def other_client(service, arguments):
    token_file = service.home / "other.token"
    token_file.write_text(service.token)
    done = subprocess.run(
        [arguments.load, "--port", str(service.port), "--from", "127.0.0.2", "--path", "/v1/jobs", "--token-file", token_file,
         "--rate", str(arguments.rate), "--seconds", str(arguments.seconds), "--warm-up", str(WARM_UP_S)],
        capture_output=True, text=True, check=False)
    if not done.stdout:
        raise SystemExit(done.stderr)
    found = json.loads(done.stdout)
    bad = sum(count for status, count in found["statuses"].items() if status != "200")
    return {"p50_ms": round(found["p50_ms"], 2), "p99_ms": round(found["p99_ms"], 2),
            "refused": bad + found["unanswered"] + sum(found["errors"].values())}


def held(service):
    """Connections that the service has, asked from an address that no slow client has."""
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=10, source_address=("127.0.0.3", 0))
    connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {service.token}"})
    text = connection.getresponse().read().decode()
    connection.close()
    return int(float(re.search(r"^slipway_http_connections (\S+)", text, re.M).group(1)))


def watch(service, attack):
    while attack.poll() is None:
        yield held(service)
        time.sleep(1)


def beside(service, mode, arguments):
    before = held(service)
    attack = subprocess.Popen(
        ["slowhttptest", *MODES[mode], "-c", str(arguments.connections), "-r", "1000", "-p", "20", "-v", "1",
         "-l", str(arguments.seconds + WARM_UP_S + 5), "-u", f"http://127.0.0.1:{service.port}/v1/openapi.json"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    most = []
    watcher = threading.Thread(target=lambda: most.extend(watch(service, attack)))
    watcher.start()
    try:
        figures = other_client(service, arguments)
    finally:
        attack.terminate()
        attack.wait()
        watcher.join()
    return {**figures, "slow_connections": max(most) - before}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=int, default=2000)
    parser.add_argument("--rate", type=float, default=200)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--modes", nargs="+", default=list(MODES), choices=list(MODES))
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    arguments = parser.parse_args()
    if shutil.which("slowhttptest") is None:
        raise SystemExit("slowhttptest is not installed: apt-get install slowhttptest")
    arguments.load = str(pathlib.Path(arguments.bin).resolve() / "bench_http_load")
    os.environ["SLIPWAY_BIN_DIR"] = str(pathlib.Path(arguments.bin).resolve())
    from service import Service
    service = Service()
    try:
        service.start()
        figures = {"quiet": other_client(service, arguments)}
        for mode in arguments.modes:
            figures[mode] = beside(service, mode, arguments)
        print(json.dumps({"connections": arguments.connections, **figures}))
    finally:
        service.close()


if __name__ == "__main__":
    main()
