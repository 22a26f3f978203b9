"""Goal: a finished job says where its time went, over HTTP and on the command line, and a job that needs more memory
than it may have is refused before it runs with the batch that would fit."""
import json
import re
import subprocess
import unittest

from service import BIN, points_job, serve_points, write_points


class Explain(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        serve_points(cls)
        cls.job = cls.service.submit(points_job(accelerator={"cores": 8}))
        cls.end = cls.service.wait_end(cls.job)

    def part(self, path):
        return self.service.get(f"/v1/jobs/{self.job}{path}")

    def test_the_report_says_what_limits_the_job(self):
        report = self.part("/report")
        self.assertTrue(report["finished"])
        self.assertEqual(report["step"], self.end["progress"]["step"])
        self.assertEqual(len(report["cores"]), 8)
        self.assertEqual(report["counters"]["UncachedCompile"], 2)
        self.assertEqual(report["counters"]["CachedCompile"], report["counters"]["MarkStep"] - 2)
        self.assertRegex(report["verdict"]["kind"], "^(input|compile|sync|memory|compute)_bound$")
        self.assertAlmostEqual(sum(report["verdict"]["shares"].values()), 1, places=6)

    def test_the_text_has_the_known_form(self):
        text = self.service.call("GET", f"/v1/jobs/{self.job}/report", headers={"Accept": "text/plain"}).body
        text = text.decode() if isinstance(text, bytes) else text
        self.assertRegex(text, r"Metric: CompileTime\n  TotalSamples: 2\n  Accumulator: [0-9a-z.]+us\n")
        self.assertRegex(text, r"Percentiles: 1%=[0-9a-z.]+us; 5%=")
        self.assertIn("Counter: CachedCompile\n  Value: ", text)

    def test_each_program_has_a_page_and_others_have_none(self):
        graphs = self.part("/graphs")["items"]
        self.assertEqual([graph["program"] for graph in graphs], ["train_step", "evaluation_step"])
        page = self.part(f"/graphs/{graphs[0]['hash']}")
        self.assertIn("dot_general", page["ir"])
        self.assertGreater(page["memory"]["aliased_bytes"], 0)
        for form, part in {"ir": "= dot_general", "stablehlo": "stablehlo.dot_general", "dot": "digraph step {",
                           "program": "stage per_core"}.items():
            answer = self.service.call("GET", f"/v1/jobs/{self.job}/graphs/{graphs[0]['hash']}?format={form}")
            self.assertEqual(answer.status, 200, form)
            self.assertIn(part, answer.body.decode())
        refused = self.service.call("GET", f"/v1/jobs/{self.job}/graphs/{graphs[0]['hash']}?format=svg")
        self.assertEqual(refused.status, 422)
        self.assertEqual(refused.json["errors"][0]["allowed"], ["json", "ir", "stablehlo", "dot", "program"])
        self.assertEqual(self.service.call("GET", f"/v1/jobs/{self.job}/graphs/{'0' * 32}").status, 404)

    def test_the_trace_shows_every_thread(self):
        events = self.part("/trace")["traceEvents"]
        tracks = {event["args"]["name"] for event in events if event["name"] == "thread_name"}
        self.assertLessEqual({"trainer 0", "loader 0", "worker 0"}, tracks)

    def test_the_command_line_prints_it(self):
        done = subprocess.run([BIN / "slipway", "--home", self.service.home, "--url",
                               f"http://127.0.0.1:{self.service.port}", "report", self.job],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Verdict: ", done.stdout)

    def test_too_much_memory_is_refused_with_the_batch_that_fits(self):
        peak = max(graph["memory"]["peak_bytes"] for graph in self.part("/graphs")["items"])
        limit = max(peak // 2, 1 << 20)
        spec = points_job(accelerator={"cores": 8, "memory_bytes": limit})
        spec["train"]["batch_size_per_core"] = 60000 // 8
        write_points(self.service.data / "many", rows=80000)
        self.service.dataset("many", "csv", {"group_column": "family"})
        spec["data"]["dataset"] = "many"
        end = self.service.wait_end(self.service.submit(spec))
        self.assertEqual((end["state"], end["reason"]["code"]), ("failed", "out_of_memory"), json.dumps(end["reason"]))
        self.assertEqual(end["progress"], None)
        fits = int(re.search(r"train\.batch_size_per_core that fits is (\d+)", end["reason"]["message"])[1])
        spec["train"]["batch_size_per_core"] = fits
        spec["train"]["epochs"] = 1
        self.assertEqual(self.service.wait_end(self.service.submit(spec))["state"], "succeeded")


if __name__ == "__main__":
    unittest.main()
