#!/usr/bin/env python3
"""Slices over Slurm while something is killed: kill -9 at random moments of a job of sixteen cores on a cluster of two hosts.

What is killed: a slurmd, slurmctld, slipwayd, the executor of a random rank; what does not come back by itself is started again. A
moment at which the job had ended or, for a rank, at which no executor ran counts as no kill, and another one is drawn.
Each job must end `succeeded` with the weights, bit by bit, of one that nobody touched, nothing may be left in Slurm, as a process or
as a lease. Prints one JSON line: for each kind the jobs, the kills, the jobs that succeeded, those with other bits, attempts at the most, and
the moments (seconds after the submission) of those that went wrong.

usage: bench/killed_slurm.py [--moments 20] [--kinds slurmd,slurmctld,slipwayd,rank] [--seed 1]
As root, with the packages of deploy/slurm/packages.txt; SLIPWAY_BIN_DIR names other programs than build/release/bin.
"""
import argparse
import json
import os
import pathlib
import random
import signal
import sys
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))
KINDS = ("slurmd", "slurmctld", "slipwayd", "rank")
EPOCHS = 3


class Slices(unittest.TestCase):
    """Holds what is started for one measurement; nothing here is a test."""


class Kills:
    """Each way returns whether it has killed something of a job that went on."""

    def __init__(self, case, chance):
        self.cluster, self.service, self.chance = case.cluster, case.service, chance

    def slurmd(self, _):
        self.cluster.kill(self.chance.choice(("slurmd-node1", "slurmd-node2")))
        self.cluster.up()
        return True

    def slurmctld(self, _):
        self.cluster.kill("slurmctld")
        self.cluster.up()
        return True

    def slipwayd(self, _):
        self.service.kill()
        self.service.start()
        return True

    def rank(self, job_id):
        executors = self.service.executors(job_id)
        if not executors:
            return False
        os.kill(self.chance.choice(executors), signal.SIGKILL)
        return True


def run(case, kind, moment_s, kills):
    """What came of one job at whose moment something was killed: whether it was, the job, its weights."""
    import slurm_service
    from service import FINAL_STATES, wait_for
    job_id = case.service.submit(slurm_service.slice_job(f"{kind} {moment_s:.1f}", 16, EPOCHS))
    time.sleep(moment_s)
    killed = case.service.job(job_id)["state"] not in FINAL_STATES and getattr(kills, kind)(job_id)
    job = case.service.wait_end(job_id, 300)
    case.cluster.wait_empty(120)
    wait_for(lambda: not case.service.executors(), "executors to be gone", 30)
    wait_for(lambda: case.service.sql("select count(*) from lease") == [["0"]], "leases to be gone", 30)
    return killed, job, case.service.newest_weights(job_id) if job["state"] == "succeeded" else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--moments", type=int, default=20)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    kinds = given.kinds.split(",")
    if unknown := set(kinds) - set(KINDS):
        parser.error(f"--kinds has {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
    import slurm_service
    chance = random.Random(given.seed)
    figures = {}
    try:
        slurm_service.start(Slices, settings=("--virtual-hosts", "2", "--host-name", "pod"))
        kills = Kills(Slices, chance)
        begun = time.monotonic()
        job_id = Slices.service.submit(slurm_service.slice_job("undisturbed", 16, EPOCHS))
        assert Slices.service.wait_end(job_id, 300)["state"] == "succeeded"
        length_s, bits = time.monotonic() - begun, Slices.service.newest_weights(job_id)
        for kind in kinds:
            of_kind = figures[kind] = {"jobs": 0, "kills": 0, "succeeded": 0, "other_bits": 0, "attempts_max": 0, "wrong_at_s": []}
            while of_kind["kills"] < given.moments:
                moment_s = chance.uniform(0, length_s)
                killed, job, weights = run(Slices, kind, moment_s, kills)
                of_kind["jobs"] += 1
                of_kind["kills"] += killed
                of_kind["succeeded"] += job["state"] == "succeeded"
                of_kind["other_bits"] += weights is not None and weights != bits
                of_kind["attempts_max"] = max(of_kind["attempts_max"], job["attempts"])
                if weights != bits:
                    of_kind["wrong_at_s"].append(round(moment_s, 2))
                    print(kind, moment_s, job["state"], job.get("reason"), file=sys.stderr)
                print(f"{kind}: {of_kind}", file=sys.stderr, flush=True)
        figures["undisturbed_s"] = round(length_s, 1)
    finally:
        Slices.doClassCleanups()
    print(json.dumps(figures))
    return 0 if all(not each["wrong_at_s"] for each in figures.values() if isinstance(each, dict)) else 1


if __name__ == "__main__":
    sys.exit(main())
