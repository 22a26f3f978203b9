"""A service whose jobs run in a Slurm cluster of its own, for one test class."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import tempfile

from service import BIN, Service, wait_for, write_points
from slurm_cluster import start_cluster


def start(case, hosts=2, settings=()):
    """`case.cluster` and `case.service`, with the datasets `points` and `glyphs`; both end with the class."""
    start_cluster(case, hosts)
    case.service = Service("--launcher", "slurm", *settings)
    case.addClassCleanup(case.service.close)
    write_points(case.service.data / "points", rows=4000)
    subprocess.run([BIN / "slipway-glyphs", "--out", case.service.data / "glyphs", "--samples", "600"], check=True,
                   stdout=subprocess.DEVNULL)
    case.service.start()
    case.service.dataset("points", "csv", {"group_column": "family"})
    case.service.dataset("glyphs", "image_csv")


def slice_job(name, cores, epochs=1):
    """A lenet whose spec differs from that on eight cores in one field."""
    return {
        "name": name, "model": {"arch": "lenet"}, "task": {"type": "classification"},
        "data": {"dataset": "glyphs", "split": {"val_fraction": 0.2, "seed": 0}},
        "train": {"epochs": epochs, "batch_size_per_core": 4, "optimizer": {"name": "adam", "lr": 0.001}},
        "accelerator": {"slice": {"cores": cores}}, "monitor": {"log_every_steps": 1},
        "checkpoint": {"every_steps": 3, "keep_last": 2}}


def one_process(service, cores, epochs):
    """Weights of as many replicas in one process, without a service."""
    with tempfile.TemporaryDirectory() as folder:
        spec = pathlib.Path(folder) / "job.json"
        spec.write_text(json.dumps(slice_job("one process", cores, epochs)))
        subprocess.run([BIN / "slipway-executor", "run", spec, "--data", service.data / "glyphs", "--format", "image_csv",
                        "--out", f"{folder}/out"], check=True, stdout=subprocess.DEVNULL)
        newest = max(pathlib.Path(folder).glob("out/checkpoints/*/model.safetensors"), key=lambda file: file.stat().st_mtime_ns)
        return newest.read_bytes()


def slurm_number(cluster, job_id, states=("RUNNING",)):
    """Number of the job of Slurm of this job, once it is in one of these states."""
    def found():
        return next((number for number, state, name in cluster.queue() if name.startswith(f"{job_id}/") and state in states), None)
    return wait_for(found, f"{job_id} to be {states} in Slurm")


def mid_job(service, job_id, checkpoints=1):
    """Until checkpoints are kept."""
    service.wait_said(job_id, "checkpoint", checkpoints, limit_s=120)


def kill(process):
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
