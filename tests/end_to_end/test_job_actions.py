"""Goal: what a user does to a job in mid-run costs it nothing. Method: real executors, interrupted at random moments, then
compared bit by bit with a run that nobody touched."""
import os
import random
import signal
import unittest

from service import Service, points_job, wait_for, write_points


def long_job(epochs=300, every_epochs=50, **changes):
    """About 100 epochs a second on a machine that does nothing else; its own checkpoints are far apart."""
    return points_job(model={"width": 256}, train={"epochs": epochs, "batch_size_per_core": 8, "optimizer": {"name": "adam", "lr": 0.001}},
                      checkpoint={"every_epochs": every_epochs, "keep_last": 2}, monitor={"log_every_steps": 1}, **changes)


class JobActions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service()
        cls.addClassCleanup(cls.service.close)
        write_points(cls.service.data / "points")
        cls.service.start()
        cls.service.dataset("points", "csv", {"group_column": "family"})
        cls.reference = cls.service.submit(long_job())
        assert cls.service.wait_end(cls.reference)["state"] == "succeeded"

    def start(self, **changes):
        job = self.service.submit(long_job(**changes))
        self.service.wait_state(job, "running")
        return job

    def checkpoints(self, job):
        return self.service.get(f"/v1/jobs/{job}/checkpoints")["items"]

    def assert_same_end(self, job):
        self.assertEqual(self.service.newest_weights(job), self.service.newest_weights(self.reference))

    def assert_same_curve(self, job):
        for name in ("train_loss", "val_loss"):
            self.assertEqual(self.service.metric(job, name), self.service.metric(self.reference, name), name)

    def test_a_job_paused_at_random_moments_ends_with_the_same_bits(self):
        generator = random.Random(11)
        job = self.service.submit(long_job())
        pauses = 0
        for _ in range(4):
            self.service.wait_said(job, "metric", generator.randrange(1, 2000), attempt=pauses + 1)
            if self.service.call("POST", f"/v1/jobs/{job}/pause", {}).status != 200:
                break    # it was faster
            state = wait_for(lambda: (now := self.service.job(job)["state"]) in ("paused", "succeeded") and now, "a pause")
            if state == "succeeded":
                break
            pauses += 1
            cores = self.service.get("/v1/cores")["items"]
            self.assertNotIn(job, [core["job_id"] for core in cores], "a paused job holds no core")
            self.assertEqual(self.service.post(f"/v1/jobs/{job}/resume", {})["state"], "queued")
        self.assertGreater(pauses, 0)
        done = self.service.wait_end(job)
        self.assertEqual((done["state"], done["restarts"]), ("succeeded", 0))
        self.assert_same_end(job)
        self.assert_same_curve(job)

    def test_a_checkpoint_is_saved_when_it_is_asked_for(self):
        job = self.start(every_epochs=300)    # of its own it saves at its end only
        self.service.post(f"/v1/jobs/{job}/checkpoint", {})
        done = self.service.wait_end(job)
        steps = [one["step"] for one in self.checkpoints(job)]
        self.assertEqual((len(steps), max(steps)), (2, done["progress"]["step"]))
        self.assertEqual((done["state"], done["attempts"]), ("succeeded", 1), "it went on")
        self.assert_same_end(job)
        self.assert_same_curve(job)

    def test_a_killed_job_is_retried_from_where_it_was_and_ends_with_the_same_bits(self):
        job = self.start()
        self.service.post(f"/v1/jobs/{job}/checkpoint", {})
        self.service.wait_said(job, "checkpoint")
        self.service.post(f"/v1/jobs/{job}/kill", {})
        self.assertEqual(self.service.wait_end(job)["state"], "cancelled")
        saved = self.checkpoints(job)[0]
        again = self.service.post(f"/v1/jobs/{job}/retry", {})
        self.assertEqual(again["origin"], {"action": "retry", "job_id": job, "continues_from": saved["id"]})
        done = self.service.wait_end(again["id"])
        self.assertEqual(done["state"], "succeeded")
        attempt = self.service.get(f"/v1/jobs/{again['id']}/attempts")["items"][0]
        self.assertEqual(attempt["resumed_from"], saved["id"])
        self.assertGreater(min(self.service.metric(again["id"], "train_loss")), saved["step"])
        self.assert_same_end(again["id"])
        # It keeps checkpoints of its own, by its own rule, and the other job's are left alone.
        self.assertIn("last", self.checkpoints(again["id"])[0]["kinds"])
        self.assertIn(saved["id"], [one["id"] for one in self.checkpoints(job)])

    def test_a_fork_that_trains_further_equals_one_long_run(self):
        short = self.service.submit(long_job(epochs=120))
        self.assertEqual(self.service.wait_end(short)["state"], "succeeded")
        fork = self.service.post(f"/v1/jobs/{short}/fork", {"changes": {"name": "further", "train": {"epochs": 300}}})
        self.assertEqual(self.service.wait_end(fork["id"])["state"], "succeeded")
        self.assert_same_end(fork["id"])

    def test_a_failure_names_its_step_its_phase_and_its_samples(self):
        job = self.service.submit(points_job(train={
            "epochs": 3, "batch_size_per_core": 8, "optimizer": {"name": "sgd", "lr": 1e30}}))
        done = self.service.wait_end(job)
        self.assertEqual((done["state"], done["reason"]["code"]), ("failed", "nan_loss"))
        failure = done["result"]["failure"]
        self.assertIn(f"at step {failure['step']};", done["reason"]["message"])
        self.assertEqual(failure["epoch"], 1)
        self.assertEqual(failure["batch"], failure["step"] - 1)
        self.assertEqual((failure["sample_count"], len(set(failure["samples"]))), (8, 8))
        self.assertEqual(failure["shapes"]["features"], [4])
        self.assertRegex(failure["phase"], "^[a-z_]+$")

    def test_a_crash_says_where_it_was(self):
        job = self.start()
        self.service.wait_said(job, "metric")
        (executor,) = self.service.executors(job)
        os.kill(executor, signal.SIGSEGV)
        attempt = wait_for(lambda: (one := self.service.get(f"/v1/jobs/{job}/attempts")["items"][0])["ended_at"] and one, "the end")
        self.assertRegex(attempt["message"], r"\(signal 11\) in step \d+, phase [a-z_]+")
        self.assertEqual(self.service.wait_end(job)["state"], "succeeded")
        self.assert_same_end(job)

    def test_a_paused_job_outlives_the_service(self):
        job = self.start()
        self.service.post(f"/v1/jobs/{job}/pause", {})
        self.service.wait_state(job, "paused")
        self.service.kill()
        self.service.start()
        self.assertEqual(self.service.job(job)["state"], "paused")
        self.service.post(f"/v1/jobs/{job}/resume", {})
        self.assertEqual(self.service.wait_end(job)["state"], "succeeded")
        self.assert_same_end(job)


if __name__ == "__main__":
    unittest.main()
