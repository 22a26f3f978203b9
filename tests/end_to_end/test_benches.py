"""Measurements that docs/contributing/requirements.md asks for: that they run and print what they say, never what is fast."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

from service import DATA

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "bench" / "cores_of_a_job.py"
LOAD = pathlib.Path(os.environ["SLIPWAY_TEST_BIN_DIR"]) / "bench_http_load"
SLICE_STEPS = pathlib.Path(os.environ["SLIPWAY_TEST_BIN_DIR"]) / "bench_slice_steps"
# In place of a Python with PyTorch, too: the whole run.
FAKE_WHOLE_RUN = """#!/usr/bin/env python3
import json, os, pathlib, sys
words = sys.argv
assert os.path.basename(words[1]) == "torch_whole_run.py" and len(list(pathlib.Path(words[2]).glob("*/*.jpg"))) == 86
assert words[3:4] + words[5:-1] == ["--out", "--epochs", "1", "--batch", "16", "--side", "32", "--val", "17", "--loaders"]
pathlib.Path(words[4], "epoch_1.pt").touch()
print(json.dumps({"seconds": 0.01, "phases": {"import": 0.002, "steps": 0.008}}))
"""
# In place of a Python with PyTorch: says what its scripts print, or that there is no PyTorch.
FAKE_TORCH = """#!/usr/bin/env python3
import json, os, sys
script = os.path.basename(sys.argv[1])
assert sys.argv[2:] == ["mlp128", "--precision", "f32", "--batch", "32", "--repeats", "1"] + ["--threads", "2"] * (script == "torch_workloads.py")
times = {"torch_two_processes.py": (30, 50), "torch_workloads.py": (20, 40)}[script]
print("a line before")
print(json.dumps({"median_ms": times[0], "cpu_ms": times[1]}))
"""


def measure(*arguments):
    executor = pathlib.Path(os.environ["SLIPWAY_BIN_DIR"]) / "slipway-executor"
    return subprocess.run([sys.executable, SCRIPT, "--executor", executor, *arguments], capture_output=True, text=True)


# In place of slipwayd: one whose start does not end, or whose agent ends, and whose schema is half made.
FAKE_SLIPWAYD = """#!/bin/sh
case $1 in
serve) echo "there is no room for the schema"; exec sleep 1000 ;;
agent) echo "the agent is of another version"; exit 3 ;;
verify) echo "column job.pruned does not exist"; exit 1 ;;
esac
"""


class WorkerChoice(unittest.TestCase):
    def test_says_what_each_number_takes_and_which_was_chosen(self):
        done = subprocess.run([sys.executable, ROOT / "bench" / "worker_choice.py", "--bin", os.environ["SLIPWAY_BIN_DIR"], "--workloads", "mlp128",
                               "--batches", "8", "--precisions", "f32", "--threads", "2", "--rounds", "1"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^mlp128 f32 8: one [\d.]+, 2 [\d.]+, chosen [\d.]+ with [12], over the better [\d.]+\n$")


class StartsThatFail(unittest.TestCase):
    """Goal: what a measurement says of them is why, not what follows from it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        program = pathlib.Path(folder.name) / "slipwayd"
        program.write_text(FAKE_SLIPWAYD)
        program.chmod(0o755)
        sys.path.insert(0, str(ROOT / "bench"))
        self.addCleanup(sys.path.remove, str(ROOT / "bench"))
        patched = unittest.mock.patch("service.BIN", program.parent)
        patched.start()
        self.addCleanup(patched.stop)

    def test_a_service_that_is_not_ready_in_time_is_named_with_what_it_said(self):
        from killed_slices import TwoHosts
        hosts = TwoHosts()
        hosts.service.ready_s_max = 2
        with self.assertRaises(AssertionError) as raised:
            try:
                hosts.start()
            finally:
                hosts.close()
        self.assertIn("there is no room for the schema", str(raised.exception))

    def test_an_agent_that_ends_is_named_with_what_it_said(self):
        from killed_slices import TwoHosts
        hosts = TwoHosts()
        self.addCleanup(hosts.close)
        data = hosts.service.home / "postgres" / "data"
        data.mkdir(parents=True)
        (data / "postmaster.pid").write_text("\n" * 3 + "5432\n/nowhere\n")
        hosts.service.sql = lambda text: []
        with self.assertRaises(AssertionError) as raised:
            hosts.start_agent()
        self.assertIn("the agent is of another version", str(raised.exception))


