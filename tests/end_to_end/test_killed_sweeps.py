"""Goal: a kill of the service at any moment changes nothing in a sweep."""
import random
import time
import unittest

from service import serve_points
from sweep_calls import RATES, SweepCalls, fold_sweep, quick_job, sweep_of


class KilledSweeps(SweepCalls, unittest.TestCase):
    """Method: with one trial at a time the order of observations is that of the trials, so an undisturbed sweep with the same
    seed must have the same log, line by line; and a sweep with several at a time one without gaps."""

    @classmethod
    def setUpClass(cls):
        serve_points(cls, rows=200)

    def killed(self, body, kills, seed):
        moments = random.Random(seed)
        sweep_id = self.create(body)
        for _ in range(kills):
            time.sleep(moments.uniform(0.2, 2.0))
            self.service.kill()
            self.service.start()
        self.wait_end(sweep_id, 400)
        return sweep_id

    def test_a_killed_service_takes_the_same_decisions(self):
        body = sweep_of(RATES, {"name": "asha", "mode": "promote", "max_time": 9}, quick_job(), seed=11,
                        limits={"max_trials": 9, "max_concurrent": 1})
        undisturbed = self.create(body)
        self.wait_end(undisturbed)
        disturbed = self.killed(body, 5, seed=1)
        self.assertEqual(self.decisions(disturbed), self.decisions(undisturbed))
        self.assertEqual([line["event"] for line in self.log(disturbed)], [line["event"] for line in self.log(undisturbed)])

    def test_a_killed_service_ends_the_same_folds(self):
        body = fold_sweep(objective={"fold_pruning": {}}, seed=3, limits={"max_trials": 5, "max_concurrent": 1})
        undisturbed = self.create(body)
        self.wait_end(undisturbed)
        disturbed = self.killed(body, 4, seed=3)
        self.assertEqual(self.decisions(disturbed), self.decisions(undisturbed))
        self.assertEqual([line["event"] for line in self.log(disturbed)], [line["event"] for line in self.log(undisturbed)])
        self.assertIn("stop", {action for action, _, _ in self.decisions(disturbed)})

    def test_a_killed_service_loses_no_trial_of_many_at_a_time(self):
        body = sweep_of(RATES, {"name": "asha", "mode": "stop", "max_time": 4, "reduction_factor": 2}, quick_job(), seed=12,
                        limits={"max_trials": 12, "max_concurrent": 4})
        sweep_id = self.killed(body, 4, seed=2)
        sweep = self.sweep(sweep_id)
        self.assertEqual((sweep["state"], sweep["trials"]["total"], sweep["trials"]["failed"]), ("finished", 12, 0))
        self.assertEqual([line["seq"] for line in self.log(sweep_id)], list(range(1, len(self.log(sweep_id)) + 1)))
        keys = [job["parent"]["key"] for job in self.service.get(f"/v1/jobs?parent={sweep_id}&limit=200")["items"]]
        self.assertEqual(sorted(keys), sorted(f"{n}@4" for n in range(12)))


if __name__ == "__main__":
    unittest.main()
