"""Goal: weights do not depend on the number of worker threads, on any instruction set that this machine has.
Method: slipway-executor trains small networks with 1, 2 and 8 workers and as many as it chooses; checkpoints are compared byte by byte."""
import glob
import hashlib
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from service import BIN, DATA

FLAGS = {"avx2": "AVX2", "avx512f": "AVX512_CORE", "avx512_bf16": "AVX512_CORE_BF16", "amx_bf16": "AVX512_CORE_AMX"}
TASKS = {"mlp": ("classification", "mnist10k", "idx"), "lenet": ("classification", "mnist10k", "idx"),
         "gpt_tiny": ("causal_lm", "tinyshakespeare", "text"), "bert_tiny": ("masked_lm", "tinyshakespeare", "text")}
# Each differed on some instruction set once, or is of another kind.
CASES = [("mlp", "bf16", 1), ("mlp", "bf16", 2), ("mlp", "bf16_true", 2), ("mlp", "bf16", 4), ("lenet", "bf16", 3), ("lenet", "bf16_true", 2),
         ("lenet", "f32", 1), ("gpt_tiny", "bf16", 1), ("bert_tiny", "f32", 2)]


def instruction_sets():
    """Those of this machine, the lowest first, as ONEDNN_MAX_CPU_ISA names them."""
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    flags = next((line.split() for line in lines if line.startswith("flags")), [])
    return [name for flag, name in FLAGS.items() if flag in flags]


def job(network, precision, batch, steps=20):
    task, data, _ = TASKS[network]
    return {"name": network, "model": {"arch": network}, "task": {"type": task},
            "data": {"dataset": data} | ({"tokenizer": {"type": "byte"}} if task.endswith("lm") else {}), "accelerator": {"cores": 8},
            "train": {"steps": steps, "batch_size_per_core": batch, "precision": precision,
                      "optimizer": {"name": "sgd", "lr": 0.05, "momentum": 0.9, "weight_decay": 1e-4}}}


class WorkerBitsTestCase(unittest.TestCase):
    def setUp(self):
        if not (DATA / "mnist10k").exists():
            self.skipTest("needs the test data")
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.home = pathlib.Path(kept.name)

    def train(self, spec, name, workers, instruction_set, *options):
        """What the run said; its checkpoints are in self.home / name."""
        (self.home / f"{name}.json").write_text(json.dumps(spec))
        _, data, form = TASKS[spec["name"]]
        arguments = [] if workers is None else ["--workers", str(workers)]
        run = subprocess.run([BIN / "slipway-executor", "run", self.home / f"{name}.json", "--out", self.home / name, "--data", DATA / data,
                              "--format", form, "--cache", self.home / "cache", *arguments, *options], capture_output=True, text=True,
                             env=os.environ | {"ONEDNN_MAX_CPU_ISA": instruction_set}, timeout=300)
        self.assertEqual(run.returncode, 0, run.stderr[-2000:])
        return run.stdout + run.stderr

    def checkpoint(self, name):
        newest = max(glob.glob(f"{self.home}/{name}/checkpoints/step_*[0-9]"))
        return [hashlib.md5(pathlib.Path(file).read_bytes()).hexdigest() for file in sorted(glob.glob(f"{newest}/*.safetensors"))]

    def assert_same_bits(self, instruction_set, cases):
        for number, (network, precision, batch) in enumerate(cases):
            found = {}
            for workers in (1, 2, 8, None):
                name = f"{instruction_set}_{number}_{workers}"
                self.train(job(network, precision, batch), name, workers, instruction_set)
                found.setdefault(tuple(self.checkpoint(name)), []).append(workers)
            self.assertEqual(len(found), 1, f"{network} {precision} batch {batch} on {instruction_set}: {list(found.values())}")

    def test_the_machines_own(self):
        self.assert_same_bits("ALL", CASES)

    def test_lower_instruction_sets(self):
        for instruction_set in instruction_sets()[:-1]:
            self.assert_same_bits(instruction_set, CASES[::2])

    def test_a_resume_with_another_number_of_workers(self):
        for instruction_set in instruction_sets()[:1] + ["ALL"]:
            for network in ("mlp", "lenet"):
                whole, parts = f"whole_{network}_{instruction_set}", f"parts_{network}_{instruction_set}"
                self.train(job(network, "bf16", 2), whole, 1, instruction_set)
                self.train(job(network, "bf16", 2, steps=9), parts, 8, instruction_set)
                self.train(job(network, "bf16", 2), parts, 3, instruction_set, "--resume")
                self.assertEqual(self.checkpoint(parts), self.checkpoint(whole), f"{network} on {instruction_set}")

    def test_a_resume_on_another_instruction_set_says_so(self):
        if len(instruction_sets()) < 2:
            self.skipTest("this machine has one instruction set")
        self.train(job("mlp", "f32", 2, steps=4), "moved", 2, "AVX2")
        state = json.loads(pathlib.Path(max(glob.glob(f"{self.home}/moved/checkpoints/step_*[0-9]")), "state.json").read_text())
        self.assertIn('"instruction_set":"avx2"', json.dumps(state, separators=(",", ":")))
        said = self.train(job("mlp", "f32", 2, steps=8), "moved", 2, "ALL", "--resume")
        self.assertRegex(said, "was computed with avx2, and this host computes with avx512_core")
        report = json.loads(next((self.home / "moved").rglob("report.json")).read_text())
        self.assertTrue(report["instruction_set"].startswith("avx512_core"), report["instruction_set"])
        self.assertEqual(report["threads"], {"granted": 2, "used": 2, "reason": ""})


if __name__ == "__main__":
    unittest.main()