class Benches(unittest.TestCase):
    def test_the_factor_of_eight_cores_is_printed(self):
        ran = measure("gpt_tiny", "--rounds", "1", "--steps", "2")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        line = re.fullmatch(r"gpt_tiny +f32 +([0-9.]+) +([0-9.]+) +([0-9.]+) \(.*\) +planned ([0-9]+) ([0-9]+) +resident [0-9]+ [0-9]+\n",
                            ran.stdout)
        self.assertIsNotNone(line, ran.stdout)
        one, eight, factor, planned_one, planned_eight = map(float, line.groups())
        self.assertAlmostEqual(eight / one, factor, delta=0.02 * factor)
        self.assertEqual(planned_eight, planned_one)    # eight parts either way

    def test_what_is_no_network_is_refused_with_those_there_are(self):
        ran = measure("resnet19")
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("there is no network resnet19, but resnet18, ", ran.stderr)

    def test_a_job_that_fails_is_named(self):
        ran = measure("gpt_tiny", "--steps", "0")
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("train.steps", ran.stderr)

    def test_what_a_long_queue_costs_a_question_is_printed(self):
        ran = subprocess.run([sys.executable, ROOT / "bench" / "long_queue.py", "--bin", os.environ["SLIPWAY_BIN_DIR"],
                              "--jobs", "500", "--rounds", "2"], capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        figures = json.loads(ran.stdout)
        self.assertEqual(figures["jobs"], 500)
        self.assertEqual(set(figures["long"]), {"stats_ms", "page_ms", "explain_ms", "job_ms", "simulate_ms"})
        self.assertEqual(set(figures["page"]), set(figures["ratio"]))
        self.assertEqual(set(figures["bounded"]), set(figures["ratio"]))

    def test_what_a_long_queue_costs_a_submission_is_printed(self):
        programs = os.environ["SLIPWAY_BIN_DIR"]
        ran = subprocess.run([sys.executable, ROOT / "bench" / "service_load.py", "--bin", programs, "--other", programs,
                              "--other-queued", "2000", "--rounds", "1", "--seconds", "0.5", "--jobs", "2", "--load", LOAD],
                             capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        figures = json.loads(ran.stdout)
        self.assertEqual(set(figures), {"first", "other", "ratio"})
        for name in ("post_per_s_1", "post_per_s_16", "submit_to_start_p50_ms", "submit_to_end_p50_ms"):
            self.assertAlmostEqual(figures["ratio"][name], figures["other"][name] / figures["first"][name], delta=0.05)

    def test_what_a_hostile_input_costs_the_service_is_printed(self):
        programs = os.environ["SLIPWAY_BIN_DIR"]
        ran = subprocess.run([sys.executable, ROOT / "bench" / "hostile_inputs.py", "--bin", programs, "--case", "announced_uploads"],
                             capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        figures = json.loads(ran.stdout)
        self.assertEqual((figures["case"], figures["build"], figures["announced_gib"]), ("announced_uploads", "first", 640))
        self.assertEqual(sum(figures["answers"].values()), 40)
        self.assertGreater(figures["service_mib"], 1)
        self.assertGreater(figures["healthz_slowest_ms"], 0)

    def figures_of(self, script, *arguments):
        ran = subprocess.run([sys.executable, ROOT / "bench" / script, "--bin", os.environ["SLIPWAY_BIN_DIR"], *arguments],
                             capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        return json.loads(ran.stdout)

    def test_faults_on_the_real_programs_break_no_promise(self):
        figures = self.figures_of("chaos/chaos.py", "--faults", "10", "--batch", "10", "--seed", "5")
        self.assertEqual((figures["faults"], sum(figures["by_kind"].values()), figures["violations"]), (10, 10, 0))
        self.assertGreater(figures["jobs"], 0)

    def test_a_fault_that_does_not_exist_is_refused_with_those_there_are(self):
        ran = subprocess.run([sys.executable, ROOT / "bench" / "chaos" / "chaos.py", "--only", "flood"], capture_output=True, text=True)
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("there is no fault flood, but server_killed, ", ran.stderr)

    def test_interrupted_jobs_end_with_the_same_bits(self):
        figures = self.figures_of("resumed_bits.py", "--moments", "5")
        self.assertEqual((figures["moments"], sum(figures["by_kind"].values()), figures["other_bits"]), (5, 5, 0))

    @unittest.skipUnless((DATA / "mnist10k").exists() and (DATA / "wikitext2").exists(), "the digits and the text are not here")
    def test_jobs_of_eight_cores_have_the_bits_of_one_process_on_slices(self):
        ran = subprocess.run([sys.executable, ROOT / "bench" / "slice_bits.py", "--bin", os.environ["SLIPWAY_BIN_DIR"], "--quick",
                              "--runs", "lenet:16", "lenet:32", "resnet18:16", "bert_small:16"], capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        lines = [json.loads(line) for line in ran.stdout.splitlines()]
        self.assertEqual([(line["job"], line["hosts"]) for line in lines], [("lenet", 2), ("lenet", 4), ("resnet18", 2), ("bert_small", 2)])
        for line in lines:
            self.assertEqual((line["same_weights"], line["same_curves"]), (True, True), line)
            self.assertGreater(line["steps"], 1)

    def compare_slices(self, torch, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            python, rows = pathlib.Path(folder) / "python", pathlib.Path(folder) / "rows.json"
            python.write_text(torch)
            python.chmod(0o755)
            ran = subprocess.run([sys.executable, ROOT / "bench" / "compare_slices.py", "mlp128", "--precision", "f32", "--batch", "32",
                                  "--rounds", "1", "--steps", "1", "--ours", SLICE_STEPS, "--python", python, "--json", rows, *arguments],
                                 capture_output=True, text=True)
            return ran, json.loads(rows.read_text())

    def test_what_a_step_in_two_processes_costs_beside_torchs_is_printed(self):
        ran, rows = self.compare_slices(FAKE_TORCH)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        row, ours = rows[0], rows[0]["ours"]
        self.assertEqual(row["torch"], {"two": 30, "one": 20, "two_cpu": 50, "one_cpu": 40})
        self.assertGreater(min(ours["two"], ours["one"], ours["two_cpu"], ours["one_cpu"]), 0)
        self.assertAlmostEqual(row["ratio_two"], 30 / ours["two"])
        self.assertAlmostEqual(row["cost"], ours["two"] / ours["one"])
        self.assertAlmostEqual(row["cpu_cost"], ours["two_cpu"] / ours["one_cpu"])
        self.assertAlmostEqual(row["torch_cost"], 1.5)
        self.assertAlmostEqual(row["torch_cpu_cost"], 1.25)
        self.assertRegex(ran.stdout.splitlines()[1], r"^mlp128 +f32 .* 30 +20 .*%$")

    def test_a_side_that_cannot_run_is_named(self):
        ran, rows = self.compare_slices("#!/bin/sh\necho \"No module named 'torch'\" >&2\nexit 1\n")
        self.assertEqual((ran.returncode, rows), (1, []))
        self.assertIn("mlp128       f32   No module named 'torch'", ran.stdout)

    def slice_steps(self, *words):
        return subprocess.run([SLICE_STEPS, "mlp128", "1", "32", *words], capture_output=True, text=True)

    def test_gradients_as_bf16_are_half_as_many_bytes(self):
        ran = self.slice_steps("f32", "both")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        lines = [re.search(r"exchange of ([0-9.]+) MB as (f32|bf16) ", line).groups() for line in ran.stdout.splitlines()]
        self.assertEqual([exchange for _, exchange in lines], ["f32", "bf16"])
        self.assertAlmostEqual(float(lines[0][0]) / float(lines[1][0]), 2, delta=0.05)

    def test_another_exchange_is_refused(self):
        ran = self.slice_steps("f32", "f16")
        self.assertEqual(ran.returncode, 2)
        self.assertIn("gradients are exchanged as f32, bf16 or both, not f16", ran.stderr)

    def test_what_eight_trials_at_once_cost_is_printed(self):
        figures = self.figures_of("eight_trials.py", "--epochs", "4", "--images", "1500", "--rounds", "1")
        self.assertAlmostEqual(figures["ratio"], figures["service_s"][0] / figures["by_hand_s"][0], delta=0.02)
        pss, planned = figures["pss_mb"], figures["planned_mb_each"]
        self.assertGreater(pss["one"]["all"], planned)
        self.assertGreater(pss["eight"]["all"], pss["one"]["all"])
        self.assertAlmostEqual(figures["pss_ratio_without_plans"], (pss["eight"]["all"] - 8 * planned) / (pss["one"]["all"] - planned),
                               delta=0.05)

    def test_what_a_sweep_costs_beyond_its_training_is_printed(self):
        for option, reading in (("--trial-s", "0.2 s by the clock"), ("--trial-cpu-s", "0.2 s of CPU time")):
            with self.subTest(reading):
                figures = self.figures_of("sweep_overhead.py", "--trials", "12", "--process-trials", "2", option, "0.2",
                                          "--sample-steps", "100")
                ours = figures["slipway"]
                self.assertEqual((figures["reading"], ours["trials"]), (reading, 12))
                cpu_s = 0.2 if "CPU" in reading else 0.2 * figures["cpus"] / 8
                self.assertAlmostEqual(ours["cpu_s_of_trial"], cpu_s, delta=0.05 * cpu_s)
                self.assertAlmostEqual(ours["floor_s"], 12 * ours["cpu_s_of_trial"] / figures["cpus"], delta=0.01)
                self.assertAlmostEqual(ours["overhead"] + 1, ours["s"] / ours["floor_s"], delta=0.03 * ours["s"] / ours["floor_s"])
                self.assertAlmostEqual(ours["cpu_overhead"] + 1, ours["cpu_s"] / figures["cpus"] / ours["floor_s"],
                                       delta=0.03 * ours["cpu_s"] / ours["floor_s"])

    def test_how_good_a_search_is_that_stops_early_is_printed(self):
        for mode, other, options in (("asha", "random", ("--trials", "6", "--epochs", "3")),
                                     ("pbt", "fixed", ("--population", "3", "--fixed-trials", "3", "--epochs", "2"))):
            with self.subTest(mode):
                figures = self.figures_of("asha_search.py", mode, "--images", "400", *options)
                run = figures["runs"][0]
                self.assertEqual((run[other]["failed"], run[other]["epochs"]), (0, run[other]["trials"] * figures["epochs"]))
                self.assertEqual(figures["behind_points"], round(100 * (run[other]["accuracy"] - run[mode]["accuracy"]), 3))
                self.assertAlmostEqual(figures["core_s_share"], run[mode]["core_s"] / run[other]["core_s"], delta=0.2)
                if mode == "asha":    # the points are those of the random search, and most of them are not trained to the end
                    self.assertLess(run[mode]["epochs"], run[other]["epochs"])

    def test_sweeps_of_a_killed_service_have_the_same_log(self):
        figures = self.figures_of("killed_sweeps.py", "--kills", "3", "--trials", "5", "--epochs", "3")
        self.assertEqual((figures["kills"], sum(figures["by_moment"].values()), figures["different"]), (3, 3, 0), figures["differences"])
        self.assertGreater(figures["lines"], 10)
        self.assertEqual(figures["broken_promises"], "")

    def test_runs_that_are_killed_while_they_save_end_with_the_same_bits(self):
        figures = self.figures_of("killed_saves.py", "--kills", "2")
        self.assertEqual((figures["kills"], figures["other_bits"]), (2, 0))
        self.assertGreater(figures["runs"], 0)

    def whole_run(self, *arguments):
        return subprocess.run([sys.executable, ROOT / "bench" / "whole_run.py", "--bin", os.environ["SLIPWAY_BIN_DIR"], "--rounds", "1",
                               "--epochs", "1", "--side", "32", *arguments], capture_output=True, text=True)

    @unittest.skipUnless((DATA / "photos").exists(), "the photos are not here")
    def test_what_a_whole_run_takes_beside_torchs_is_printed(self):
        with tempfile.TemporaryDirectory() as folder:
            python = pathlib.Path(folder) / "python"
            python.write_text(FAKE_WHOLE_RUN)
            python.chmod(0o755)
            ran = self.whole_run("--python", python)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        figures = json.loads(ran.stdout)
        torch = figures["torch"]
        self.assertEqual((set(torch["phases"]), len(torch["others"])), ({"start", "import", "steps"}, 4))
        self.assertEqual(set(figures["ours"]), {"8", "1"})
        for sides in figures["ours"].values():
            self.assertEqual(set(sides), {"first", "later"})
            self.assertGreater(sides["first"]["phases"]["compile"], sides["later"]["phases"]["compile"])
            for side in sides.values():
                self.assertAlmostEqual(side["seconds"], sum(side["phases"].values()), delta=0.05)
                self.assertAlmostEqual(side["ratio"], side["seconds"] / torch["seconds"], delta=0.05 * side["ratio"])

    @unittest.skipUnless((DATA / "photos").exists(), "the photos are not here")
    def test_a_whole_run_without_torch_is_ours_alone(self):
        ran = self.whole_run("--cores", "8", "--no-torch")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        figures = json.loads(ran.stdout)
        self.assertNotIn("torch", figures)
        self.assertNotIn("ratio", figures["ours"]["8"]["first"])
        refused = self.whole_run("--cores", "8", "--python", "/bin/false")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("/bin/false failed", refused.stderr)

    @unittest.skipUnless((DATA / "photos").exists(), "the photos are not here")
    def test_a_whole_run_by_torch_says_where_its_time_goes(self):
        script, python = ROOT / "bench" / "torch_whole_run.py", "/usr/bin/python3"
        if subprocess.run([python, "-c", "import torch, numpy, PIL"], capture_output=True).returncode != 0:
            self.skipTest("PyTorch or Pillow is not installed")
        with tempfile.TemporaryDirectory() as folder:
            ran = subprocess.run([python, script, DATA / "photos" / "val", "--out", folder, "--epochs", "1", "--side", "32"],
                                 capture_output=True, text=True)
            if "libopenblas0" in ran.stderr:
                self.skipTest("PyTorch has no OpenBLAS")
            self.assertEqual(ran.returncode, 0, ran.stderr)
            figures = json.loads(ran.stdout)
            self.assertEqual([each.name for each in pathlib.Path(folder).iterdir()], ["epoch_1.pt"])
        self.assertEqual((figures["train_photos"], figures["steps"]), (23, 1))
        self.assertAlmostEqual(figures["seconds"], sum(figures["phases"].values()), delta=0.01)

    @unittest.skipUnless((DATA / "photos").exists(), "the photos are not here")
    def test_what_a_save_after_each_step_costs_is_printed(self):
        figures = self.figures_of("saves_every_step.py", "--epochs", "1", "--rounds", "1", "--side", "32", "--cores", "8")
        sides = figures["cores"]["8"]
        # The phase is timed without a save, too: a microsecond, or what the machine does meanwhile.
        self.assertLess(sides["without"]["wait_ms"], sides["every_step"]["wait_ms"] / 4)
        self.assertGreater(sides["every_step"]["wait_ms"], 0)
        self.assertAlmostEqual(sides["every_step"]["stride_ms"], sides["every_step"]["step_ms"] + sides["every_step"]["wait_ms"], delta=0.01)
        self.assertAlmostEqual(sides["step_ratio"], sides["every_step"]["step_ms"] / sides["without"]["step_ms"], delta=0.01)

    def test_what_active_sweeps_cost_is_printed(self):
        ran = subprocess.run([sys.executable, ROOT / "bench" / "active_sweeps.py", "--bin", os.environ["SLIPWAY_BIN_DIR"],
                              "--sweeps", "5", "--ends", "3", "--seconds", "1"], capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        without, with_sweeps, ending = map(json.loads, ran.stdout.splitlines())
        self.assertEqual((without["sweeps"], with_sweeps["sweeps"]), (0, 5))
        self.assertEqual(without["idle"].keys(), {"transactions_per_s", "slipwayd_ms_per_s", "postgres_ms_per_s"})
        self.assertEqual(ending["ending"]["trials"], 3)
        self.assertGreaterEqual(ending["ending"]["transactions_per_trial"], 3)    # a request, a step, a job

    def test_what_asked_trials_cost_is_printed(self):
        ran = subprocess.run([sys.executable, ROOT / "bench" / "asked_trials.py", "--bin", os.environ["SLIPWAY_BIN_DIR"],
                              "--trials", "30", "--parts", "2", "--parameters", "3"], capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        first, second = map(json.loads, ran.stdout.splitlines())
        self.assertEqual((first["trials"], second["trials"]), (15, 30))
        self.assertGreaterEqual(second["suggest_ms_max"], second["suggest_ms"])

    def test_what_idle_streams_cost_is_printed(self):
        ran = subprocess.run([sys.executable, ROOT / "bench" / "idle_streams.py", "--bin", os.environ["SLIPWAY_BIN_DIR"],
                              "--streams", "130", "--jobs", "3"], capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        figures = json.loads(ran.stdout)
        self.assertEqual((figures["streams"], figures["heard_the_end"]), (130, 130))
        self.assertGreater(figures["end_heard_p99_s"], 0)

    def test_a_case_that_does_not_exist_is_refused_with_those_there_are(self):
        ran = subprocess.run([sys.executable, ROOT / "bench" / "hostile_inputs.py", "--case", "none"], capture_output=True, text=True)
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("announced_uploads", ran.stderr)


if __name__ == "__main__":
    unittest.main()
