"""What one operation costs the service and another client of it."""
import contextlib
import math
import multiprocessing
import pathlib
import select
import socket
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from queue_drain import cpu_by_program    # noqa: E402

AT_ONCE = 40
ABANDONED_AFTER_S = 0.05
ENDED_WITHIN_S = 1.0
CPU_SAMPLE_S = 0.5
CPU_OVER_IDLE = 0.2        # of a CPU, that counts as work that goes on
WATCHED_S = 60
OTHER_INTERVAL_S = 0.01
IDLE_S = 0.5
MEMORY_GROWTH = 1.10
STREAM_READ_S = 0.3
IDLE_CONNECTIONS_WATCHED_S = 180


def percentile(values, share):
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0


def bytes_of(call, port, last=True):
    headers = {"Host": f"127.0.0.1:{port}", **call.headers, "Connection": "close" if last else "keep-alive"}
    if call.body or call.method in ("POST", "PUT", "PATCH"):
        headers["Content-Length"] = len(call.body)
    lines = [f"{call.method} {call.target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + call.body


# ---- The other client --------------------------------------------------------
def ask_for_ever(port, token, pipe):
    """GET /v1/jobs at a fixed rate on one connection; answers "take" with [(asked at, seconds, status)] since the last time."""
    asked = (f"GET /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\r\n").encode()
    samples, connection, due = [], None, time.monotonic()
    while True:
        while pipe.poll(max(0.0, due - time.monotonic())):
            if pipe.recv() == "end":
                return
            pipe.send(samples)
            samples = []
        began = time.monotonic()
        due = max(due + OTHER_INTERVAL_S, began)
        try:
            connection = connection or socket.create_connection(("127.0.0.1", port), 60, ("127.0.0.2", 0))
            connection.sendall(asked)
            head = b""
            while b"\r\n\r\n" not in head:
                head += received(connection)
            head, _, body = head.partition(b"\r\n\r\n")
            fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
            while len(body) < int(fields[b"content-length"]):
                body += received(connection)
            status = int(head.split()[1])
            if fields.get(b"connection") == b"close":
                connection.close()
                connection = None
        except OSError:
            status, connection = 0, None
        samples.append((began, time.monotonic() - began, status))


def received(connection):
    part = connection.recv(1 << 16)
    if not part:
        raise ConnectionError("the service has closed the connection")
    return part


class OtherClient:
    def __init__(self, port, token):
        self.pipe, other_end = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=ask_for_ever, args=(port, token, other_end), daemon=True)
        self.process.start()

    def take(self):
        self.pipe.send("take")
        return self.pipe.recv()

    def end(self):
        self.pipe.send("end")
        self.process.join()


# ---- Requests ----------------------------------------------------------------
def one_answer(port, call, stream):
    """Status and bytes of the answer; of a stream what comes in a moment."""
    with socket.create_connection(("127.0.0.1", port), 120) as connection:
        with contextlib.suppress(ConnectionError):    # refused before its body has come
            connection.sendall(bytes_of(call, port))
        answer, end = b"", time.monotonic() + STREAM_READ_S
        while not stream or time.monotonic() < end:
            if stream and not select.select([connection], [], [], end - time.monotonic())[0]:
                break
            part = connection.recv(1 << 20)
            if not part:
                break
            answer += part
    return (int(answer.split(None, 2)[1]) if answer else 0), answer


def abandon(port, calls, slow):
    """All at once; their connections are closed a moment later, whatever has been sent or answered by then."""
    to_send = {}
    for call in calls:
        connection = socket.create_connection(("127.0.0.1", port), 10)
        connection.setblocking(False)
        to_send[connection] = memoryview(bytes_of(call, port))
    end = time.monotonic() + (1.0 if slow else ABANDONED_AFTER_S)
    try:
        while (left := end - time.monotonic()) > 0:
            _, ready, _ = select.select([], [one for one, rest in to_send.items() if rest], [], left)
            for connection in ready:
                with contextlib.suppress(BlockingIOError, ConnectionError):
                    sent = connection.send(to_send[connection][:1024 if slow else 1 << 16])
                    to_send[connection] = to_send[connection][sent:]
            time.sleep(0.01 if slow else 0.0 if ready else 0.002)
    finally:
        for connection in to_send:
            connection.close()


