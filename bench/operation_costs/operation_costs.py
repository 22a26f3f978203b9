#!/usr/bin/env python3
"""What each operation of the API costs when it is called with the largest input that it accepts, and what it costs other clients.

The operations are those of openapi.json of the service that is measured; inputs.py derives the largest input of each, or has it in a
table. An operation without an input, or whose input is refused, fails the run by its name. Each is called by a viewer and by an editor:
alone, and 40 times at once with connections that are closed after 50 ms. Meanwhile another client, of another project, asks for
GET /v1/jobs a hundred times a second.

Prints a table, the operations that cost most first: status, KB and ms of the answer and CPU ms of slipwayd and PostgreSQL (alone); p50, p99
and maximum of the other client from the first connection until a second after their end, beside its p99 while nothing else was asked in the
same minute; CPU seconds until then; when the CPU was idle again (0: within a second); memory of slipwayd before and after in MB, and
when it was back within 10 %. Bounds: p99 of 100 ms on a quiet machine, CPU within a second, memory within a minute.

usage: bench/operation_costs/operation_costs.py [--only OPERATION ...] [--alone] [--roles viewer editor] [--scale 1] [--connections 1030]
       [--json FILE] [--bin build/release/bin]
"""
import argparse
import json
import os
import pathlib
import resource
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "end_to_end")]
COLUMNS = {"operation": 46, "role": 7, "status": 7, "answer_kb": 10, "alone_ms": 9, "alone_cpu_ms": 13, "p50_ms": 7, "p99_ms": 8, "max_ms": 8,
           "idle_p99_ms": 12, "refused": 8, "cpu_s": 6, "cpu_ends_s": 11, "memory_mb": 10, "memory_after_mb": 16, "memory_back_s": 14}
P99_MS_MAX = 100


def beyond(row):
    """The bounds that a row does not keep."""
    return [name for name, is_beyond in (("p99", row.get("p99_ms", 0) > P99_MS_MAX), ("refused", row.get("refused", 0) > 0),
                                         ("cpu", row.get("cpu_ends_s", 0) != 0), ("memory", row.get("memory_back_s", 0) < 0)) if is_beyond]


def print_table(rows):
    print("".join(name.ljust(width) for name, width in COLUMNS.items()) + "beyond")
    for row in sorted(rows, key=lambda row: -row.get("cpu_s", 0)):
        print("".join(str(row.get(name, "-")).ljust(width) for name, width in COLUMNS.items()) + " ".join(beyond(row)))


def measure(gauge, stock, operation, role, alone):
    """A row, and why its input is not accepted (empty: it is)."""
    from access_rows import RANK
    from measure import AT_ONCE
    token, given = stock.tokens[role], operation.given
    found, answer = gauge.alone(operation.call(stock, token), given.stream)
    row = {"operation": operation.label, "role": role, **found}
    may = operation.role is None or RANK[role] >= RANK[operation.role]
    if found["status"] not in (operation.success | set(given.answers) if may else {403}):
        return row, f"{operation.label} by {role}: {answer[-600:].decode('utf-8', 'replace')}"
    if not alone:
        row.update(gauge.abandoned([operation.call(stock, token) for _ in range(AT_ONCE)], given.slow))
    if given.after and may:
        given.after(stock)
    return row, ""


def planned(found, roles):
    """(operation, role): who may not call it gets the same refusal for each input."""
    from access_rows import RANK
    refused = set()
    for operation in found:
        for role in roles:
            may = operation.role is None or RANK[role] >= RANK[operation.role]
            if may or (operation.name, role) not in refused:
                yield operation, role
            if not may:
                refused.add((operation.name, role))


def run(service, arguments):
    from inputs import operations
    from measure import Gauge, OtherClient, idle_connections
    from stock import OTHER, Stock
    found, missing = operations(service.call("GET", "/openapi.json", token=None).json)
    for name, reason in missing.items():
        print(f"{name} has no input: {reason}", file=sys.stderr)
    began = time.monotonic()
    stock = Stock.fill(service, arguments.scale)
    print(f"filled in {time.monotonic() - began:.0f} s", file=sys.stderr)
    other = OtherClient(service.port, Stock.make_token("viewer", OTHER)["token"])
    gauge = Gauge(service, other)
    gauge.rest(2.0)
    rows, refused = [], []
    try:
        first_memory = gauge.memory_bytes()
        for operation, role in planned([one for one in found if not arguments.only or one.name in arguments.only], arguments.roles):
            row, reason = measure(gauge, stock, operation, role, arguments.alone)
            rows.append(row)
            refused += [reason] if reason else []
            print(json.dumps(row), file=sys.stderr, flush=True)
        print_table(rows)
        result = {"rows": rows, "memory_first_mb": round(first_memory / 1e6, 1), "memory_last_mb": round(gauge.memory_bytes() / 1e6, 1),
                  "idle_cpu": round(gauge.idle_rate(), 3)}
        if arguments.connections:
            result["idle_connections"] = idle_connections(gauge, arguments.connections, stock.tokens["viewer"])
        print(json.dumps({name: value for name, value in result.items() if name != "rows"}))
    finally:
        other.end()
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(result, indent=1))
    for reason in refused:
        print(f"not accepted: {reason}", file=sys.stderr)
    return 1 if missing or refused else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", help="operations, by operationId")
    parser.add_argument("--alone", action="store_true", help="call each once, to see whether its input is accepted")
    parser.add_argument("--roles", nargs="+", default=["viewer", "editor"], choices=["viewer", "editor"])
    parser.add_argument("--scale", type=float, default=1.0, help="how much stock there is, beside the full amount")
    parser.add_argument("--connections", type=int, default=1030, help="idle connections of clients without a token; 0: not measured")
    parser.add_argument("--json", help="file for the figures")
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    arguments = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    os.environ["SLIPWAY_BIN_DIR"] = str(pathlib.Path(arguments.bin).resolve())
    from service import Service, write_points
    service = Service("--webhook-allow", "127.0.0.0/8")
    service.verifies = False    # rows were written past the service
    try:
        write_points(service.data / "points", rows=1200)
        service.start()
        return run(service, arguments)
    finally:
        service.close()


if __name__ == "__main__":
    sys.exit(main())
