"""What the programs that measure whole runs share: a folder of real photos, a job of ResNet-18 on them, and executors by hand."""
import json
import os
import pathlib
import resource
import shutil
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
DATA = pathlib.Path(os.environ.get("SLIPWAY_TEST_DATA", ROOT / ".." / "shared" / "data"))
TRAIN, VAL = 69, 17


def add_common(parser):
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch", type=int, default=16, help="of all cores")
    parser.add_argument("--side", type=int, default=64, help="images are resized to squares of this side, in pixels")
    parser.add_argument("--cores", default="8,1", help="virtual cores of the job; a figure for each")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))


def copy_photos(folder):
    """CLASS/*.jpg: as many photos as leave TRAIN for training when VAL are held back."""
    source = sorted((DATA / "photos").rglob("*.jpg"), key=lambda file: file.name)
    if len(source) < TRAIN + VAL:
        raise SystemExit(f"there are no photos in {DATA / 'photos'}")
    for file in source[:TRAIN + VAL]:
        target = folder / file.parent.name / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)


def job(arguments, cores, **checkpoint):
    return {"model": {"arch": "resnet18"}, "task": {"type": "classification"},
            "data": {"dataset": "photos", "split": {"val_fraction": VAL / (TRAIN + VAL), "seed": 0}},
            "train": {"epochs": arguments.epochs, "batch_size_per_core": arguments.batch // cores,
                      "optimizer": {"name": "sgd", "lr": 0.01, "momentum": 0.9}},
            "accelerator": {"cores": cores}, **({"checkpoint": checkpoint} if checkpoint else {})}


def timed(command, environment=None):
    """Seconds by the clock from its start to its end, CPU seconds, and the last line of what it printed."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([str(word) for word in command], env=environment, text=True, capture_output=True)
    seconds, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f"{command[0]} failed:\n{(done.stdout + done.stderr).strip()[-2000:]}")
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, cpu_s, done.stdout.splitlines()[-1]


class Executor:
    """Runs of `slipway-executor run` in a folder, each in a run folder of its own that is removed when it was read."""

    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.program = pathlib.Path(arguments.bin) / "slipway-executor"

    def run(self, spec, cache):
        """Seconds, CPU seconds, the report of the run, its frames, and digests of the weights it saved."""
        file, out = self.folder / "job.json", self.folder / "out"
        file.write_text(json.dumps(spec))
        seconds, cpu_s, _ = timed([self.program, "run", file, "--out", out, "--data", self.folder / "photos", "--format", "image_folder",
                                   "--options", json.dumps({"image_size": self.arguments.side}), "--cache", cache])
        report = json.loads((out / "report.json").read_text())
        frames = [json.loads(line) for line in (out / "frames.ndjson").read_text().splitlines()]
        weights = [file["sha256"] for frame in frames if frame["type"] == "checkpoint"
                   for file in frame["files"] if file["name"] == "model.safetensors"]
        shutil.rmtree(out)
        return {"seconds": seconds, "cpu_s": cpu_s, "report": report, "frames": frames, "weights": weights}
