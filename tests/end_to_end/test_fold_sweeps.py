"""Goal: a trial may be a cross-validation, judged by its folds."""
import unittest

from service import serve_points, wait_for
from sweep_calls import SweepCalls, fold_sweep


class FoldSweeps(SweepCalls, unittest.TestCase):
    """Method: what a sweep of cross-validations measures is compared with cross-validations of the same jobs."""

    @classmethod
    def setUpClass(cls):
        serve_points(cls, rows=200)

    def test_a_trial_is_a_cross_validation(self):
        body = fold_sweep(folds=3, objective={"metric": "cv.val_loss.weighted_mean"}, limits={"max_trials": 2, "max_concurrent": 2})
        sweep_id = self.create(body)
        sweep = self.wait_end(sweep_id)
        self.assertEqual((sweep["state"], sweep["reason"]["code"]), ("finished", "search_over"), sweep["reason"])
        trials = self.trials(sweep_id)
        self.assertEqual([(one["state"], one["jobs"], len(one["fold_values"])) for one in trials], [("completed", 3, 3)] * 2)
        keys = [job["parent"]["key"] for job in self.service.get(f"/v1/jobs?parent={sweep_id}")["items"]]
        self.assertEqual(sorted(keys), [f"{trial}-fold-{fold}" for trial in range(2) for fold in range(3)])
        best = self.service.get(f"/v1/sweeps/{sweep_id}/best")
        self.assertEqual(best["trial"]["number"], sweep["best"]["trial"])
        # The same configuration as a cross-validation: the same split, and the same values to the bit.
        job = body["cross_validation"]["job"]
        job["train"]["optimizer"]["lr"] = best["trial"]["point"]["train.optimizer.lr"]
        cv = self.service.post("/v1/cross-validations", {"split": body["cross_validation"]["split"], "job": job,
                                                         "outputs": {"oof_predictions": False}})
        self.assertEqual(cv["split_id"], sweep["split_id"])
        wait_for(lambda: self.service.get(f"/v1/cross-validations/{cv['id']}")["state"] == "succeeded", "the cross-validation", 240)
        folds = self.service.get(f"/v1/cross-validations/{cv['id']}/folds")["items"]
        self.assertEqual([one["metrics"]["val_loss"] for one in folds], best["trial"]["fold_values"])
        summary = self.service.get(f"/v1/cross-validations/{cv['id']}/summary")["metrics"]
        mean = next(one["weighted_mean"] for one in summary if one["name"] == "val_loss")
        self.assertAlmostEqual(mean, best["trial"]["value"], places=12)
        self.assertEqual(self.service.call("POST", f"/v1/sweeps/{sweep_id}/simulate", {"algorithm": {"name": "grid"}}).status, 409)

    def test_decisions_are_the_same_with_any_number_of_trials_at_a_time(self):
        seen = []
        for concurrent in (1, 4):
            sweep_id = self.create(fold_sweep(objective={"fold_pruning": {}}, seed=3,
                                              limits={"max_trials": 6, "max_concurrent": concurrent}))
            sweep = self.wait_end(sweep_id)
            self.assertEqual(sweep["state"], "finished", sweep["reason"])
            decisions = {one for one in self.decisions(sweep_id) if one[0] not in ("wait", "finish")}
            seen.append((decisions, sweep["best"], [one["fold_values"] for one in self.trials(sweep_id)]))
        self.assertEqual(*seen)
        self.assertIn("stop", {action for action, _, _ in seen[0][0]})
        self.assertLess(sum(len(values) for values in seen[0][2]), 6 * 4)

    def test_a_split_that_cannot_be_made_or_found_is_told(self):
        body = fold_sweep(split={"method": "group_kfold", "folds": 3, "group_by": "nobody"}, limits={"max_trials": 1})
        answer = self.service.call("POST", "/v1/sweeps", body)
        if answer.status == 201:
            sweep = self.wait_end(answer.json["id"])
            self.assertEqual((sweep["state"], sweep["reason"]["code"]), ("failed", "split_failed"))
        else:
            self.assertEqual(answer.json["errors"][0]["pointer"], "/cross_validation/split/group_by")
        body["cross_validation"] = {"split_id": "spl_01jd0000000000000000000000", "job": body["cross_validation"]["job"]}
        answer = self.service.call("POST", "/v1/sweeps", body)
        self.assertEqual((answer.status, answer.json["errors"][0]["pointer"]), (422, "/cross_validation/split_id"), answer.json)
        body = fold_sweep(limits={"max_trials": 1})
        body["cross_validation"]["job"]["data"]["dataset"] = "nothing"
        answer = self.service.call("POST", "/v1/sweeps", body)
        self.assertEqual((answer.status, answer.json["errors"][0]["pointer"]), (422, "/cross_validation/job/data/dataset"), answer.json)

    def test_what_a_sweep_divides_stays(self):
        sweep_id = self.create(fold_sweep(limits={"max_trials": 50, "max_concurrent": 1}))
        sweep = self.sweep(sweep_id)
        dataset = wait_for(lambda: [job["dataset_id"] for job in self.service.get(f"/v1/jobs?parent={sweep_id}")["items"]], "a job")[0]
        self.assertEqual(self.service.call("DELETE", f"/v1/datasets/{dataset}/splits/{sweep['split_id']}").status, 409)
        self.service.post(f"/v1/sweeps/{sweep_id}/stop", {})
        self.wait_end(sweep_id)


if __name__ == "__main__":
    unittest.main()
