"""Goal: the commands of cross-validations print what they say. Method: client_commands.py."""
import csv
import json
import math
import statistics
import unittest

from client_commands import CommandTestCase, run
from service import ENDLESS_EPOCHS, points_job


class CrossValidationCommands(CommandTestCase):
    @classmethod
    def setUpClass(cls):
        cls.serve()

    # One that has succeeded serves them all; it is made by the first.
    def crossed(self):
        if not hasattr(CrossValidationCommands, "cross_validation"):
            fold = {key: value for key, value in points_job(train={"epochs": 1}).items() if key != "name"}
            request = self.folder / "cv.json"
            request.write_text(json.dumps({"name": "crossed", "split": {"method": "group_kfold", "folds": 3, "group_by": "family"},
                                           "job": {**fold, "data": {"dataset": "points"}}}))
            CrossValidationCommands.cross_validation = self.ok("cv", "create", request).strip()
            self.ok("cv", "watch", self.cross_validation)
        return self.cross_validation

    def test_cv_create(self):
        self.assertRegex(self.crossed(), r"^cv_[0-9a-z]{26}$")
        self.assertIn('"folds": 3', self.ok("cv", "create", self.folder / "cv.json", "--dry-run"))
        changed = self.ok("cv", "create", self.folder / "cv.json", "--set", "split.folds=4", "--dry-run")
        self.assertIn('"folds": 4', changed)
        watched = self.ok("cv", "create", self.folder / "cv.json", "--follow").splitlines()
        one = watched[0]
        self.assertTrue(watched[-5].startswith("succeeded  3/3 folds"), watched)
        self.assertEqual(watched[-4:], ["More about this cross-validation:", f"  slipway cv summary {one}", f"  slipway cv folds {one}",
                                        f"  http://127.0.0.1:{self.service.port}/#/cross-validations/{one}"])

    def test_cv_watch(self):
        self.assertRegex(self.ok("cv", "watch", self.crossed()), r"^succeeded  3/3 folds  val_accuracy \S+ ± \S+  val_loss \S+ ± \S+\nMore about ")

    def test_cv_list(self):
        one = self.crossed()
        rows = self.table(self.ok("cv", "list", "--state", "succeeded"), "id", "name", "state", "folds", "created")
        self.assertIn([one, "crossed", "succeeded", "3/3"], [row[:4] for row in rows])

    def test_cv_show(self):
        self.assertIn('"method": "group_kfold"', self.ok("cv", "show", self.crossed()))

    def test_cv_folds(self):
        rows = self.table(self.ok("cv", "folds", self.crossed()), "fold", "state", "train", "val", "groups", "job", "result")
        self.assertEqual([row[:2] for row in rows], [[str(fold), "succeeded"] for fold in range(3)])
        self.assertEqual(sum(int(row[3]) for row in rows), 600)

    def test_cv_summary(self):
        text = self.ok("cv", "summary", self.crossed())
        self.assertTrue(text.startswith("succeeded  3/3 folds\n"), text)
        rows = self.table(text.split("\n", 1)[1], "metric", "folds", "mean", "std", "error", "corrected", "weighted", "min", "max")
        self.assertEqual([row[0] for row in rows], ["val_accuracy", "val_loss"])
        self.assertIn('"standard_error"', self.ok("cv", "summary", self.crossed(), "--json"))

    def test_cv_compare(self):
        text = self.ok("cv", "compare", self.crossed(), self.crossed())
        self.assertTrue(text.startswith("second - first, over 3 folds\n"), text)
        rows = self.table(text.split("\n", 1)[1], "metric", "folds", "difference", "error", "95 %", "p", "better")
        self.assertEqual([(row[0], row[2], row[5]) for row in rows], [("val_accuracy", "0", "1"), ("val_loss", "0", "1")])

    def test_cv_oof(self):
        self.assertEqual(self.ok("cv", "oof", self.crossed(), "--out", "oof.csv"), "oof.csv\n")
        self.assertEqual((self.folder / "oof.csv").read_text(), self.ok("cv", "oof", self.crossed()))

    def csv_of(self, name):
        with open(self.folder / name) as file:
            return list(csv.DictReader(file))

    def test_cv_predict(self):
        one = self.crossed()
        said = self.ok("cv", "predict", one, "points", "--out", "ensemble.csv")
        self.assertEqual(said.splitlines()[-1], "ensemble.csv")
        rows = self.csv_of("ensemble.csv")
        self.assertEqual([int(row["sample"]) for row in rows], list(range(600)))
        alone = []
        for fold in self.service.get(f"/v1/cross-validations/{one}/folds")["items"]:
            self.ok("predict", fold["job_id"], "points", "--checkpoint", "last", "--out", "alone.csv")
            alone.append(self.csv_of("alone.csv"))
        for number, row in enumerate(rows):
            said_alone = {name: [float(each[number][name]) for each in alone] for name in ("p_no", "p_yes")}
            for name, numbers in said_alone.items():
                self.assertAlmostEqual(float(row[name]), statistics.fmean(numbers), delta=1e-6)
            best = max(("no", "yes"), key=lambda label: float(row["p_" + label]))
            self.assertEqual(row["predicted"], best)
            self.assertAlmostEqual(float(row["std_predicted"]), statistics.stdev(said_alone["p_" + best]), delta=1e-6)
        self.ok("predict", one, "points", "--checkpoint", "last", "--out", "same.csv")
        self.assertEqual((self.folder / "same.csv").read_text(), (self.folder / "ensemble.csv").read_text())

    def test_evaluate_an_ensemble(self):
        one = self.crossed()
        self.assertIn("were trained by different ones", run("evaluate", one, home=self.service.home, check=4).stderr)
        said = self.ok("evaluate", one, "--split", "all", "--checkpoint", "last", "--follow")
        rows = dict(self.table("metric" + said.split("\nmetric")[1], "metric", "value"))
        self.ok("cv", "predict", one, "points", "--out", "measured.csv")
        predicted = self.csv_of("measured.csv")
        loss = -statistics.fmean(math.log(float(row["p_" + row["label"]])) for row in predicted)
        self.assertAlmostEqual(float(rows["val_loss"]), loss, delta=1e-5)
        ids = [checkpoint["id"] for fold in self.service.get(f"/v1/cross-validations/{one}/folds")["items"]
               for checkpoint in self.service.get(f"/v1/checkpoints?job={fold['job_id']}")["items"] if "last" in checkpoint["kinds"]]
        listed = self.ok("evaluate", ",".join(ids[:2]), "--split", "all", "--follow")
        self.assertIn("val_loss", listed)

    def crossed_and_running(self):
        request = json.loads((self.folder / "cv.json").read_text())
        request["job"]["train"]["epochs"] = ENDLESS_EPOCHS
        return self.service.post("/v1/cross-validations", request)["id"]

    def test_cv_cancel(self):
        self.crossed()
        one = self.crossed_and_running()
        self.assertEqual(self.ok("cv", "cancel", one), f"{one} cancelling\n")
        self.assertIn("cancelled on request", run("cv", "watch", one, home=self.service.home, check=3).stderr)

    def test_cv_retry(self):
        self.assertEqual(self.ok("cv", "retry", self.crossed()), "0 folds are retried, 0 left; succeeded\n")
        one = self.crossed_and_running()
        self.ok("cv", "cancel", one)
        run("cv", "watch", one, home=self.service.home, check=3)
        rows = self.table(self.ok("cv", "retry", one, "--dry-run"), "fold", "code", "reason")
        self.assertEqual([row[0] for row in rows[:3]], ["0", "1", "2"])
        self.assertIn("3 folds would be retried, 0 left; ", " ".join(rows[-1]))
        self.assertRegex(self.ok("cv", "retry", one, "--code", "nan_loss", "--code", "data_error"), r"folds are retried, \d left; \w+\n")
        self.assertIn("0 left", self.ok("cv", "retry", one))
        self.ok("cv", "cancel", one)

    def test_cv_delete(self):
        self.crossed()
        one = self.crossed_and_running()
        self.assertIn("cancel it", run("cv", "delete", one, "--yes", home=self.service.home, check=4).stderr)
        self.ok("cv", "cancel", one)
        run("cv", "watch", one, home=self.service.home, check=3)
        self.assertEqual(self.ok("cv", "delete", one, "--yes"), f"{one} deleted\n")


if __name__ == "__main__":
    unittest.main()
