#!/usr/bin/env python3
"""Slices against one process: the job of eight cores with one field changed, trained by a service on several virtual hosts.

Its weights and curves must be those of the same replicas in one process, which knows of no slice, bit by bit: LeNet, ResNet-18 with
batch norm over all cores, BERT. Prints a JSON line for each job and number of cores; the exit status is 1 if a bit differs.

usage: bench/slice_bits.py [--runs JOB:CORES...] [--quick] [--bin build/release/bin]
"""
import argparse
import json
import os
import pathlib
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))
CURVES = ("train_loss", "val_loss")


def compare(service, name, cores, quick, formats, folder):
    """The line of one job on so many cores."""
    import slice_jobs
    spec = slice_jobs.on_slice(slice_jobs.job(name, quick), cores)
    data = spec["data"]["dataset"]
    alone = slice_jobs.OneProcess(spec, formats[data], service.data / data, folder / f"{name}_{cores}")
    began = time.monotonic()
    job = service.submit(spec)
    ended = service.wait_end(job, 3600)
    if ended["state"] != "succeeded":
        raise SystemExit(f"{name} on {cores} cores: {ended['state']}: {ended.get('reason')}")
    curves = {curve: service.metric(job, curve) for curve in CURVES}
    weights = service.newest_weights(job)
    members = service.get(f"/v1/jobs/{job}/attempts")["items"][-1]["members"]
    return {"job": name, "cores": cores, "hosts": len({member["host"] for member in members}), "steps": len(curves["train_loss"]),
            "weights_bytes": len(weights), "same_weights": weights == alone.weights(),
            "same_curves": all(values and values == alone.curve(curve) for curve, values in curves.items()),
            "seconds": round(time.monotonic() - began, 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", nargs="+", default=[f"{job}:{cores}" for job in ("lenet", "resnet18", "bert_small") for cores in (16, 32)])
    parser.add_argument("--quick", action="store_true", help="few steps, small datasets, bert_tiny for bert_small")
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    arguments = parser.parse_args()
    os.environ["SLIPWAY_BIN_DIR"] = str(pathlib.Path(arguments.bin).resolve())
    import slice_jobs
    from service import Service

    runs = [(name, int(cores)) for name, _, cores in (run.partition(":") for run in arguments.runs)]
    unknown = {name for name, _ in runs} - set(slice_jobs.JOBS)
    if unknown:
        raise SystemExit(f"there is no job {min(unknown)}, but {', '.join(slice_jobs.JOBS)}")
    service = Service("--virtual-hosts", str(max(cores for _, cores in runs) // 8))
    differ = False
    try:
        with tempfile.TemporaryDirectory() as folder:
            formats = slice_jobs.write_data(service.data, arguments.quick)
            service.start()
            for name, format in formats.items():
                service.dataset(name, format)
            for name, cores in runs:
                line = compare(service, name, cores, arguments.quick, formats, pathlib.Path(folder))
                differ |= not (line["same_weights"] and line["same_curves"])
                print(json.dumps(line), flush=True)
    finally:
        service.close()
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
