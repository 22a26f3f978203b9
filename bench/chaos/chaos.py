#!/usr/bin/env python3
"""Faults on the real programs: what they break of what is promised.

A slipwayd, a second machine's agent and a PostgreSQL with fsync run small jobs, while processes are killed and frozen,
disks are full or fail, and connections are cut. After each batch all is put right, every job must end, and then: `slipwayd
verify --files` finds nothing, each job's final weights and curve are those of an undisturbed run, no executor is left, and
every submission that was answered is there once. Prints one JSON line: faults by kind, jobs, attempts, violations; each
violation goes to stderr.

usage: bench/chaos/chaos.py [--faults 100] [--batch 20] [--seed 1] [--only KIND,KIND] [--unconfined] [--bin build/release/bin]
`--unconfined`: executors run without confinement, so that their writes and fsyncs can be made to fail, too.
"""
import argparse
import collections
import contextlib
import http.client
import json
import os
import pathlib
import random
import signal
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "end_to_end")]
JOBS_AT_ONCE = 5
END_LIMIT_S = 600
# Ends that a fault explains; such a job is retried and must then succeed.
EXPLAINED = ("disk_full", "disk_error", "repeated_crash", "executor_lost")


def shapes():
    """Jobs of some seconds; each is a reference for the ones like it."""
    from service import points_job
    common = {"checkpoint": {"every_epochs": 3, "keep_last": 2}, "monitor": {"log_every_steps": 5}, "limits": {"max_restarts": 100}}

    def job(epochs, cores, **optimizer):
        return points_job(train={"epochs": epochs, "batch_size_per_core": 8, "optimizer": optimizer}, accelerator={"cores": cores},
                          **common)
    return [job(150, 1, name="adam", lr=0.001), job(300, 1, name="sgd", lr=0.01, momentum=0.9), job(100, 1, name="adam", lr=0.002),
            job(60, 8, name="adam", lr=0.001)]


