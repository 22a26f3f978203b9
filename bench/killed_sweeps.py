#!/usr/bin/env python3
"""A service that is killed again and again while a sweep runs: does it take the same decisions?

Pairs of sweeps with one trial at a time, each pair with a seed of its own: ASHA that promotes from checkpoints, undisturbed, then the
same while the service gets SIGKILL at random moments and is started again. With one trial at a time the order of observations is that of
the trials, and training is deterministic, so both must have the same log of events and of decisions, line by line, the same trials
and the same best value. Pairs go on until there were so many kills. Prints one JSON line: kills, by what was going on when they fell
(a job of the sweep ran, was about to begin or to end, or there was none), sweeps, lines that were compared, sweeps whose log, trials or jobs differ (must be
0), and promises of the store that `slipwayd verify` found broken.

usage: bench/killed_sweeps.py [--kills 50] [--seed 1] [--trials 9] [--epochs 9] [--bin build/release/bin] [-- OPTION OF SLIPWAYD ...]
"""
import argparse
import collections
import json
import random
import sys
import time

from sweep_parts import Sweeps, add_common, digits_job

PAUSE_MAX_S = 2.0    # between a start and the next kill; starting takes about as long


def sweep_of(arguments, seed):
    return {"name": "killed", "objective": {"metric": "val_loss"},
            "space": {"train.optimizer.lr": {"type": "log_uniform", "min": 0.001, "max": 0.2},
                      "train.batch_size_per_core": {"type": "choice", "values": [16, 32, 64]}},
            "algorithm": {"name": "asha", "mode": "promote", "max_time": arguments.epochs, "sampler": {"name": "tpe", "startup_trials": 4}},
            "limits": {"max_trials": arguments.trials, "max_concurrent": 1}, "seed": seed,
            "job": digits_job(1, checkpoint={"every_epochs": 1})}


class Killer:
    def __init__(self, sweeps, seed):
        self.sweeps, self.moments, self.fell = sweeps, random.Random(seed), collections.Counter()

    def has_ended(self, sweep_id):
        return self.sweeps.calls.sweep(sweep_id)["state"] in ("finished", "stopped", "failed")

    def kill(self, sweep_id):
        """False: the sweep was faster."""
        time.sleep(self.moments.uniform(0.0, PAUSE_MAX_S))
        if self.has_ended(sweep_id):
            return False
        states = {job["state"] for job in self.sweeps.service.get(f"/v1/jobs?parent={sweep_id}&limit=200")["items"]}
        self.sweeps.service.kill()
        self.fell["job ran" if "running" in states else "job began or ended" if states - {"succeeded"} else "between jobs"] += 1
        self.sweeps.service.start()
        return True


def outcome(sweeps, sweep_id):
    """What must be the same: without ids, and without the order of jobs that ran."""
    calls = sweeps.calls
    sweep = calls.sweep(sweep_id)
    jobs = sweeps.service.get(f"/v1/jobs?parent={sweep_id}&limit=200")["items"]
    failures = [job["reason"] for job in jobs if job["state"] == "failed"]
    assert sweep["state"] == "finished" and not failures, (sweep["state"], sweep["reason"], failures)
    return {"events": [line["event"] for line in calls.log(sweep_id)], "decisions": calls.decisions(sweep_id),
            "trials": [[one[name] for name in ("number", "state", "value", "last_time", "point")] for one in calls.trials(sweep_id)],
            "jobs": sorted([job["parent"]["key"], job["state"]] for job in jobs), "best": sweep["best"]["value"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_common(parser, images=500)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--trials", type=int, default=9)
    parser.add_argument("--epochs", type=int, default=9)
    parser.add_argument("options", nargs="*", help="of slipwayd, after --")
    arguments = parser.parse_args()
    different, lines, pairs = [], 0, 0
    with Sweeps(arguments, *arguments.options) as sweeps:
        killer = Killer(sweeps, arguments.seed)
        while killer.fell.total() < arguments.kills:
            body = sweep_of(arguments, arguments.seed + pairs)
            undisturbed = outcome(sweeps, sweeps.run(body)["id"])
            sweep_id = sweeps.calls.create(body)
            while killer.fell.total() < arguments.kills and killer.kill(sweep_id):
                pass
            sweeps.calls.wait_end(sweep_id, 600)
            disturbed = outcome(sweeps, sweep_id)
            pairs += 1
            lines += len(undisturbed["events"]) + len(undisturbed["decisions"])
            different += [{"seed": body["seed"], "what": name} for name in undisturbed if undisturbed[name] != disturbed[name]]
            print(f"{killer.fell.total()} kills, {pairs} sweeps, different: {different}", file=sys.stderr, flush=True)
        broken = sweeps.service.verify()
    print(json.dumps({"kills": killer.fell.total(), "by_moment": dict(killer.fell), "sweeps": pairs, "lines": lines,
                      "different": len(different), "differences": different, "broken_promises": broken}))


if __name__ == "__main__":
    main()
