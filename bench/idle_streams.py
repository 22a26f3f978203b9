#!/usr/bin/env python3
"""What idle event streams cost the service: so many clients follow jobs that wait; memory of each, and the time until all
of them hear the end of their job.

The clients come as from addresses of their own, behind a proxy that the service trusts, since one address may hold 100
connections. Memory is that of slipwayd alone (VmRSS), after its allocator has settled; TLS would add its buffers.
Prints one line of JSON.

usage: bench/idle_streams.py [--bin build/release/bin] [--streams 5000] [--jobs 100]
"""
import argparse
import asyncio
import json
import pathlib
import resource
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))
STREAMS_OF_A_TOKEN = 60    # 64 are allowed
WAIT_S = 60


def resident_bytes(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmRSS")).split()[1])


class Stream:
    """One client: `heard_at` is when the end came."""

    def __init__(self, port, token, job, address):
        self.head = (f"GET /v1/jobs/{job}/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: text/event-stream\r\n"
                     f"Authorization: Bearer {token}\r\nX-Forwarded-For: {address}\r\n\r\n")
        self.port = port
        self.heard_at = None

    async def open(self):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        self.writer.write(self.head.encode())
        line = await asyncio.wait_for(self.reader.readline(), WAIT_S)
        if b" 200 " not in line:
            raise SystemExit(f"a stream was answered with {line.decode().strip()}")
        while b"event: state" not in await asyncio.wait_for(self.reader.readline(), WAIT_S):
            pass

    async def wait_for_end(self):
        while True:
            line = await self.reader.readline()
            if not line:
                return
            if line.startswith(b"event: end"):
                self.heard_at = time.monotonic()


async def measure(service, jobs, tokens, count):
    before = resident_bytes(service.process.pid)
    streams = [Stream(service.port, tokens[i % len(tokens)], jobs[i % len(jobs)], f"10.{i // 65536}.{i // 256 % 256}.{i % 256}")
               for i in range(count)]
    for first in range(0, count, 100):
        await asyncio.gather(*(stream.open() for stream in streams[first:first + 100]))
    await asyncio.sleep(3)
    held = resident_bytes(service.process.pid) - before
    readers = [asyncio.create_task(stream.wait_for_end()) for stream in streams]
    began = time.monotonic()
    await asyncio.to_thread(lambda: service.post("/v1/jobs/bulk", {"action": "cancel", "filter": {"project": "default"}}))
    await asyncio.wait_for(asyncio.gather(*readers), WAIT_S)
    heard = sorted(stream.heard_at - began for stream in streams if stream.heard_at)
    return {"streams": count, "kib_each": round(held / count / 1024, 2), "heard_the_end": len(heard),
            "end_heard_p50_s": round(heard[len(heard) // 2], 3), "end_heard_p99_s": round(heard[int(0.99 * len(heard))], 3)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    parser.add_argument("--streams", type=int, default=5000)
    parser.add_argument("--jobs", type=int, default=100, help="jobs that are followed")
    arguments = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard < arguments.streams + 200:
        parser.error(f"--streams: {arguments.streams} need more than the {hard} open files that are allowed (ulimit -Hn)")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    import service as programs
    programs.BIN = pathlib.Path(arguments.bin).resolve()
    service = programs.Service("--trusted-proxy", "127.0.0.1/32")
    try:
        programs.write_points(service.data / "points")
        service.start()
        service.dataset("points", "csv", {"group_column": "family"})
        held = programs.points_job(limits={"start_after": "2099-01-01T00:00:00Z"})
        jobs = [service.submit(held) for _ in range(arguments.jobs)]
        tokens = [service.post("/v1/tokens", {"name": f"follower {i}", "role": "viewer"})["token"]
                  for i in range(1 + arguments.streams // STREAMS_OF_A_TOKEN)]
        print(json.dumps(asyncio.run(measure(service, jobs, tokens, arguments.streams))))
    finally:
        service.close()


if __name__ == "__main__":
    main()
