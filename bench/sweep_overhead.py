#!/usr/bin/env python3
"""What a sweep of many short trials takes beyond the training itself, beside Optuna with PyTorch.

A random sweep of N lenet trials on eight virtual cores. A trial is as many steps as take half a second by the clock while eight
of them share the CPUs: on two CPUs, 0.125 s of CPU time. That is measured first, with executors by hand, one on every CPU at
once: what twice the steps cost more. The floor of the sweep is its trials times the CPU time of their steps over the CPUs;
everything else counts as overhead: queue, processes, data, compiling, checkpoints, the last evaluation, the database.

"Half a second of work" has two readings. The default is the strict one: half a second by the clock, of which a trial has a quarter
of a CPU. With --trial-cpu-s 0.5 a trial is as many steps as take half a second of CPU time (floor of 1,000 trials on two CPUs: 250 s).
`reading` says which one the figures are of.

Optuna (Debian's python3-optuna and python3-torch) trains the same network on the same digits with steps sized in the same way, in
two ways: `workers`, eight processes that import PyTorch once and take trials from a study in a shared journal; `processes`, a
process for each trial, eight at a time. `s` is from the start of the first process to the
end of the last, `first_to_last_s` from the first trial to the last. Without these packages only our side is printed. They may be
unpacked aside (apt-get download, dpkg -x): PYTHONPATH names their modules, --torch-libraries their shared libraries, as
LD_LIBRARY_PATH does.

Prints one JSON line: CPUs, the reading, and of each side trials, steps of one, CPU seconds of one, floor, seconds, overhead (seconds
over floor, less 1), and the same of the CPU seconds that everything took, which says most where the machine is not quiet; of ours,
what each program took for a trial. From 50 trials on, eight others go before: they compile, and start the executors.

usage: bench/sweep_overhead.py [--trials 1000] [--process-trials 100] [--trial-s 0.5 | --trial-cpu-s S] [--images 500]
                               [--bin build/release/bin] [--sample-steps 400] [--torch-libraries PATHS] [-- OPTION OF SLIPWAYD ...]
"""
import argparse
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from queue_drain import cpu_by_program
from sweep_parts import Sweeps, add_common, by_hand, cpu_s_at_once, cpu_s_of_children, digits_job

CONCURRENT = 8
CPUS = len(os.sched_getaffinity(0))
OTHER = pathlib.Path(__file__).with_name("optuna_trials.py")
LR = {"type": "log_uniform", "min": 0.005, "max": 0.05}


def job_of(steps):
    job = digits_job(1)
    train = {name: value for name, value in job["train"].items() if name != "epochs"}
    return job | {"train": train | {"steps": steps}}


def steps_for(cpu_s_of_step, arguments):
    """So many that eight of them at once take so long; with --trial-cpu-s, that one has so much CPU time."""
    cpu_s = arguments.trial_cpu_s or arguments.trial_s * CPUS / CONCURRENT
    return max(1, round(cpu_s / cpu_s_of_step))


def side(trials, steps, cpu_s_of_step, seconds, cpu_s, **more):
    floor = trials * steps * cpu_s_of_step / CPUS
    return {"trials": trials, "steps": steps, "cpu_s_of_trial": round(steps * cpu_s_of_step, 4), "floor_s": round(floor, 2),
            "s": round(seconds, 2), "overhead": round(seconds / floor - 1, 3), "cpu_s": round(cpu_s, 2),
            "cpu_overhead": round(cpu_s / CPUS / floor - 1, 3), **more}


def said(what):
    print(what, file=sys.stderr, flush=True)


# ---- ours ---------------------------------------------------------------------------------------
def our_step(sweeps, sample, folder):
    """CPU seconds of a step, while every CPU is used: the least of three, as what others take is not ours."""
    def cpu_s(steps, number):
        (folder / f"{number}-{steps}").mkdir()
        return cpu_s_at_once([by_hand(sweeps, job_of(steps), folder / f"{number}-{steps}" / str(i)) for i in range(CPUS)])
    return min(cpu_s(2 * sample, number) - cpu_s(sample, number) for number in range(3)) / CPUS / sample


