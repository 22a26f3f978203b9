#!/usr/bin/env python3
"""Stored numbers of torch are what their programs write: runs one of them on a copy of the sources and compares.

usage: fresh.py PROGRAM      the path of a make_*.py below tests/executor, which writes JSON files beside itself
"""
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[4]

# Another CPU's kernels may sum in another order; most numbers are float64's, these float32's.
FLOAT32 = ("make_loss_curves.py", "make_task_curves.py")
INPUTS = ("cases.json",)


def differences(stored, made, path, share):
    """Paths of what is not the same."""
    if isinstance(stored, dict) and isinstance(made, dict) and stored.keys() == made.keys():
        return [one for key in stored for one in differences(stored[key], made[key], f"{path}/{key}", share)]
    if isinstance(stored, list) and isinstance(made, list) and len(stored) == len(made):
        return [one for at, (old, new) in enumerate(zip(stored, made)) for one in differences(old, new, f"{path}/{at}", share)]
    if isinstance(stored, float) and isinstance(made, float):
        return [] if math.isclose(stored, made, rel_tol=share, abs_tol=share / 10) else [path]
    return [] if stored == made else [path]


def main():
    program = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        copy = pathlib.Path(name)
        for part in ("tests/executor", "bench"):
            shutil.copytree(SOURCE / part, copy / part)
        folder = (copy / program).parent
        stored = {file.name: json.loads(file.read_text()) for file in folder.glob("*.json")}
        for file in folder.glob("*.json"):
            if file.name not in INPUTS:
                file.unlink()
        done = subprocess.run([sys.executable, program.name], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            print(f"{program}: {done.stderr.strip()[-2000:]}")
            return 1
        made = {file.name: json.loads(file.read_text()) for file in folder.glob("*.json") if file.name not in INPUTS}
        if not made and done.stdout:    # it prints what is kept
            (name,) = (name for name in stored if name not in INPUTS)
            made = {name: json.loads(done.stdout)}
    share = 1e-5 if program.name in FLOAT32 else 1e-8
    stale = [one for name in made for one in differences(stored[name], made[name], name, share)]
    print(f"{program}: {', '.join(made)} " + (f"differs in {len(stale)} places, first {stale[0]}" if stale else "is fresh"))
    return 1 if stale or not made else 0


if __name__ == "__main__":
    sys.exit(main())
