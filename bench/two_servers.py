#!/usr/bin/env python3
"""Two services on one database under a load of short jobs, while one of them is killed, frozen or restarted.

Clients send each job with an Idempotency-Key of its own to either service, and again to the other one until somebody has
answered. Rounds go on in turn: `kill` (SIGKILL, started again after 2 s), `freeze` (SIGSTOP for 15 s, longer than leases
last), `upgrade` (SIGTERM, started again at once: its executors go on meanwhile). Then every job is waited for. Prints one
JSON line: jobs acknowledged; of these lost (not in the database) and doubled (a key with two jobs); jobs that did not
succeed, and why; attempts by how they ended, those that ended during an upgrade apart; promises of the store that
`slipwayd verify` found broken.

usage: bench/two_servers.py [--rounds 9] [--per-s 4] [--bin build/release/bin]
"""
import argparse
import collections
import itertools
import json
import os
import pathlib
import signal
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))
JOB_S = 3


class Load:
    """Jobs sent at a rate by a few clients, to either service."""

    def __init__(self, services, spec, per_s):
        self.services, self.spec = services, spec
        self.token = services[0].token    # a key is one of a token
        self.sent = {}    # key -> id
        self.retries = 0
        self.mutex = threading.Lock()
        self.numbers = itertools.count()
        self.stop = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(4 / per_s,)) for _ in range(4)]
        for thread in self.threads:
            thread.start()

    def run(self, pause_s):
        while not self.stop.wait(pause_s):
            self.send(next(self.numbers))

    def send(self, number):
        key = f"job-{number}"
        for service in itertools.cycle((self.services[number % 2], self.services[1 - number % 2])):
            try:
                answer = service.call("POST", "/v1/jobs", dict(self.spec, name=key), {"Idempotency-Key": key},
                                      token=self.token, timeout_s=5)
                if answer.status == 201:
                    with self.mutex:
                        self.sent[key] = answer.json["id"]
                    return
                # 409: the first try is under way, or nobody knows whether it was stored.
                assert answer.status in (409, 503), (answer.status, answer.body)
                if answer.json["code"] == "idempotency_outcome_unknown":
                    return
            except OSError:
                pass
            self.retries += 1
            time.sleep(0.2)

    def end(self):
        self.stop.set()
        for thread in self.threads:
            thread.join()


def kill(service):
    service.kill()
    time.sleep(2)
    service.start()


def freeze(service):
    os.kill(service.process.pid, signal.SIGSTOP)
    time.sleep(15)
    os.kill(service.process.pid, signal.SIGCONT)


def upgrade(service):
    service.stop()
    service.start()


def attempts(service):
    rows = service.sql("select exit_kind, count(*) from attempt join job on job.id = job_id where job.name like 'job-%' group by 1")
    return {kind: int(count) for kind, count in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--per-s", type=float, default=4)
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    arguments = parser.parse_args()
    os.environ["SLIPWAY_BIN_DIR"] = str(pathlib.Path(arguments.bin).resolve())
    from service import Service, points_job, wait_for, write_points

    first = Service("--host-name", "first")
    second = None
    try:
        write_points(first.data / "points", rows=200)
        first.start()
        first.dataset("points", "csv", {"group_column": "family"})
        lines = (first.home / "postgres" / "data" / "postmaster.pid").read_text().splitlines()
        database = f"postgresql:///slipway?user=slipway&host={lines[4]}&port={lines[3]}"
        # The database is the first one's: killed, it leaves it running, and finds it again.
        second = Service("--host-name", "second", "--database", database, "--dataset-root", first.data)
        (second.home / "store").symlink_to(first.home / "store")
        second.start()
        load = Load((first, second), points_job(train={"epochs": 2, "batch_size_per_core": 16,
                                                       "optimizer": {"name": "adam", "lr": 0.001}}), arguments.per_s)
        acts = collections.Counter()
        during_upgrades = collections.Counter()
        for number, act in zip(range(arguments.rounds), itertools.cycle((kill, freeze, upgrade))):
            time.sleep(JOB_S)
            whom = second if act is upgrade or number % 2 else first
            before = attempts(first)
            print(f"{number + 1} of {arguments.rounds}: {act.__name__} {whom.options[1]}", file=sys.stderr, flush=True)
            act(whom)
            acts[act.__name__] += 1
            if act is upgrade:
                time.sleep(JOB_S)
                after = attempts(first)
                for kind in after:
                    during_upgrades[kind or "running"] += after[kind] - before.get(kind, 0) if kind else 0
        load.end()
        unfinished = "select count(*) from job where name like 'job-%' and finished_at is null"
        wait_for(lambda: first.sql(unfinished)[0][0] == "0", "all jobs to end", 600)
        stored = {row[0]: row[1:] for row in first.sql("select id, name, state from job where name like 'job-%'")}
        names = collections.Counter(name for name, _ in stored.values())
        print(json.dumps({
            "acts": dict(acts), "acknowledged": len(load.sent), "sent_again": load.retries,
            "lost": sum(job not in stored for job in load.sent.values()),
            "doubled": sum(count > 1 for count in names.values()),
            "not_succeeded": sum(state != "succeeded" for _, state in stored.values()),
            "reasons": [row[0] for row in first.sql("select distinct reason_code || ': ' || reason_message from job where "
                                                    "name like 'job-%' and state <> 'succeeded'")],
            "attempts": attempts(first), "attempts_ended_in_upgrades": dict(during_upgrades),
            "broken_promises": first.verify()}))
    finally:
        if second:
            second.close()
        first.close()


if __name__ == "__main__":
    main()