class Campaign:
    def __init__(self, service, generator, kinds):
        self.service, self.generator, self.kinds = service, generator, kinds
        self.counts = collections.Counter()
        self.unexpected = collections.Counter()    # answers that were neither success nor "not now"
        self.violations = []
        self.jobs = {}          # id -> shape
        self.submitted = 0
        self.weights, self.curves = [], []    # of each shape
        self.ends = collections.Counter()
        self.attempts = collections.Counter()    # by host and by how they ended

    def broken(self, what):
        self.violations.append(what)
        print(f"violation: {what}", file=sys.stderr, flush=True)

    # ---- requests, as a client sends them that waits out a fault ----
    def ask(self, method, path, body=None, headers=None, patience_s=120):
        end = time.monotonic() + patience_s
        while time.monotonic() < end:
            with contextlib.suppress(OSError, http.client.HTTPException):
                answer = self.service.call(method, path, body, headers, timeout_s=15)
                if answer.status < 400 or answer.status == 404:
                    return answer
                if answer.status not in (409, 429, 503, 507):
                    self.unexpected[f"{method} {answer.status} {answer.body[:200]}"] += 1
            time.sleep(0.2)
        return None

    def submit(self, shape):
        self.submitted += 1
        key = f"chaos-{self.submitted}"
        spec = {**shapes()[shape], "name": key}
        answer = self.ask("POST", "/v1/jobs", spec, {"Idempotency-Key": key}, patience_s=30)
        if answer is not None and answer.status == 201:
            self.jobs[answer.json["id"]] = shape

    # ---- faults ----
    def begin(self, name, active):
        from faults import FAULTS
        begin, end, least_s, most_s, _, _ = FAULTS[name]
        try:
            if begin(self.service, self.generator) is False:
                return
        except (ProcessLookupError, FileNotFoundError):
            pass    # it was gone already
        self.counts[name] += 1
        active[name] = (time.monotonic() + self.generator.uniform(least_s, most_s), end)

    def repair(self, active, everything=False):
        for name, (until, end) in list(active.items()):
            if everything or time.monotonic() >= until:
                del active[name]
                end(self.service)

    def choose(self, active):
        from faults import FAULTS
        possible = [name for name in self.kinds if name not in active and not FAULTS[name][5] & set(active)
                    and not any(name in FAULTS[other][5] for other in active)]
        weights = [FAULTS[name][4] for name in possible]
        return self.generator.choices(possible, weights)[0] if possible else None

    def keep_submitting(self, stop):
        shapes_of_client = random.Random(len(self.jobs) + self.submitted)
        while not stop.wait(0.5):
            if self.open_jobs() < JOBS_AT_ONCE:
                self.submit(shapes_of_client.randrange(len(self.weights)))

    def run_batch(self, faults):
        stop = threading.Event()
        client = threading.Thread(target=self.keep_submitting, args=(stop,))
        client.start()
        try:
            self.run_faults(faults)
        finally:
            stop.set()
            client.join()

    def run_faults(self, faults):
        active = {}
        for _ in range(faults):
            if name := self.choose(active):
                self.begin(name, active)
            until = time.monotonic() + self.generator.uniform(0.1, 1.5)
            while time.monotonic() < until or len(active) > 3:
                self.repair(active)
                time.sleep(0.05)
        while active:
            self.repair(active, everything=True)
        self.service.database.start()
        self.service.start()
        self.service.start_other()

    def open_jobs(self):
        from service import FINAL_STATES
        with contextlib.suppress(Exception):
            states = [state for (state,) in self.service.sql("select state from job")]
            return sum(state not in FINAL_STATES for state in states)
        return JOBS_AT_ONCE

    def curve(self, job_id):
        """Every point of the loss."""
        (series,) = self.service.get(f"/v1/jobs/{job_id}/metrics?names=train_loss&resolution=5000")["series"]
        return [(point["step"], point["value"]) for point in series["points"]]

    # ---- what must hold afterwards ----
    def wait_for_end(self, job_id):
        from service import FINAL_STATES
        end = time.monotonic() + END_LIMIT_S
        while time.monotonic() < end:
            answer = self.ask("GET", f"/v1/jobs/{job_id}")
            if answer is not None and answer.status == 404:
                return None
            if answer is not None and answer.json["state"] in FINAL_STATES:
                return answer.json
            time.sleep(0.2)
        return {"state": "never", "reason": None if answer is None else answer.json}

    def judge(self, job_id, shape):
        job = self.wait_for_end(job_id)
        if job is None:
            return self.broken(f"job {job_id} was accepted and is not there")
        was_retried = False
        if job["state"] == "failed" and job["reason"]["code"] in EXPLAINED:
            self.ends[job["reason"]["code"]] += 1
            print(f"{job_id} failed: {job['reason']}", file=sys.stderr, flush=True)
            again = self.ask("POST", f"/v1/jobs/{job_id}/retry", {})
            job_id = again.json["id"]
            job = self.wait_for_end(job_id)
            was_retried = True
        self.ends[job["state"]] += 1
        if job["state"] != "succeeded":
            return self.broken(f"job {job_id} ended as {job['state']}: {job.get('reason')}")
        if self.service.newest_weights(job_id) != self.weights[shape]:
            self.broken(f"job {job_id} of shape {shape} has other weights after {job['attempts']} attempts")
        # That of a retried job begins where the one before ended.
        if not was_retried and self.curve(job_id) != self.curves[shape]:
            self.broken(f"job {job_id} of shape {shape} has another curve after {job['attempts']} attempts")

    def check(self):
        for job_id, shape in self.jobs.items():
            self.judge(job_id, shape)
        if found := self.service.verify():
            self.broken(f"slipwayd verify: {found}")
        twice = self.service.sql("select name, count(*) from job where name like 'chaos-%' and origin_action is null "
                                 "group by name having count(*) > 1")
        if twice:
            self.broken(f"submissions that made two jobs: {twice}")
        if left := self.service.executors():
            self.broken(f"executors are left: {left}")
        for host, kind, count in self.service.sql(
                "select host, exit_kind, count(*) from attempt join attempt_member using (job_id, attempt) join job on job.id = job_id "
                "where name like 'chaos-%' group by host, exit_kind"):
            self.attempts[f"{kind} on {host}"] += int(count)
        for (job_id,) in self.service.sql("select id from job where name like 'chaos-%'"):
            if self.wait_for_end(job_id) is not None:
                self.ask("DELETE", f"/v1/jobs/{job_id}")
        self.jobs.clear()

    def learn_weights(self):
        for spec in shapes():
            job_id = self.service.submit({**spec, "name": "undisturbed"})
            job = self.service.wait_end(job_id, 300)
            assert job["state"] == "succeeded", job
            self.weights.append(self.service.newest_weights(job_id))
            self.curves.append(self.curve(job_id))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--faults", type=int, default=100)
    parser.add_argument("--batch", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="names of faults, with commas")
    parser.add_argument("--unconfined", action="store_true")
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    arguments = parser.parse_args()
    os.environ["SLIPWAY_BIN_DIR"] = str(pathlib.Path(arguments.bin).resolve())
    from faults import FAULTS, OF_EXECUTOR_DISKS
    from machine import chaos_service
    from service import write_points
    kinds = arguments.only.split(",") if arguments.only else [
        name for name in FAULTS if arguments.unconfined or name not in OF_EXECUTOR_DISKS]
    if unknown := set(kinds) - set(FAULTS):
        parser.error(f"there is no fault {', '.join(sorted(unknown))}, but {', '.join(FAULTS)}")

    # So that it is put right when it is ended, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    begun = time.monotonic()
    with chaos_service(confined=not arguments.unconfined) as service:
        campaign = Campaign(service, random.Random(arguments.seed), kinds)
        write_points(service.data / "points", rows=300)
        service.start()
        service.start_other()
        service.dataset("points", "csv", {"group_column": "family"})
        campaign.learn_weights()
        while sum(campaign.counts.values()) < arguments.faults:
            before = sum(campaign.counts.values())
            campaign.run_batch(min(arguments.batch, arguments.faults - before))
            campaign.check()
            print(f"{sum(campaign.counts.values())} faults, {campaign.submitted} jobs, {len(campaign.violations)} violations, "
                  f"{time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
        print(json.dumps({
            "seed": arguments.seed, "faults": sum(campaign.counts.values()), "by_kind": dict(sorted(campaign.counts.items())),
            "jobs": campaign.submitted, "attempts": dict(sorted(campaign.attempts.items())), "ends": dict(campaign.ends),
            "other_answers": dict(campaign.unexpected), "violations": len(campaign.violations),
            "seconds": round(time.monotonic() - begun)}))
    return 1 if campaign.violations else 0


if __name__ == "__main__":
    sys.exit(main())
