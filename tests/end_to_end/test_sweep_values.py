"""Goal: the weights that a sweep or a cross-validation hands out have exactly the values that it shows."""
import csv
import io
import itertools
import math
import unittest

from service import points_job, serve_points, wait_for
from sweep_calls import RATES, SweepCalls, fold_sweep, quick_job, sweep_of

ALGORITHMS = {
    "grid": {"name": "grid"},
    "random": {"name": "random"},
    "sobol": {"name": "sobol"},
    "tpe": {"name": "tpe", "startup_trials": 2},
    "asha stop": {"name": "asha", "mode": "stop", "max_time": 6, "reduction_factor": 2},
    "asha promote": {"name": "asha", "mode": "promote", "max_time": 6, "reduction_factor": 2},
    "hyperband": {"name": "hyperband", "max_time": 4, "reduction_factor": 2},
    "median_stop": {"name": "median_stop", "grace_time": 2, "min_samples": 1},
    "pbt": {"name": "pbt", "population": 4, "interval": 2, "max_time": 6},
}
OBJECTIVES = [{"metric": metric, "mode": mode, "value": value}
              for (metric, mode), value in itertools.product((("val_loss", "min"), ("val_accuracy", "max")), ("best", "last"))]


def restless_job(epochs=6, **train):
    """Rates that are too high: the best epoch is rarely the last one."""
    return points_job(train={"epochs": epochs, "batch_size_per_core": 8, "optimizer": {"name": "adam", "lr": 0.01}, **train})


class Weights:
    def measure(self, checkpoint_id, metric):
        """The value that an evaluation of these weights finds, once it has ended."""
        made = self.service.post("/v1/evaluations", {"from": {"checkpoint": checkpoint_id}})
        job = self.service.wait_end(made["id"])
        self.assertEqual(job["state"], "succeeded", job["reason"])
        return job["result"][metric]

    def best(self, sweep_id):
        return self.service.get(f"/v1/sweeps/{sweep_id}/best")


