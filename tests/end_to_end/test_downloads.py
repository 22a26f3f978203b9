"""Goal: what a job has trained and measured leaves the service in files that other programs read: weights for other
frameworks, event files for TensorBoard, a table. Method: readers of their own, of the standard library alone."""
import csv
import io
import json
import os
import signal
import struct
import subprocess
import sys
import unittest

from service import BIN, SOURCE, points_job, serve_points

sys.path.insert(0, str(SOURCE / "tests/executor/main"))

import read_events  # noqa: E402


def tensors(blob):
    """name -> (type, shape, bytes) of a safetensors file, and its metadata."""
    (length,) = struct.unpack_from("<Q", blob)
    header, data = json.loads(blob[8:8 + length]), blob[8 + length:]
    metadata = header.pop("__metadata__", {})
    return {name: (row["dtype"], row["shape"], data[slice(*row["data_offsets"])]) for name, row in header.items()}, metadata


def rounded(content):
    """f32 to bf16, to the nearest, ties to even."""
    halves = [(bits + 0x7FFF + (bits >> 16 & 1)) >> 16 for (bits,) in struct.iter_unpack("<I", content)]
    return struct.pack(f"<{len(halves)}H", *halves)


class Downloads(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        serve_points(cls)

    def slipway(self, *words):
        done = subprocess.run([BIN / "slipway", "--home", self.service.home, "--url", f"http://127.0.0.1:{self.service.port}",
                               *words], capture_output=True, text=True, cwd=self.service.home)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.service.home / done.stdout.strip()

    def body(self, path):
        answer = self.service.call("GET", path)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.body

    def test_weights_for_other_frameworks(self):
        model = {"arch": "layers", "tie": [["there.weight", "back.weight"]], "layers": [
            {"type": "linear", "name": "there", "out_features": 4}, {"type": "tanh"},
            {"type": "linear", "name": "back", "out_features": 4}, {"type": "batch_norm", "name": "norm"},
            {"type": "linear", "name": "head"}]}
        job = self.service.submit({**points_job(train={"ema": {"decay": 0.9}, "epochs": 2}), "model": model})
        self.assertEqual(self.service.wait_end(job)["state"], "succeeded")
        checkpoint = self.service.get(f"/v1/jobs/{job}/checkpoints")["items"][0]["id"]
        path = f"/v1/checkpoints/{checkpoint}"
        stored, _ = tensors(self.body(f"{path}/files/model.safetensors"))
        slots, _ = tensors(self.body(f"{path}/files/optimizer.safetensors"))
        exported, metadata = tensors(self.body(f"{path}/weights.safetensors"))
        self.assertEqual(metadata, {"format": "pt"})
        self.assertEqual(set(exported), {
            "there.weight", "there.bias", "back.weight", "back.bias", "head.weight", "head.bias", "norm.weight", "norm.bias",
            "norm.running_mean", "norm.running_var", "norm.num_batches_tracked"})
        self.assertEqual(exported, {**stored, "back.weight": stored["there.weight"]})

        raw, _ = tensors(self.slipway("export", checkpoint, "--weights", "raw", "--out", "raw.safetensors").read_bytes())
        self.assertEqual(raw["back.weight"], slots["there.weight.raw"])
        self.assertNotEqual(raw["head.weight"], stored["head.weight"])
        self.assertEqual(raw["norm.running_var"], stored["norm.running_var"])
        half, _ = tensors(self.slipway("export", checkpoint, "--dtype", "bf16").read_bytes())
        for name, (dtype, shape, content) in exported.items():
            expected = (dtype, shape, content) if dtype == "I64" else ("BF16", shape, rounded(content))
            self.assertEqual(half[name], expected, name)
        self.assertEqual(list((self.service.home / "store/exports").iterdir()), [])

    def test_curves_of_a_job_whose_executor_was_killed(self):
        job = self.service.submit(points_job(
            train={"epochs": 150, "batch_size_per_core": 8, "optimizer": {"name": "adam", "lr": 0.001}},
            checkpoint={"every_epochs": 5, "keep_last": 2}))
        self.service.wait_said(job, "checkpoint")
        (executor,) = self.service.executors(job)
        os.kill(executor, signal.SIGKILL)
        ended = self.service.wait_end(job)
        self.assertEqual((ended["state"], ended["attempts"]), ("succeeded", 2))
        curves = {name: self.service.metric(job, name) for name in ("train_loss", "lr", "val_loss")}

        events = self.slipway("tensorboard", job, "--out", "curves")
        self.assertEqual(events.read_bytes(), self.body(f"/v1/jobs/{job}/tensorboard"))
        lines = [line.split(" ", 2) for line in read_events.read(events.read_bytes())]
        self.assertEqual(len([line for line in lines if line[1] == "session"]), 2)
        table = list(csv.DictReader(io.StringIO(self.body(f"/v1/jobs/{job}/metrics.csv?form=table").decode())))
        for name, curve in curves.items():
            points = [(int(step), float(value)) for step, tag, value in lines if tag == name]
            self.assertEqual([step for step, _ in points], sorted(curve), "no step is lost or said twice")
            for step, value in points:
                self.assertAlmostEqual(value / curve[step], 1, delta=1e-5)    # f32, printed with six digits
            self.assertEqual({int(row["step"]): float(row[name]) for row in table if row[name]}, curve)

        report = self.service.get(f"/v1/jobs/{job}/report")
        self.assertEqual(report["epochs"][-1]["epoch"], 150)
        self.assertEqual(report["epochs"][-1]["values"]["val_loss"], curves["val_loss"][max(curves["val_loss"])])
        said = [line["message"] for line in self.service.get(f"/v1/jobs/{job}/logs?limit=5000")["items"]]
        self.assertTrue(any(line.startswith("epoch 150 of 150 (step ") for line in said), said[-5:])


if __name__ == "__main__":
    unittest.main()
