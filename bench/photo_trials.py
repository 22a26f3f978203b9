#!/usr/bin/env python3
"""What eight trials on photos cost with decoded images that they share, beside eight that decode for themselves.

Eight single-core trials (a grid of eight learning rates) train a network on photos in files, from `data.augment` with a resize
before what is drawn, in a service as it is and in one with `--decoded-max-gib 0`, in turns. Each round has new files, so that each
photo has to be decoded; each service has trained once before, on other photos, so that nothing is compiled.

Prints one JSON line: of both the CPU seconds of the eight executors, the seconds of the sweep, the greatest sum of the proportional
set sizes of the executors while all train, and the bytes of shared pixels; `cpu_ratio` and `pss_ratio` of the sums, shared to
alone. Fails unless all trials of both end with the same validation losses, to the bit.

usage: bench/photo_trials.py [--photos 1200] [--epochs 3] [--side 64] [--rounds 2] [--bin build/release/bin]
"""
import argparse
import json
import os
import pathlib
import sys
import time

from eight_trials import RATES, pss_mb, sweep_of
from sweep_parts import ROOT

sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))


def photo_job(dataset, arguments):
    side = arguments.side
    steps = [{"name": "resize", "size": [side + side // 8] * 2}, {"name": "random_crop", "size": [side] * 2}, {"name": "horizontal_flip"}]
    return {"model": {"arch": arguments.arch}, "task": {"type": "classification"},
            "data": {"dataset": dataset, "split": {"val_fraction": 0.2, "seed": 0}, "augment": steps},
            "train": {"epochs": arguments.epochs, "batch_size_per_core": 32, "optimizer": {"name": "sgd", "lr": 0.01}},
            "accelerator": {"cores": 1}, "checkpoint": {"every_epochs": 0, "save_final": False},
            "monitor": {"log_every_steps": 1000, "sinks": [], "metrics_report": "never"}}


class Photos:
    """A service, and the calls of the end-to-end tests."""

    def __init__(self, arguments, *options):
        os.environ["SLIPWAY_BIN_DIR"] = str(pathlib.Path(arguments.bin).resolve())
        from service import DATA, Service
        from sweep_calls import SweepCalls
        self.source = sorted((DATA / "photos").rglob("*.jpg"))
        self.arguments = arguments
        self.service = Service(*options)
        self.calls = SweepCalls()
        self.calls.service = self.service
        self.service.start()

    def dataset(self, name):
        """`--photos` files, each photo as often as it takes, made so long ago that they may be shared."""
        for i in range(self.arguments.photos):
            photo = self.source[i % len(self.source)]
            target = self.service.data / name / photo.parent.name / f"{i:05}.jpg"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(photo.read_bytes())
        self.service.dataset(name, "image_folder")
        time.sleep(3)

    def executors(self):
        return set(self.service.executors_that_wait()) | set(self.service.executors())

    def round(self, name):
        self.dataset(name)
        began = time.monotonic()
        before = {one: cpu_s(one) for one in self.executors()}
        sweep_id = self.calls.create(sweep_of(photo_job(name, self.arguments), RATES))
        greatest, cpu = 0.0, {}
        while self.calls.sweep(sweep_id)["state"] == "running":
            try:
                found = self.executors()
                cpu |= {one: cpu_s(one) for one in found}
                greatest = max(greatest, sum(pss_mb(one)["all"] for one in self.service.executors()))
            except (FileNotFoundError, ProcessLookupError):
                pass    # one has ended
            time.sleep(0.1)
        seconds = time.monotonic() - began
        cpu |= {one: cpu_s(one) for one in self.executors()}
        trials = self.calls.trials(sweep_id)
        assert all(one["state"] == "completed" for one in trials), [one["state"] for one in trials]
        pixels = sum(one.stat().st_size for one in (self.service.home / "store").rglob("*.pixels"))
        return {"cpu_s": round(sum(cpu.values()) - sum(before.get(one, 0.0) for one in cpu), 2), "seconds": round(seconds, 2),
                "pss_mb": round(greatest, 1), "pixels_mb": round(pixels / 1e6, 1)}, [one["value"] for one in trials]


def cpu_s(process):
    words = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--photos", type=int, default=1200)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--side", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--arch", default="lenet")
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    arguments = parser.parse_args()
    services = {"shared": Photos(arguments), "alone": Photos(arguments, "--decoded-max-gib", "0")}
    rounds = {name: [] for name in services}
    try:
        for number in range(arguments.rounds + 1):
            values = {}
            for name, photos in services.items():
                measured, values[name] = photos.round(f"photos{number}")
                print(f"round {number}, {name}: {measured}", file=sys.stderr, flush=True)
                if number > 0:
                    rounds[name].append(measured)
            assert values["shared"] == values["alone"], values
    finally:
        for photos in services.values():
            photos.service.close()
    total = {name: {key: sum(one[key] for one in ones) for key in ("cpu_s", "pss_mb")} for name, ones in rounds.items()}
    print(json.dumps({"photos": arguments.photos, "epochs": arguments.epochs, "side": arguments.side, "arch": arguments.arch, **rounds,
                      "cpu_ratio": round(total["shared"]["cpu_s"] / total["alone"]["cpu_s"], 3),
                      "pss_ratio": round(total["shared"]["pss_mb"] / total["alone"]["pss_mb"], 3)}))


if __name__ == "__main__":
    main()