class BestWeights(Weights, SweepCalls, unittest.TestCase):
    """Method: the checkpoint of the best trial is evaluated, for every algorithm, both modes and both values."""

    @classmethod
    def setUpClass(cls):
        serve_points(cls, rows=200)

    def body(self, algorithm, objective):
        space = {"train.optimizer.lr": {"type": "log_uniform", "min": 0.01, "max": 0.3, **({"count": 4} if algorithm["name"] == "grid" else {})}}
        job = restless_job()
        if "max_time" in algorithm:
            job["train"].pop("epochs")
        return sweep_of(space, algorithm, job, objective=objective, seed=5, limits={"max_trials": 4, "max_concurrent": 2})

    def test_the_best_weights_have_the_value_that_is_shown(self):
        sweeps = {(name, *objective.values()): self.create(self.body(algorithm, objective))
                  for (name, algorithm), objective in itertools.product(ALGORITHMS.items(), OBJECTIVES)}
        earlier_epochs = earlier_jobs = 0
        for (name, metric, mode, value), sweep_id in sweeps.items():
            with self.subTest(name, metric=metric, value=value):
                self.assertEqual(self.wait_end(sweep_id)["state"], "finished")
                best = self.best(sweep_id)
                trial = best["trial"]
                if trial["state"] == "stopped" and best["checkpoint_id"] is None:
                    self.assertIn("trained on", best["checkpoint_reason"])    # by epochs that take no time
                    continue
                self.assertIsNone(best["checkpoint_reason"])
                self.assertEqual(self.measure(best["checkpoint_id"], metric), trial["value"])
                checkpoint = self.service.get(f"/v1/checkpoints/{best['checkpoint_id']}")
                self.assertEqual((checkpoint["epoch"], checkpoint["job_id"]), (trial["value_time"], best["job_id"]))
                values = [one["value"] for one in self.trials(sweep_id) if one["value"] is not None]
                self.assertEqual(trial["value"], (min if mode == "min" else max)(values))
                earlier_epochs += trial["value_time"] < trial["last_time"]
                earlier_jobs += best["job_id"] != trial["job_id"]
        # Else the newest checkpoint would have done.
        self.assertGreater(earlier_epochs, 5)
        self.assertGreater(earlier_jobs, 0)

    def test_the_promoted_job_begins_with_these_weights(self):
        sweep_id = self.create(self.body(ALGORITHMS["asha promote"], OBJECTIVES[0]))
        self.wait_end(sweep_id)
        best = self.best(sweep_id)
        path = f"/v1/sweeps/{sweep_id}/promote"
        made = self.service.post(path, {"start": "weights", "changes": {"train": {"epochs": 1}}})
        self.assertEqual((made["origin"]["job_id"], made["spec"]["model"]["init"]["from"]), (best["job_id"], best["checkpoint_id"]))
        self.assertEqual(self.service.wait_end(made["id"])["state"], "succeeded")
        other = next(one["number"] for one in self.trials(sweep_id) if one["number"] != best["trial"]["number"])
        longer = {"trial": other, "changes": {"train": {"epochs": 50}}}
        wait_for(lambda: self.service.call("POST", path + "?dry_run=true", longer).status == 422, "the other weights to go")
        refused = self.service.call("POST", path, longer)
        self.assertEqual([(one["pointer"], one["code"]) for one in refused.json["errors"]], [("/start", "no_checkpoint")])
        self.assertEqual(self.service.call("POST", path + "?dry_run=true", {**longer, "start": "scratch"}).status, 200)

    def test_without_such_weights_it_is_said_why(self):
        def made(checkpoint, **objective):
            body = sweep_of(RATES, {"name": "random"}, quick_job(3, checkpoint=checkpoint), limits={"max_trials": 2}, objective=objective)
            body["job"]["train"]["optimizer"]["lr"] = 0.01
            answers = [self.service.post("/v1/sweeps?dry_run=true", body), self.service.post("/v1/sweeps", body)]
            warned = [[one["pointer"] for one in answer["warnings"]] for answer in answers]
            self.assertEqual(*warned)
            self.wait_end(answers[1]["id"])
            return warned[0], self.best(answers[1]["id"])
        warned, best = made({"every_epochs": 0, "save_final": False})
        self.assertEqual((warned, best["checkpoint_id"]), ([], None))
        self.assertIn("save no weights", best["checkpoint_reason"])
        warned, best = made({"every_epochs": 2, "save_final": False})
        self.assertEqual(warned, ["/job/checkpoint/every_epochs"])
        if best["trial"]["value_time"] != 2:
            self.assertIsNone(best["checkpoint_id"])
            self.assertIn("every_epochs is 2", best["checkpoint_reason"])
        warned, best = made({"every_epochs": 0}, value="last")
        self.assertEqual((warned, best["checkpoint_reason"]), ([], None))
        self.assertEqual(self.measure(best["checkpoint_id"], "val_loss"), best["trial"]["value"])

    def test_a_job_that_compares_by_another_metric_or_measures_none_is_refused(self):
        def refused(objective=None, **job):
            body = sweep_of(RATES, {"name": "random"}, quick_job(1, **job), limits={"max_trials": 1}, objective=objective or {})
            answer = self.service.call("POST", "/v1/sweeps?dry_run=true", body)
            return answer.status, [one["pointer"] for one in answer.json.get("errors", [])]
        accuracy = {"metric": "val_accuracy"}
        self.assertEqual(refused(accuracy, checkpoint={"best": {"metric": "val_loss"}}), (422, ["/job/checkpoint/best/metric"]))
        self.assertEqual(refused(accuracy, checkpoint={"best": {"metric": "val_accuracy", "mode": "min"}}), (422, ["/job/checkpoint/best/mode"]))
        self.assertEqual(refused(accuracy, checkpoint={"best": {"metric": "val_accuracy", "keep": 2}}), (200, []))
        for objective in ({}, accuracy):
            self.assertEqual(refused(objective, data={"dataset": "points", "split": {"val_fraction": 0}}), (422, ["/objective/metric"]))

    def test_only_results_of_the_same_objective_are_learnt_from(self):
        def outside(space, **more):
            return {"space": {name: {"type": "uniform", "min": 0, "max": 10} for name in space}, "algorithm": {"name": "tpe", "startup_trials": 2},
                    "limits": {"max_trials": 4}, **more}
        earlier = self.create(outside("xy", objective={"metric": "cost", "mode": "min"}))
        for _ in range(4):
            trial = self.service.post(f"/v1/sweeps/{earlier}/suggest", {"count": 1})["trials"][0]
            self.service.post(f"/v1/sweeps/{earlier}/trials/{trial['number']}/observe", {"time": 1, "value": trial["point"]["x"], "end": "completed"})
        start = {"warm_start": {"sweeps": [earlier]}}
        for body, status in ((outside("x", objective={"metric": "cost", "mode": "min"}, **start), 200),
                             (outside("x", objective={"metric": "cost", "mode": "max"}, **start), 422),
                             (outside("x", objective={"metric": "gain", "mode": "min"}, **start), 422),
                             (outside("z", objective={"metric": "cost", "mode": "min"}, **start), 422)):
            answer = self.service.call("POST", "/v1/sweeps?dry_run=true", body)
            self.assertEqual(answer.status, status, answer.json)
            if status == 422:
                self.assertEqual([(one["pointer"], earlier in one["message"]) for one in answer.json["errors"]], [("/warm_start/sweeps/0", True)])