def ours(sweeps, arguments, folder):
    cpu_s_of_step = our_step(sweeps, arguments.sample_steps, folder)
    steps = steps_for(cpu_s_of_step, arguments)

    def run(trials):
        before = cpu_by_program(sweeps.service)
        sweep = sweeps.run({"name": "overhead", "objective": {"metric": "val_loss"}, "space": {"train.optimizer.lr": LR},
                            "algorithm": {"name": "random"}, "limits": {"max_trials": trials, "max_concurrent": CONCURRENT},
                            "job": job_of(steps)})
        after = cpu_by_program(sweeps.service)
        return sweeps.seconds(sweep["id"]), {program: after[program] - before[program] for program in after}
    if arguments.trials >= 50:
        run(CONCURRENT)    # code on disk, warm executors
    seconds, cpu_s = run(arguments.trials)
    return side(arguments.trials, steps, cpu_s_of_step, seconds, sum(cpu_s.values()),
                cpu_ms_of_trial={program: round(1000 * spent / arguments.trials, 1) for program, spent in cpu_s.items()})


# ---- Optuna -------------------------------------------------------------------------------------
class Optuna:
    def __init__(self, digits, arguments):
        self.digits, self.arguments = digits, arguments
        self.environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
        if arguments.torch_libraries:
            self.environment["LD_LIBRARY_PATH"] = arguments.torch_libraries

    def start(self, act, steps, **options):
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        return subprocess.Popen([sys.executable, OTHER, act, "--digits", self.digits, "--steps", str(steps), *words],
                                stdout=subprocess.PIPE, text=True, env=self.environment)

    @staticmethod
    def ended(process):
        output, _ = process.communicate()
        assert process.returncode == 0, process.args
        return json.loads(output)

    def step(self):
        sample = self.arguments.sample_steps

        def cpu_s():
            at_once = [self.start("calibrate", sample) for _ in range(CPUS)]
            return sum(self.ended(process)["cpu_s"] for process in at_once)
        return min(cpu_s() for _ in range(3)) / CPUS / sample

    def workers(self, steps, cpu_s_of_step, folder):
        began, cpu_before = time.monotonic(), cpu_s_of_children()
        running = [self.start("work", steps, journal=folder / "journal", trials=self.arguments.trials, seed=seed)
                   for seed in range(CONCURRENT)]
        last = max((self.ended(process) for process in running), key=lambda one: one["trials"])
        return side(last["trials"], steps, cpu_s_of_step, time.monotonic() - began, cpu_s_of_children() - cpu_before,
                    first_to_last_s=round(last["s"], 2))

    def processes(self, steps, cpu_s_of_step):
        left, running = self.arguments.process_trials, []
        began, cpu_before = time.monotonic(), cpu_s_of_children()
        while left or running:
            while left and len(running) < CONCURRENT:
                running.append(self.start("one", steps, lr=0.01))
                left -= 1
            for process in [one for one in running if one.poll() is not None]:
                self.ended(process)
                running.remove(process)
            time.sleep(0.005)
        return side(self.arguments.process_trials, steps, cpu_s_of_step, time.monotonic() - began,
                    cpu_s_of_children() - cpu_before)


def optuna(digits, arguments, folder):
    if not all(importlib.util.find_spec(name) for name in ("torch", "optuna")):
        return {}
    other = Optuna(digits, arguments)
    cpu_s_of_step = other.step()
    steps = steps_for(cpu_s_of_step, arguments)
    workers = other.workers(steps, cpu_s_of_step, folder)
    said(f"optuna, workers: {workers}")
    return {"optuna_workers": workers, "optuna_processes": other.processes(steps, cpu_s_of_step)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_common(parser, images=500)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--process-trials", type=int, default=100)
    parser.add_argument("--trial-s", type=float, default=0.5)
    parser.add_argument("--trial-cpu-s", type=float, help="of CPU time instead")
    parser.add_argument("--sample-steps", type=int, default=400, help="steps that are measured to size a trial")
    parser.add_argument("--torch-libraries", default="")
    parser.add_argument("options", nargs="*", help="of slipwayd, after --")
    arguments = parser.parse_args()
    with Sweeps(arguments, *arguments.options) as sweeps, tempfile.TemporaryDirectory() as name:
        reading = f"{arguments.trial_cpu_s} s of CPU time" if arguments.trial_cpu_s else f"{arguments.trial_s} s by the clock"
        figures = {"cpus": CPUS, "reading": reading, "slipway": ours(sweeps, arguments, pathlib.Path(name))}
        said(f"slipway: {figures['slipway']}")
        sweeps.service.stop()    # it has no CPU while the other side runs
        figures.update(optuna(sweeps.digits, arguments, pathlib.Path(name)))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