# ---- One operation -----------------------------------------------------------
class Gauge:
    """Of one service, while another client asks it."""

    def __init__(self, service, other):
        self.service, self.other = service, other
        self.idle_samples, self.idle_cpu = [], []

    def cpu_s(self):
        found = cpu_by_program(self.service)
        return found["slipwayd"] + found["postgres"]

    def memory_bytes(self):
        lines = pathlib.Path(f"/proc/{self.service.process.pid}/status").read_text().splitlines()
        return 1024 * int(next(line for line in lines if line.startswith("VmRSS")).split()[1])

    def rest(self, seconds=IDLE_S):
        """Measures the service while it has only the other client."""
        self.other.take()
        before = self.cpu_s()
        time.sleep(seconds)
        self.idle_cpu.append((self.cpu_s() - before) / seconds)
        now = time.monotonic()
        self.idle_samples = [one for one in self.idle_samples + self.other.take() if now - one[0] < 60]

    def idle_rate(self):
        return statistics.median(self.idle_cpu[-20:])

    def idle_p99_ms(self):
        return 1000 * percentile([seconds for _, seconds, _ in self.idle_samples], 0.99)

    def alone(self, call, stream):
        before, began = self.cpu_s(), time.monotonic()
        status, answer = one_answer(self.service.port, call, stream)
        wall = time.monotonic() - began
        return {"status": status, "answer_kb": round(len(answer) / 1000, 1), "alone_ms": round(1000 * wall, 1),
                "alone_cpu_ms": round(1000 * max(0, self.cpu_s() - before - wall * self.idle_rate()), 1)}, answer

    def abandoned(self, calls, slow):
        self.rest()
        memory, cpu, began = self.memory_bytes(), self.cpu_s(), time.monotonic()
        self.other.take()
        abandon(self.service.port, calls, slow)
        closed = time.monotonic()
        time.sleep(ENDED_WITHIN_S)
        samples = [one for one in self.other.take()]
        within = self.cpu_s() - cpu - (time.monotonic() - began) * self.idle_rate()
        ended = self.seconds_until_idle(closed)
        after = self.memory_bytes()
        seconds = [one[1] for one in samples]
        return {"p50_ms": round(1000 * percentile(seconds, 0.5), 1), "p99_ms": round(1000 * percentile(seconds, 0.99), 1),
                "max_ms": round(1000 * max(seconds, default=closed - began), 1), "idle_p99_ms": round(self.idle_p99_ms(), 1),
                "refused": sum(status != 200 for _, _, status in samples), "cpu_s": round(max(0.0, within), 2),
                "cpu_ends_s": ended, "memory_mb": round(memory / 1e6, 1), "memory_after_mb": round(after / 1e6, 1),
                **self.seconds_until_memory_is_back(memory, closed)}

    def seconds_until_idle(self, closed):
        """0: at the first look, a second after the connections were closed; -1: not within a minute."""
        while time.monotonic() - closed < WATCHED_S:
            looked, before = time.monotonic(), self.cpu_s()
            time.sleep(CPU_SAMPLE_S)
            if (self.cpu_s() - before) / (time.monotonic() - looked) < self.idle_rate() + CPU_OVER_IDLE:
                waited = looked - closed
                return 0 if waited < ENDED_WITHIN_S + CPU_SAMPLE_S else round(waited, 1)
        return -1

    def seconds_until_memory_is_back(self, before, closed):
        while (now := self.memory_bytes()) > MEMORY_GROWTH * before and time.monotonic() - closed < WATCHED_S:
            time.sleep(0.5)
        back = now <= MEMORY_GROWTH * before
        return {"memory_back_s": round(time.monotonic() - closed, 1) if back else -1, "memory_end_mb": round(now / 1e6, 1)}


def idle_connections(gauge, count, token):
    """Connections that ask nothing: what they cost, and how long until the service has closed all."""
    service, before = gauge.service, gauge.memory_bytes()
    gauge.rest(1.0)
    connections, refused = [], 0
    for _ in range(count):
        try:
            connections.append(socket.create_connection(("127.0.0.1", service.port), 5))
        except OSError:
            refused += 1
    began = time.monotonic()
    status = service.call("GET", "/v1/jobs", token=token).status
    took = time.monotonic() - began
    gauge.other.take()
    time.sleep(1.0)
    samples, held = gauge.other.take(), gauge.memory_bytes()
    closed_at, poll = 0.0, select.poll()
    held_by = {one.fileno(): one for one in connections}
    for number in held_by:
        poll.register(number, select.POLLIN)
    while held_by and time.monotonic() - began < IDLE_CONNECTIONS_WATCHED_S:
        for number, _ in poll.poll(1000):
            poll.unregister(number)
            held_by.pop(number).close()    # nothing is ever sent, so that only its end can come
            closed_at = time.monotonic() - began
    found = {"connections": count, "refused": refused, "status": status, "first_ms": round(1000 * took, 1),
             "p99_ms": round(1000 * percentile([one[1] for one in samples], 0.99), 1), "idle_p99_ms": round(gauge.idle_p99_ms(), 1),
             "memory_mb": round(before / 1e6, 1), "memory_held_mb": round(held / 1e6, 1), "all_closed_s": round(closed_at, 1),
             "left_open": len(held_by)}
    for one in held_by.values():
        one.close()
    return found
