"""Runs of slipway-executor on this machine, for the comparisons with torch."""
import csv
import json
import pathlib
import subprocess
import time
import typing


class Run(typing.NamedTuple):
    losses: dict         # step -> training loss
    evaluated: dict      # the last evaluation's values, by name
    last: pathlib.Path   # folder of the last checkpoint


def last_step(out):
    """Of the curve so far; 0 before its first point."""
    try:
        return int((out / "metrics.csv").read_text().rstrip().rsplit("\n", 1)[-1].split(",")[0])
    except (OSError, ValueError):
        return 0


def run(executor, spec, data, out, arguments=(), say=None):
    """Trains a job on `data` (with a job_format) and reads what it left; `say` hears how far it is."""
    file = out.parent / f"{out.name}.json"
    file.write_text(json.dumps(spec))
    command = [executor, "run", file, "--data", data.folder, "--format", data.format, "--out", out, *arguments]
    begun = time.monotonic()
    with open(out.parent / f"{out.name}.log", "w") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        while True:
            try:
                process.wait(20)
                break
            except subprocess.TimeoutExpired:
                if say:
                    say(f"slipway-executor at step {last_step(out)} after {time.monotonic() - begun:.0f} s")
    if process.returncode != 0:
        raise RuntimeError(f"slipway-executor ended with {process.returncode}: {(out.parent / f'{out.name}.log').read_text()[-2000:]}")
    return read(out)


def read(out):
    rows = list(csv.DictReader((out / "metrics.csv").open()))
    losses = {int(row["step"]): float(row["train_loss"]) for row in rows if row["train_loss"]}
    evaluated = [row for row in rows if row.get("val_loss")][-1]
    newest = max((out / "checkpoints").iterdir(), key=lambda folder: int(folder.name.split("_")[1]))
    return Run(losses, {name: float(value) for name, value in evaluated.items() if value}, newest)