class FoldWeights(Weights, SweepCalls, unittest.TestCase):
    """Method: the weights of each fold are evaluated on the fold, with and without early stopping."""

    @classmethod
    def setUpClass(cls):
        serve_points(cls, rows=200)

    STOPPING = {"early_stopping": {"metric": "val_loss", "patience": 1}}

    def test_the_folds_of_the_best_trial_have_their_values(self):
        for train, metric in (({}, "val_loss"), (self.STOPPING, "val_loss"), (self.STOPPING, "val_accuracy")):
            with self.subTest(train=train, metric=metric):
                body = fold_sweep(folds=3, limits={"max_trials": 2, "max_concurrent": 2}, objective={"metric": f"cv.{metric}.mean"})
                body["space"]["train.optimizer.lr"].update(min=0.05, max=0.3)
                body["cross_validation"]["job"]["train"].update(epochs=8, batch_size_per_core=8, **train)
                sweep_id = self.create(body)
                self.wait_end(sweep_id)
                best = self.best(sweep_id)
                self.assertEqual((best["checkpoint_id"], len(best["folds"])), (None, 3))
                self.assertIn("each fold", best["checkpoint_reason"])
                for fold, value in zip(best["folds"], best["trial"]["fold_values"], strict=True):
                    self.assertEqual((fold["value"], fold["checkpoint_reason"]), (value, None))
                    self.assertEqual(self.measure(fold["checkpoint_id"], metric), value)

    def test_early_stopping_gives_the_best_epoch_of_each_fold(self):
        job = restless_job(12, optimizer={"name": "adam", "lr": 0.1}, **self.STOPPING)
        job.pop("name")
        job["data"].pop("split")
        body = {"split": {"method": "kfold", "folds": 3, "seed": 1}, "job": job}
        made = self.service.post("/v1/cross-validations", body)
        self.assertEqual([one["pointer"] for one in made["warnings"]], ["/job/train/early_stopping"])
        path = f"/v1/cross-validations/{made['id']}"
        ended = wait_for(lambda: (one := self.service.get(path))["state"] in ("succeeded", "failed") and one, "its end", 240)
        self.assertEqual(ended["state"], "succeeded", ended["reason"])
        self.assertEqual(self.service.get(f"{path}/summary")["epochs_chosen_by"], "val_loss")
        rows = list(csv.DictReader(io.StringIO(self.service.call("GET", f"{path}/oof").body.decode())))
        rejected = 0
        for fold in self.service.get(f"{path}/folds")["items"]:
            curve = list(self.service.metric(fold["job_id"], "val_loss").values())
            self.assertEqual((fold["metrics"]["val_loss"], fold["epoch"]), (min(curve), 1 + curve.index(min(curve))))
            rejected += curve[-1] != min(curve)
            predicted = self.service.job(fold["prediction_id"])["prediction"]["from"]["checkpoint"]
            self.assertEqual(self.measure(predicted, "val_loss"), fold["metrics"]["val_loss"])
            own = [row for row in rows if int(row["fold"]) == fold["fold"]]
            right = sum(row["label"] == row["predicted"] for row in own) / len(own)
            self.assertTrue(math.isclose(right, fold["metrics"]["val_accuracy"], abs_tol=1e-6), (right, fold["metrics"]))
        self.assertGreater(rejected, 0)
        body["job"]["checkpoint"] = {"every_epochs": 2}
        answer = self.service.call("POST", "/v1/cross-validations?dry_run=true", body)
        self.assertEqual((answer.status, answer.json["errors"][0]["pointer"]), (422, "/job/checkpoint/every_epochs"))

    def test_folds_that_the_dataset_cannot_have_are_refused(self):
        def problem(split):
            job = quick_job(1)
            job.pop("name")
            job["data"].pop("split")
            answer = self.service.call("POST", "/v1/cross-validations?dry_run=true", {"split": split, "job": job})
            sweep = self.service.call("POST", "/v1/sweeps?dry_run=true", fold_sweep(split=split, limits={"max_trials": 1}))
            self.assertEqual(answer.status, sweep.status)
            said = answer.json["warnings" if answer.status == 200 else "errors"]
            return answer.status, [one["pointer"] for one in said]
        self.assertEqual(problem({"method": "kfold", "folds": 201}), (422, ["/split/folds"]))
        self.assertEqual(problem({"method": "time_series", "folds": 200}), (422, ["/split/folds"]))
        self.assertEqual(problem({"method": "group_kfold", "folds": 21, "group_by": "family"}), (422, ["/split/folds"]))
        self.assertEqual(problem({"method": "group_kfold", "folds": 20}), (200, []))
        self.assertEqual(problem({"method": "stratified_kfold", "folds": 101}), (200, ["/split/folds"]))
        self.assertEqual(problem({"method": "kfold", "folds": 101}), (200, []))


if __name__ == "__main__":
    unittest.main()
