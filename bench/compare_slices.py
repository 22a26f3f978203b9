#!/usr/bin/env python3
"""A training step in two processes with a CPU each, ours and by PyTorch's DistributedDataParallel over Gloo, in turns, and of either in
one process with both CPUs. One line for each workload and precision.

usage: bench/compare_slices.py [WORKLOAD...] [--precision f32,bf16] [--rounds 3] [--steps 3] [--batch 0]
                               [--ours build/release/bin/bench_slice_steps] [--python /usr/bin/python3] [--json FILE]

two      PyTorch's step in two processes over ours in two: medians of all rounds
one      the same in one process with two threads
cost     a step in two processes over that in one, ours and PyTorch's
work     the ratio of two, and the costs, of the CPU time of all processes, which a busy machine changes less
hidden   of our exchange, while the workers went on

Both sides have the same batch, 0: the workload's own, 16 at least. PyTorch runs tuned as in bench/compare.
"""
import argparse
import importlib.machinery
import importlib.util
import json
import pathlib
import re
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
WORKLOADS = {"resnet34_32": 32, "bert_base": 16, "gpt2_124m": 16}
COLUMNS = ("workload", "prec", "ours two", "one", "torch two", "one", "two", "one", "cost", "torch", "work", "cost", "torch", "hidden")
LINE = "{:12} {:5} {:>9} {:>9} {:>9} {:>9} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>7}"
OURS = re.compile(r"two processes (\S+) ms, one (\S+) ms: \S+; CPU time (\S+) and (\S+) ms: \S+; exchange of \S+ MB as .* \S+ ms, waited for \S+ ms: (\S+) %")


def compare_settings():
    """bench/compare's, which has no .py in its name: PyTorch's environment by the name of the setting."""
    loader = importlib.machinery.SourceFileLoader("compare", str(HERE / "compare"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("compare", loader))
    loader.exec_module(module)
    return module.SETTINGS


class Runner:
    def __init__(self, arguments):
        self.arguments, self.tuned = arguments, compare_settings()["tuned"]

    def output(self, command):
        environment = {"PATH": "/usr/bin:/bin", **self.tuned}
        done = subprocess.run([str(word) for word in command], env=environment, text=True, capture_output=True)
        if done.returncode != 0:
            said = done.stderr.strip().splitlines() or [f"{command[0]} failed"]
            raise RuntimeError(said[-1].strip().removeprefix("what():").strip())
        return done.stdout.splitlines()[-1]

    def ours(self, workload, precision, batch):
        line = self.output([self.arguments.ours, workload, self.arguments.steps, batch, precision])
        two, one, two_cpu, one_cpu, hidden = (float(word) for word in OURS.search(line).groups())
        return {"two": two, "one": one, "two_cpu": two_cpu, "one_cpu": one_cpu, "hidden": hidden}

    def torch(self, workload, precision, batch):
        common = [workload, "--precision", precision, "--batch", batch, "--repeats", self.arguments.steps]
        two = json.loads(self.output([self.arguments.python, HERE / "torch_two_processes.py", *common]))
        one = json.loads(self.output([self.arguments.python, HERE / "torch_workloads.py", *common, "--threads", 2]))
        return {"two": two["median_ms"], "one": one["median_ms"], "two_cpu": two["cpu_ms"], "one_cpu": one["cpu_ms"]}

    def compare(self, workload, precision):
        batch = self.arguments.batch or WORKLOADS.get(workload, 16)
        rounds = [(self.ours(workload, precision, batch), self.torch(workload, precision, batch)) for _ in range(self.arguments.rounds)]
        ours, torch = ({name: statistics.median(one[name] for one in side) for name in side[0]} for side in zip(*rounds))
        return {"workload": workload, "precision": precision, "batch": batch, "ours": ours, "torch": torch,
                "ratio_two": torch["two"] / ours["two"], "ratio_one": torch["one"] / ours["one"],
                "cost": ours["two"] / ours["one"], "torch_cost": torch["two"] / torch["one"],
                "cpu_ratio_two": torch["two_cpu"] / ours["two_cpu"], "cpu_cost": ours["two_cpu"] / ours["one_cpu"],
                "torch_cpu_cost": torch["two_cpu"] / torch["one_cpu"]}


def print_row(row):
    ours, torch = row["ours"], row["torch"]
    ratios = [f"{row[name]:.2f}" for name in
              ("ratio_two", "ratio_one", "cost", "torch_cost", "cpu_ratio_two", "cpu_cost", "torch_cpu_cost")]
    print(LINE.format(row["workload"], row["precision"], *(f"{side[name]:.0f}" for side in (ours, torch) for name in ("two", "one")),
                      *ratios, f"{ours['hidden']:.0f} %"), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", default=list(WORKLOADS))
    parser.add_argument("--precision", default="f32,bf16")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--batch", type=int, default=0)
    parser.add_argument("--ours", default=str(HERE.parent / "build/release/bin/bench_slice_steps"))
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--json", help="file for the rows")
    arguments = parser.parse_args()
    runner = Runner(arguments)
    rows, failures = [], 0
    print(LINE.format(*COLUMNS), flush=True)
    for workload in arguments.workloads:
        for precision in arguments.precision.split(","):
            try:
                rows.append(runner.compare(workload, precision))
                print_row(rows[-1])
            except RuntimeError as error:
                failures += 1
                print(f"{workload:12} {precision:5} {error}", flush=True)
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
