#!/usr/bin/env python3
"""Interrupted runs against undisturbed ones: kill -9 of the executor, pause and preemption at random moments.

Jobs of three shapes (Adam with dropout and a cosine schedule, SGD with momentum and an average of the weights, eight cores)
are interrupted again and again until they end. Then their final weights and their curves must be those of a run of the
same shape that nobody touched, bit by bit. Prints one JSON line: moments by kind, jobs, attempts, jobs with other bits.

usage: bench/resumed_bits.py [--moments 200] [--seed 1] [--bin build/release/bin]
"""
import argparse
import collections
import contextlib
import json
import os
import pathlib
import random
import signal
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))
PAUSE_MAX_S = 3
KILLS_MAX = 2    # of a job: it waits 15 s and more after later ones
CURVES = ("train_loss", "val_loss", "lr")


MODEL = {"arch": "layers", "layers": [
    {"type": "linear", "out_features": 32}, {"type": "batch_norm"}, {"type": "relu"}, {"type": "dropout", "rate": 0.2},
    {"type": "linear", "out_features": 32}, {"type": "relu"}, {"type": "linear", "name": "head"}]}


def shapes(points_job):
    common = {"checkpoint": {"every_epochs": 10, "keep_last": 2}, "monitor": {"log_every_steps": 1}, "limits": {"max_restarts": 100},
              "queue": {"class": "low"}}

    def job(train, accelerator):
        spec = points_job(train={"batch_size_per_core": 8, **train}, accelerator=accelerator, **common)
        return {**spec, "model": MODEL}
    return [job({"epochs": 80, "optimizer": {"name": "adam", "lr": 0.002}, "schedule": {"name": "cosine", "warmup_steps": 50}},
                {"core_ids": [1]}),
            job({"epochs": 80, "optimizer": {"name": "sgd", "lr": 0.02, "momentum": 0.9}, "ema": {"decay": 0.99}}, {"core_ids": [1]}),
            job({"epochs": 40, "optimizer": {"name": "adam", "lr": 0.002}}, {"cores": 8})]


class Interrupter:
    """Each way returns what it was, or None when the job was faster."""

    def __init__(self, service, points_job, wait_for, final_states):
        self.service, self.wait_for, self.final_states = service, wait_for, final_states
        # Of a class that the others give way to, on the core that they have.
        self.urgent = points_job(train={"epochs": 1}, accelerator={"core_ids": [1]}, queue={"class": "urgent"})

    def has_ended(self, job):
        return self.service.job(job)["state"] in self.final_states

    def kill(self, job):
        before = self.service.job(job)
        attempts, executors = before["attempts"], self.service.executors(job)
        if not executors or before["restarts"] >= KILLS_MAX:
            return None
        with contextlib.suppress(ProcessLookupError):
            os.kill(executors[0], signal.SIGKILL)
        self.wait_for(lambda: self.service.job(job)["attempts"] > attempts or self.has_ended(job), "another attempt", 60, 0.02)
        return None if self.has_ended(job) else "killed"

    def pause(self, job):
        if self.service.call("POST", f"/v1/jobs/{job}/pause", {}).status != 200:
            return None
        state = self.wait_for(lambda: (now := self.service.job(job)["state"]) in {"paused", *self.final_states} and now, "a pause", 60, 0.02)
        if state != "paused":
            return None
        self.service.post(f"/v1/jobs/{job}/resume", {})
        return "paused"

    def times_preempted(self, job):
        return int(self.service.sql("select count(*) from job_event where type = 'state' and body ->> 'state' = 'preempting' "
                                    f"and job_id = '{job}'")[0][0])

    def preempt(self, job):
        before = self.times_preempted(job)
        self.service.wait_end(self.service.submit(self.urgent))
        return "preempted" if self.times_preempted(job) > before else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moments", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    arguments = parser.parse_args()
    os.environ["SLIPWAY_BIN_DIR"] = str(pathlib.Path(arguments.bin).resolve())
    from service import FINAL_STATES, Service, points_job, wait_for, write_points

    generator = random.Random(arguments.seed)
    service = Service()
    moments, jobs, attempts, other_bits = collections.Counter(), 0, 0, []
    begun = time.monotonic()

    def bits_of(job):
        return service.newest_weights(job), [service.metric(job, name) for name in CURVES]

    try:
        write_points(service.data / "points", rows=300)
        service.start()
        service.dataset("points", "csv", {"group_column": "family"})
        references = []
        for spec in shapes(points_job):
            job = service.submit(spec)
            began = time.monotonic()
            assert service.wait_end(job)["state"] == "succeeded", service.job(job)
            references.append((spec, time.monotonic() - began, bits_of(job)))
        interrupter = Interrupter(service, points_job, wait_for, FINAL_STATES)
        ways = [interrupter.kill, interrupter.pause, interrupter.preempt]
        while sum(moments.values()) < arguments.moments:
            spec, took_s, bits = references[jobs % len(references)]
            job = service.submit(spec)
            jobs += 1
            while sum(moments.values()) < arguments.moments and not interrupter.has_ended(job):
                time.sleep(generator.uniform(0, min(took_s / 2, PAUSE_MAX_S)))
                if way := generator.choice(ways)(job):
                    moments[way] += 1
            done = service.wait_end(job, 300)
            attempts += done["attempts"]
            if done["state"] != "succeeded" or bits_of(job) != bits:
                other_bits.append(job)
                print(f"{job} {done['state']} {done.get('reason')} after {done['attempts']} attempts: other bits", file=sys.stderr)
            service.call("DELETE", f"/v1/jobs/{job}")
            print(f"{dict(moments)}, {jobs} jobs, {len(other_bits)} with other bits", file=sys.stderr, flush=True)
        print(json.dumps({"seed": arguments.seed, "moments": sum(moments.values()), "by_kind": dict(sorted(moments.items())), "jobs": jobs,
                          "attempts": attempts, "other_bits": len(other_bits), "seconds": round(time.monotonic() - begun)}))
    finally:
        service.close()
    return 1 if other_bits else 0


if __name__ == "__main__":
    sys.exit(main())
