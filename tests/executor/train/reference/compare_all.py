#!/usr/bin/env python3
"""Every comparison with torch, one after the other: whether stored numbers are fresh, and what slipway-executor trains beside
what torch trains. Ends with a table of the figures.

usage: compare_all.py BIN [--only WORD] [--skip WORD…] [--text FOLDER] [--junit FILE]

BIN is the folder of slipway-executor and bench_network_logits, optimised. Needs python3-torch, python3-torchvision,
python3-pil and python3-numpy of Debian 12. Takes tens of minutes of two CPUs that do nothing else and 6 GB of memory. `--only` and `--skip`
choose by words in the names of comparisons. FOLDER is wikitext2's; without it the comparison of perplexities is left out
and said to be.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as tree

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[3]
LIMIT_S = 3600

FRESH = ("nn/reference/make_networks.py", "nn/reference/make_metrics.py", "nn/layer_list/reference/make_layer_list.py",
         "optim/reference/make_updates.py", "train/reference/make_loss_curves.py", "train/reference/make_task_curves.py",
         "data/augment/make_goldens.py")
WITH_FIGURES = ("training.", "large.", "perplexity.")
RESUMED = (("resnet18", 1), ("resnet18", 8), ("resnet34", 1), ("resnet50", 1))


def command(script, *arguments):
    return [sys.executable, str(HERE / script), *map(str, arguments)]


def comparisons(programs, text):
    """name -> command"""
    executor, logits = programs / "slipway-executor", programs / "bench_network_logits"
    found = {f"fresh.{path.split('/')[-1].removesuffix('.py')}": command("fresh.py", f"tests/executor/{path}") for path in FRESH}
    rows = subprocess.run(command("compare_training.py", "--list"), check=True, capture_output=True, text=True).stdout.split()
    found |= {f"training.{row}": command("compare_training.py", executor, logits, row) for row in rows}
    found |= {f"resumed.{arch}_{cores}": command("compare_torchvision.py", executor, "--arch", arch, "--cores", cores)
              for arch, cores in RESUMED}
    found["declared"] = command("compare_declared.py", executor)
    found["large.gpt2"] = command("resume_gpt2.py", executor)
    if text:
        found["perplexity.bert_small"] = command("compare_language.py", executor, "--text", text)
    return found


def environment():
    """OpenBLAS of Debian 12 takes newer CPUs for old ones; threads that wait are to leave the CPU to those that work."""
    settings = {"OMP_WAIT_POLICY": "passive", "PYTHONDONTWRITEBYTECODE": "1"}
    if "avx512" in pathlib.Path("/proc/cpuinfo").read_text():
        settings["OPENBLAS_CORETYPE"] = "SkylakeX"
    return settings | os.environ


class Outcome:
    def __init__(self, name, asked, folder):
        self.name, figures, begun = name, folder / f"{name}.json", time.monotonic()
        if name.startswith(WITH_FIGURES):
            asked = asked + ["--figures", str(figures)]
        try:
            done = subprocess.run(asked, env=environment(), capture_output=True, text=True, timeout=LIMIT_S)
            self.passed, self.said = done.returncode == 0, done.stdout + ("" if done.returncode == 0 else done.stderr)
        except subprocess.TimeoutExpired:
            self.passed, self.said = False, f"took more than {LIMIT_S} s"
        self.seconds = time.monotonic() - begun
        self.found = json.loads(figures.read_text()) if figures.exists() else None


def table(outcomes):
    """Of each figure the worst over all comparisons, and each row's."""
    rows = [outcome for outcome in outcomes if outcome.found]
    if not rows:
        return
    columns = list(dict.fromkeys(figure["what"] for row in rows for figure in row.found["figures"]))
    width = max(len(row.name) for row in rows)
    print("\nDifference from torch, and in brackets torch's float32 from its float64; bounds below")
    print(" " * width + "".join(f"  {column:>18.18}" for column in columns))
    for row in rows:
        figures = {figure["what"]: figure for figure in row.found["figures"]}
        cells = ""
        for column in columns:
            figure = figures.get(column)
            torch = f"({figure['torch']:.0e})" if figure and figure["torch"] is not None else ""
            cells += f"  {figure['found']:>9.1e} {torch:8}" if figure else " " * 20
        print(f"{row.name:{width}}{cells} {'' if row.passed else 'FAILED'}")
    for label, key in (("worst", "found"), ("bound", "bound")):
        worst = [max(figure[key] for row in rows for figure in row.found["figures"] if figure["what"] == column) for column in columns]
        print(f"{label:{width}}" + "".join(f"  {one:>9.1e} {'':8}" for one in worst))


def write_junit(file, outcomes, left):
    suite = tree.Element("testsuite", name="torch")
    for outcome in outcomes:
        case = tree.SubElement(suite, "testcase", name=f"torch.{outcome.name}", status="run" if outcome.passed else "fail",
                               time=f"{outcome.seconds:.1f}")
        if not outcome.passed:
            tree.SubElement(case, "failure", message=outcome.said[-2000:])
    for name in left:
        tree.SubElement(tree.SubElement(suite, "testcase", name=f"torch.{name}", status="notrun"), "skipped", message="SKIP")
    tree.ElementTree(suite).write(file)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--skip", nargs="*", default=[])
    parser.add_argument("--text", type=pathlib.Path)
    parser.add_argument("--junit", type=pathlib.Path)
    asked = parser.parse_args()
    text = asked.text if asked.text and asked.text.is_dir() else None
    wanted = {name: one for name, one in comparisons(asked.bin.resolve(), text).items()
              if asked.only in name and not any(word in name for word in asked.skip)}
    if not wanted:
        parser.error(f"no comparison has {asked.only} in its name")
    outcomes, begun = [], time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, one) in enumerate(wanted.items(), 1):
            print(f"[{number}/{len(wanted)}, {(time.monotonic() - begun) / 60:.1f} min] {name}", flush=True)
            outcomes.append(Outcome(name, one, pathlib.Path(folder)))
            print(f"    {'passed' if outcomes[-1].passed else 'FAILED'} in {outcomes[-1].seconds:.0f} s: {outcomes[-1].said.strip()}", flush=True)
    left = [] if text or asked.only not in "perplexity.bert_small" else ["perplexity.bert_small"]
    if left:
        print(f"left out, there is no text at {asked.text}: {', '.join(left)}")
    table(outcomes)
    if asked.junit:
        write_junit(asked.junit, outcomes, left)
    failed = sum(not outcome.passed for outcome in outcomes)
    print(f"\n{len(outcomes) - failed} comparisons hold, {failed} do not")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
