"""The jobs of eight cores that slice_bits.py and killed_slices.py run on slices, and what they train on. The data are those of
SLIPWAY_TEST_DATA (default ../shared/data)."""
import gzip
import json
import pathlib
import struct
import subprocess

import service


def digits_job(model, train, **changes):
    return {"model": model, "task": {"type": "classification"}, "data": {"dataset": "digits", "split": {"val_fraction": 0.2, "seed": 0}},
            "train": train, **changes}


# name -> the job of eight cores.
JOBS = {
    "lenet": digits_job({"arch": "lenet"}, {"epochs": 2, "batch_size_per_core": 8, "optimizer": {"name": "adam", "lr": 0.001}}),
    "resnet18": digits_job({"arch": "resnet18", "sync_batch_norm": True},
                           {"steps": 12, "batch_size_per_core": 2, "optimizer": {"name": "sgd", "lr": 0.05, "momentum": 0.9}}),
    "bert_small": {"model": {"arch": "bert_small"}, "task": {"type": "masked_lm"},
                   "data": {"dataset": "text", "max_length": 64, "tokenizer": {"type": "bpe", "vocab_size": 1000},
                            "split": {"train": "train", "val": "valid"}},
                   "train": {"steps": 12, "batch_size_per_core": 1, "optimizer": {"name": "adamw", "lr": 0.0005}}},
}
# What takes seconds of CPU time instead of minutes.
QUICK = {"lenet": {"train": {"steps": 10, "batch_size_per_core": 2}},
         "resnet18": {"train": {"steps": 2, "batch_size_per_core": 1}},
         "bert_small": {"model": {"arch": "bert_tiny"}, "data": {"max_length": 16}, "train": {"steps": 3}}}


def job(name, quick=False):
    """The job of eight cores; `quick`: with the changes of QUICK."""
    spec = {"name": name, "accelerator": {"cores": 8}, "monitor": {"log_every_steps": 1}, "checkpoint": {"every_steps": 5, "keep_last": 2},
            **JOBS[name]}
    for part, changes in QUICK[name].items() if quick else ():
        spec[part] = {**spec[part], **changes}
        if "steps" in changes:
            spec[part].pop("epochs", None)
    return spec


def on_slice(spec, cores):
    """The same job, one field changed."""
    return {**spec, "accelerator": {"slice": {"cores": cores}}}


def write_digits(folder, count):
    """The first `count` images and labels of MNIST, as idx files."""
    source = service.DATA / "mnist10k"
    folder.mkdir(parents=True)
    images = gzip.decompress((source / "t10k-images-idx3-ubyte.gz").read_bytes())
    labels = gzip.decompress((source / "t10k-labels-idx1-ubyte.gz").read_bytes())
    (folder / "digits-images-idx3-ubyte").write_bytes(struct.pack(">4B3I", 0, 0, 8, 3, count, 28, 28) + images[16:16 + 784 * count])
    (folder / "digits-labels-idx1-ubyte").write_bytes(struct.pack(">4BI", 0, 0, 8, 1, count) + labels[8:8 + count])


def write_text(folder, bytes_max):
    """The beginning of WikiText's parts."""
    folder.mkdir(parents=True)
    for name, part in (("train.txt", "test.txt"), ("valid.txt", "valid.txt")):
        text = (service.DATA / "wikitext2" / part).read_bytes()[:bytes_max]
        (folder / name).write_bytes(text[:text.rfind(b"\n") + 1])


def write_data(folder, quick=False):
    """The datasets of all jobs, each in its folder: name -> format."""
    write_digits(folder / "digits", 400 if quick else 10_000)
    write_text(folder / "text", 30_000 if quick else 300_000)
    return {"digits": "idx", "text": "text"}


class OneProcess:
    """What an executor makes of a job with all replicas of its slice in one process."""

    def __init__(self, spec, format, data, folder):
        self.folder = folder
        folder.mkdir(parents=True)
        (folder / "job.json").write_text(json.dumps(spec))
        done = subprocess.run([service.BIN / "slipway-executor", "run", folder / "job.json", "--out", folder / "out", "--data", data,
                               "--format", format], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"the run in one process failed:\n{done.stdout}{done.stderr}")

    def weights(self):
        newest = max((self.folder / "out" / "checkpoints").glob("step_*"), key=lambda each: each.name)
        return (newest / "model.safetensors").read_bytes()

    def curve(self, name):
        """step -> value."""
        points = {}
        for line in (self.folder / "out" / "frames.ndjson").read_text().splitlines():
            frame = json.loads(line)
            if frame["type"] == "metric" and name in frame["values"]:
                points[frame["step"]] = frame["values"][name]
        return points
