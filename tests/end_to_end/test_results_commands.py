"""Goal: the commands for what jobs leave and what they train on print what they say: metrics, checkpoints, weights, predictions, reports,
datasets. Method: client_commands.py."""
import json
import unittest

from client_commands import CommandTestCase, run, shape
from service import ruined_job


class ResultCommands(CommandTestCase):
    @classmethod
    def setUpClass(cls):
        cls.serve()

    def test_metrics(self):
        rows = self.table(self.ok("metrics", self.job), "metric", "step", "epoch", "value", "min", "max")
        steps = self.service.metric(self.job, "train_loss")
        self.assertIn("val_loss", {row[0] for row in rows})
        shown = {int(row[1]) for row in rows if row[0] == "train_loss"}
        self.assertTrue(shown and shown <= set(steps), (shown, list(steps)))
        only = self.table(self.ok("metrics", self.job, "--names", "val_loss"), "metric", "step", "epoch", "value", "min", "max")
        self.assertEqual({row[0] for row in only}, {"val_loss"})
        self.assertIn("no metric `nope`; it has ", run("metrics", self.job, "--names", "nope", home=self.service.home, check=4).stderr)
        csv = self.ok("metrics", self.job, "--csv").splitlines()
        self.assertIn("step", csv[0])
        self.assertGreater(len(csv), len(steps))

    def test_metrics_that_are_no_numbers(self):
        job = self.service.submit(ruined_job())
        self.service.wait_end(job)
        rows = self.table(self.ok("metrics", job, "--names", "val_loss"), "metric", "step", "epoch", "value", "min", "max")
        self.assertIn(rows[0][3], ("nan", "inf"))

    def test_tensorboard(self):
        self.assertEqual(self.ok("tensorboard", self.job, "--out", "curves"), "curves/events.out.tfevents.0.slipway\n")
        self.assertGreater((self.folder / "curves/events.out.tfevents.0.slipway").stat().st_size, 100)

    def test_checkpoints(self):
        rows = self.table(self.ok("checkpoints", self.job), "checkpoint", "step", "kinds", "file", "bytes")
        self.assertIn("model.safetensors", {row[3] for row in rows})
        self.assertTrue({row[2] for row in rows} <= {"last, best", "last", "best"}, rows)

    def test_download(self):
        self.assertEqual(self.ok("download", self.checkpoint, "model.safetensors", "--out", "m"), "m\n")
        self.assertGreater((self.folder / "m").stat().st_size, 100)

    def test_export(self):
        self.assertEqual(self.ok("export", self.checkpoint, "--out", "w"), "w\n")
        self.assertGreater((self.folder / "w").stat().st_size, 100)

    def test_predict(self):
        self.assertEqual(shape(self.ok("predict", self.job, "points")), "<job>\n")

    def test_result(self):
        self.ok("predict", self.job, "points", "--out", "p.csv")
        made = (self.folder / "p.csv").read_text()
        self.assertEqual(len(made.splitlines()), 601)
        prediction = next(one["id"] for one in self.service.get("/v1/jobs?limit=200")["items"]
                          if one["kind"] == "predict" and one["state"] == "succeeded")
        self.assertEqual(len(self.ok("result", prediction).splitlines()), 601)

    def test_evaluate(self):
        self.assertEqual(shape(self.ok("evaluate", self.job)), "<job>\n")
        said = self.ok("evaluate", self.job, "points", "--checkpoint", "last", "--split", "val", "--follow")
        rows = dict(self.table("metric" + said.split("\nmetric")[1], "metric", "value"))
        trained = self.service.get(f"/v1/jobs/{self.job}")["result"]
        self.assertEqual(float(rows["val_loss"]), trained["val_loss"])
        self.assertEqual(set(rows), {"samples", *(name for name in trained if name.startswith("val_"))})
        request = self.folder / "evaluation.json"
        request.write_text(json.dumps({"from": {"job": self.job, "checkpoint": "last"}}))
        job = self.ok("submit", request, "--kind", "evaluate").strip()
        self.assertEqual(self.service.wait_end(job)["result"]["val_loss"], trained["val_loss"])
        self.assertIn("--kind", run("submit", request, "--kind", "rank", home=self.service.home, check=2).stderr)

    def test_report(self):
        text = self.ok("report", self.job)
        self.assertTrue(text.startswith("Verdict: "), text[:200])
        self.assertIn("Metric: CompileTime", text)
        self.assertTrue(self.ok("report", self.job, "--json").startswith("{"))

    def test_graphs(self):
        rows = self.table(self.ok("graphs", self.job), "hash", "program", "nodes", "kernels", "compile s", "peak", "cause")
        self.assertIn("%0", self.ok("graphs", self.job, rows[0][0]))

    def test_trace(self):
        self.assertIn('"traceEvents"', self.ok("trace", self.job))

    def test_datasets(self):
        rows = self.table(self.ok("datasets"), "id", "name", "format", "state", "created")
        self.assertIn(["points", "csv", "ready"], [row[1:4] for row in rows])

    def test_dataset_create(self):
        text = self.ok("dataset", "create", "made", "--format", "csv", "--path", "points", "--option", "group_column=family")
        self.assertEqual(shape(text), "made (<ds>) ready\n")
        self.assertRegex(self.ok("dataset", "delete", "made", "--yes"), r"^ds_\w+ deleted\n$")

    def test_data_push(self):    # test_data_push.py has what happens to connections and to the command
        (self.folder / "pushed").mkdir()
        (self.folder / "pushed" / "pushed.csv").write_text("a,label\n1,yes\n2,no\n")
        said = run("data", "push", "pushed", home=self.service.home, cwd=self.folder, check=0, XDG_CACHE_HOME=str(self.folder / "cache")).stdout
        self.assertEqual(shape(said), "<n> file, <n> bytes, format csv\npushed (<ds>) ready\n")
        self.assertRegex(self.ok("dataset", "delete", "pushed", "--yes"), r"^ds_\w+ deleted\n$")

    def test_upload(self):
        (self.folder / "network.pt2").write_bytes(b"the bytes of a network")
        said = self.ok("upload", self.folder / "network.pt2")
        self.assertRegex(said, r"^upl_\w+\n$")
        self.assertEqual(self.ok("upload", self.folder / "network.pt2"), said, "the same bytes are kept once")
        refused = run("upload", self.folder / "absent", home=self.service.home, check=None)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("absent", refused.stderr)

    def test_dataset_show(self):
        self.assertIn('"name": "points"', self.ok("dataset", "show", "points"))

    def test_dataset_delete(self):
        self.ok("dataset", "create", "gone", "--format", "csv", "--path", "points", "--option", "group_column=family")
        self.assertRegex(self.ok("dataset", "delete", "gone", "--yes"), r"^ds_\w+ deleted\n$")


if __name__ == "__main__":
    unittest.main()
