"""Goal: jobs that share an executor end with the bits and events of jobs that have one each.
Method: real jobs under the real service with its confinement, once with --warm-executors-s 0."""
import contextlib
import hashlib
import os
import pathlib
import signal
import unittest

from service import ENDLESS_EPOCHS, Service, wait_for

TRIALS = [{"lr": 0.05, "seed": 1}, {"lr": 0.01, "seed": 2}, {"lr": 0.2, "seed": 1}, {"lr": 0.05, "seed": 1}]


def table(path):
    lines = ["a,b,c,label"] + [f"{i % 7},{i * i % 11},{i % 3},{'yes' if i % 2 else 'no'}" for i in range(400)]
    path.mkdir()
    (path / "points.csv").write_text("\n".join(lines) + "\n")


def spec(trial, **train):
    return {"model": {"arch": "mlp", "width": 16}, "task": {"type": "classification"},
            "data": {"dataset": "points", "split": {"val_fraction": 0.2, "seed": 0}},
            "train": {"epochs": 2, "batch_size_per_core": 32, "seed": trial["seed"],
                      "optimizer": {"name": "sgd", "lr": trial["lr"]}, **train},
            "accelerator": {"cores": 1}, "monitor": {"log_every_steps": 1}}


def told(service, job):
    """Its events without what is of this run alone: times, names, and where its time went. Checkpoints come last: they are
    written beside the next steps, so their place among the metrics is the disk's."""
    kept, checkpoints = [], []
    for event in service.events(job):
        data = {key: value for key, value in event["body"].items()
                if key not in ("seconds", "cached", "samples_per_s", "eta_s", "message", "verdict", "field", "fence", "files", "time")}
        if event["type"] not in ("progress", "log", "report"):
            told_of = checkpoints if event["type"] == "checkpoint" else kept
            told_of.append((event["type"], str({key: value for key, value in data.items() if not str(value).startswith("ck")})))
    return kept + checkpoints


class WarmExecutorsTest(unittest.TestCase):
    def service(self, *options):
        service = Service("--cores", "2", *options)
        self.addCleanup(service.close)
        table(service.data / "points")
        service.start()
        service.dataset("points", "csv")
        return service

    def pids(self, service, jobs):
        return [int(service.sql(f"select pid from attempt_member where job_id = '{job}' order by attempt desc limit 1")[0][0])
                for job in jobs]

    def run_trials(self, service):
        jobs = []
        for trial in TRIALS:
            jobs.append(service.submit({**spec(trial), "name": "trial"}))
            self.assertEqual(service.wait_end(jobs[-1])["state"], "succeeded")
        return jobs

    def test_trials_that_share_an_executor_have_the_bits_and_events_of_those_alone(self):
        alone, warm = self.service("--warm-executors-s", "0"), self.service()
        cold_jobs, warm_jobs = self.run_trials(alone), self.run_trials(warm)
        self.assertEqual(len(set(self.pids(alone, cold_jobs))), len(TRIALS))
        self.assertEqual(len(set(self.pids(warm, warm_jobs))), 1)
        digests = []
        for cold, shared in zip(cold_jobs, warm_jobs):
            digests.append(hashlib.sha256(warm.newest_weights(shared)).hexdigest())
            self.assertEqual(digests[-1], hashlib.sha256(alone.newest_weights(cold)).hexdigest())
            for name in ("train_loss", "val_loss", "val_accuracy"):
                self.assertEqual(warm.metric(shared, name), alone.metric(cold, name))
            self.assertEqual(told(warm, shared), told(alone, cold))
        self.assertEqual(digests[0], digests[3], "the same trial again")
        self.assertNotEqual(digests[0], digests[1])

    def test_a_trial_that_fails_leaves_its_executor_to_the_next_one_with_the_same_bits(self):
        alone, warm = self.service("--warm-executors-s", "0"), self.service()
        unfit = spec(TRIALS[0])
        unfit["data"]["normalize"] = {"mean": [0.1, 0.2], "std": [1.0, 1.0]}    # of three columns
        cold = alone.submit(spec(TRIALS[0]))
        self.assertEqual(alone.wait_end(cold)["state"], "succeeded")
        jobs = []
        for body, code in ((spec(TRIALS[1]), None), (spec({"lr": 1e30, "seed": 1}), "nan_loss"), (spec(TRIALS[0]), None),
                           (unfit, "spec_error"), (spec(TRIALS[0]), None)):
            jobs.append(warm.submit(body))
            ended = warm.wait_end(jobs[-1])
            self.assertEqual(ended["state"], "failed" if code else "succeeded", ended)
            if code:
                self.assertEqual(ended["reason"]["code"], code)
        self.assertEqual(len(set(self.pids(warm, jobs))), 1)
        for job in (jobs[2], jobs[4]):
            self.assertEqual(warm.newest_weights(job), alone.newest_weights(cold))
            self.assertEqual(told(warm, job), told(alone, cold))

    def test_an_executor_that_is_killed_costs_its_own_attempt_only(self):
        service = self.service()
        first = self.run_trials(service)[-1]
        [pid] = self.pids(service, [first])
        job = service.submit(spec(TRIALS[0], epochs=ENDLESS_EPOCHS))
        wait_for(lambda: len(service.metric(job, "train_loss")) > 20, "training")
        self.assertEqual(self.pids(service, [job]), [pid])
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: service.job(job)["restarts"] == 1 and service.job(job)["state"] == "running", "another attempt")
        self.assertNotEqual(self.pids(service, [job]), [pid])
        service.post(f"/v1/jobs/{job}/cancel", {})
        self.assertEqual(service.wait_end(job)["state"], "cancelled")
        self.assertEqual(service.job(first)["state"], "succeeded")

    def test_a_killed_service_leaves_no_executor_that_waits(self):
        service = self.service()
        [pid] = self.pids(service, self.run_trials(service)[-1:])
        os.kill(pid, 0)
        service.kill()

        def is_gone():
            with contextlib.suppress(OSError):
                return "Z" in pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            return True
        wait_for(is_gone, "the executor that waited to end", 60)
        service.start()
        self.run_trials(service)
        wait_for(lambda: len(list((service.home / "workers").iterdir())) == 1, "what the killed one left to be removed", 90)


if __name__ == "__main__":
    unittest.main()
