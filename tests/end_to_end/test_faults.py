"""Goal: no fault loses or doubles anything. Method: real programs, killed at the worst moment, then compared with an
undisturbed run bit by bit."""
import contextlib
import json
import os
import pathlib
import random
import signal
import subprocess
import tempfile
import time
import unittest

from service import BIN, ENDLESS_EPOCHS, SOURCE, Service, png, points_job, wait_for, write_points


STEPS_OF_EPOCH = 60


def long_job(epochs=400, log_every_steps=1, **length):
    """About 100 epochs a second on a machine that does nothing else. Its steps are slow rather than many, since each is a stored
    point. What must outlive something whose time is fixed has ENDLESS_EPOCHS, and is cancelled."""
    return points_job(model={"width": 256}, train={**(length or {"epochs": epochs}), "batch_size_per_core": 8, "optimizer": {"name": "adam", "lr": 0.001}},
                      checkpoint={"every_epochs": 5, "keep_last": 2}, monitor={"log_every_steps": log_every_steps})


def write_images(folder, count, side=160):
    """Noise in two classes."""
    generator = random.Random(7)
    for index in range(count):
        file = folder / ("one", "two")[index % 2] / f"{index:04}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(png(generator.randbytes(side * side), side))


class Faults(unittest.TestCase):
    def setUp(self):
        self.service = Service("--executor-grace-s", "4")
        self.addCleanup(self.service.close)    # also when the set-up fails
        write_points(self.service.data / "points")
        self.service.start()
        self.service.dataset("points", "csv", {"group_column": "family"})

    def start_long_job(self, **size):
        """A job in mid-run: some checkpoints made, most steps to go."""
        job_id = self.service.submit(long_job(**size))
        self.service.wait_said(job_id, "checkpoint")
        return job_id

    def undisturbed(self, **size):
        job_id = self.service.submit(long_job(**size))
        self.assertEqual(self.service.wait_end(job_id)["state"], "succeeded")
        return job_id

    def assert_same_result(self, job_id, reference):
        self.assertEqual(self.service.newest_weights(job_id), self.service.newest_weights(reference))
        for name in ("train_loss", "val_loss"):
            self.assertEqual(self.service.metric(job_id, name), self.service.metric(reference, name), name)

    def cancel(self, job_id):
        """The job at its end, which has saved its last step."""
        wait_for(lambda: self.service.call("POST", f"/v1/jobs/{job_id}/cancel", {}).status == 200, "the service to take the cancel")
        job = self.service.wait_end(job_id)
        self.assertEqual(job["state"], "cancelled", job.get("reason"))
        return job

    def assert_same_as_undisturbed(self, job_id, log_every_steps):
        """A cancelled job has what a run of so many steps has. That one alone tells its last step, and evaluates after it."""
        steps = max(one["step"] for one in self.service.get(f"/v1/jobs/{job_id}/checkpoints")["items"])
        whole = self.undisturbed(steps=steps, log_every_steps=log_every_steps)
        self.assertEqual(self.service.newest_weights(job_id), self.service.newest_weights(whole))
        for name, every in (("train_loss", log_every_steps), ("val_loss", STEPS_OF_EPOCH)):
            self.assertEqual(self.service.metric(job_id, name), {
                step: value for step, value in self.service.metric(whole, name).items() if step % every == 0}, name)

    def test_a_killed_executor_is_found_and_its_job_resumes_with_the_same_bits(self):
        job_id = self.start_long_job()
        (executor,) = self.service.executors(job_id)
        killed_at = time.monotonic()
        os.kill(executor, signal.SIGKILL)
        wait_for(lambda: self.service.job(job_id)["attempts"] == 2 or self.service.job(job_id)["state"] == "queued",
                 "the loss to be noticed", 60, 0.02)
        found_s = time.monotonic() - killed_at
        print(f"killed executor found after {found_s:.2f} s")
        self.assertLess(found_s, 10)    # one second on a machine that does nothing else
        job = self.service.wait_end(job_id)
        self.assertEqual((job["state"], job["attempts"]), ("succeeded", 2))
        self.assert_same_result(job_id, self.undisturbed())
        self.assertEqual(self.service.executors(), [])

    def test_a_job_killed_while_it_packs_images_packs_them_again(self):
        write_images(self.service.data / "noise", count=900)
        self.service.dataset("noise", "image_folder")
        packs = self.service.home / "store" / "packed"

        def train(packed):
            return self.service.submit({
                "name": "noise", "model": {"arch": "mlp", "width": 8, "depth": 1}, "task": {"type": "classification"},
                "data": {"dataset": "noise", "image_size": 16, "packed": packed},
                "train": {"epochs": 2, "batch_size_per_core": 30, "optimizer": {"name": "sgd", "lr": 0.01}},
                "accelerator": {"cores": 1}})
        job_id = train(packed=True)
        (executor,) = wait_for(lambda: self.service.executors(job_id), "its executor", pause_s=0.002)
        wait_for(lambda: list(packs.rglob("*.tmp")), "a pack that is being made", pause_s=0.002)
        os.kill(executor, signal.SIGKILL)
        self.assertEqual(list(packs.rglob("*.pack")), [], "killed before it was made")
        job = self.service.wait_end(job_id)
        self.assertEqual((job["state"], job["attempts"]), ("succeeded", 2))
        self.assertEqual([pack.suffix for pack in packs.rglob("*.*")], [".pack"])
        reference = train(packed=False)
        self.assertEqual(self.service.wait_end(reference)["state"], "succeeded")
        self.assert_same_result(job_id, reference)
        again = train(packed=True)
        self.assertEqual(self.service.wait_end(again)["state"], "succeeded")
        lines = [line["message"] for line in self.service.get(f"/v1/jobs/{again}/logs")["items"]]
        self.assertTrue(any("made by an earlier job" in line for line in lines), lines)
        self.assert_same_result(again, reference)

    def test_a_killed_service_takes_the_same_attempt_over(self):
        job_id = self.start_long_job(epochs=ENDLESS_EPOCHS)
        (executor,) = self.service.executors(job_id)
        self.service.kill()
        time.sleep(1)    # it trains on
        self.service.start()
        self.assertEqual(self.service.executors(job_id), [executor])
        before = len(self.service.metric(job_id, "train_loss"))
        wait_for(lambda: len(self.service.metric(job_id, "train_loss")) > before, "the job to report on")
        self.assertEqual(self.cancel(job_id)["attempts"], 1)
        sequence = [event["seq"] for event in self.service.events(job_id)]
        self.assertEqual(sequence, list(range(1, len(sequence) + 1)))
        steps = [event["body"]["step"] for event in self.service.events(job_id)
                 if event["type"] == "metric" and "train_loss" in event["body"]["values"]]
        self.assertEqual(steps, list(range(1, len(steps) + 1)), "no metric point lost or doubled")
        self.assert_same_as_undisturbed(job_id, log_every_steps=1)

    def test_an_executor_left_alone_saves_and_ends_and_the_job_resumes(self):
        job_id = self.start_long_job(epochs=ENDLESS_EPOCHS, log_every_steps=20)
        self.service.kill()
        wait_for(lambda: not self.service.executors(job_id), "the executor to end by itself", 60)
        self.service.start()
        self.service.wait_said(job_id, "metric", attempt=2)
        self.assertEqual(self.cancel(job_id)["attempts"], 2)
        self.assert_same_as_undisturbed(job_id, log_every_steps=20)

    def test_a_stopped_database_stops_no_training(self):
        outage_s = float(os.environ.get("SLIPWAY_OUTAGE_S", "12"))
        job_id = self.start_long_job(epochs=ENDLESS_EPOCHS, log_every_steps=10)
        (executor,) = self.service.executors(job_id)
        frames = self.service.frames_file(job_id)
        postmaster = self.service.postmaster()
        # The whole group: the postmaster and its backends.
        stopped = [int(pid) for pid in os.popen(f"ps -o pid= --ppid {postmaster}").read().split()] + [postmaster]
        for process in stopped:
            os.kill(process, signal.SIGSTOP)
        said = frames.stat().st_size
        try:
            end = time.monotonic() + outage_s
            while time.monotonic() < end:
                asked_at = time.monotonic()
                self.assertIn(self.service.call("GET", f"/v1/jobs/{job_id}").status, (200, 503))
                # A frozen database answers nothing, not even "no": the first request waits for its time limit.
                self.assertLess(time.monotonic() - asked_at, 10)
                time.sleep(0.5)
            self.assertGreater(frames.stat().st_size, said, "it trains on")
        finally:
            for process in stopped:
                os.kill(process, signal.SIGCONT)
        self.assertEqual(self.cancel(job_id)["attempts"], 1)
        steps = [event["body"]["step"] for event in self.service.events(job_id)
                 if event["type"] == "metric" and "train_loss" in event["body"]["values"]]
        self.assertEqual(steps, list(range(10, 10 * len(steps) + 1, 10)))
        self.assertNotIn(executor, self.service.executors())

    def test_a_killed_database_is_started_again(self):
        job_id = self.start_long_job(epochs=ENDLESS_EPOCHS, log_every_steps=10)
        killed = self.service.postmaster()
        os.kill(killed, signal.SIGKILL)

        def is_another_one():    # the processes of the killed one answer for a moment longer
            with contextlib.suppress(OSError, ValueError, IndexError):
                return self.service.postmaster() != killed
        wait_for(is_another_one, "the database to be started")
        job = wait_for(lambda: (answer := self.service.call("GET", f"/v1/jobs/{job_id}")).status == 200 and answer.json,
                       "the database to be back", 60)
        self.assertEqual(job["attempts"], 1)
        self.assertEqual(self.cancel(job_id)["attempts"], 1)
        steps = sorted(self.service.metric(job_id, "train_loss"))
        self.assertEqual(steps, list(range(10, 10 * len(steps) + 1, 10)), "no metric point lost")

    def test_a_cancelled_job_leaves_no_process(self):
        job_id = self.start_long_job(epochs=ENDLESS_EPOCHS)
        self.assertEqual(self.service.call("POST", f"/v1/jobs/{job_id}/cancel", {}).status, 200)
        self.assertEqual(self.service.wait_end(job_id)["state"], "cancelled")
        self.assertEqual(self.service.executors(job_id), [])
        self.assertEqual(self.service.call("POST", f"/v1/jobs/{job_id}/cancel", {}).status, 200)
        saved = max(one["step"] for one in self.service.get(f"/v1/jobs/{job_id}/checkpoints")["items"])
        self.assertEqual(saved, max(self.service.metric(job_id, "train_loss")), "the last step is saved")

    def test_a_killed_job_ends_at_once_and_saves_nothing(self):
        job_id = self.start_long_job(epochs=ENDLESS_EPOCHS)
        self.assertEqual(self.service.call("POST", f"/v1/jobs/{job_id}/kill", {}).status, 200)
        end = self.service.wait_end(job_id)
        self.assertEqual((end["state"], end["reason"]["code"]), ("cancelled", "killed"))
        self.assertEqual(self.service.executors(job_id), [])
        epochs = [one["epoch"] for one in self.service.get(f"/v1/jobs/{job_id}/checkpoints")["items"]]
        self.assertEqual([epoch % 5 for epoch in epochs], [0] * len(epochs), "only what every_epochs asked for")

    def test_a_stopped_executor_is_replaced(self):
        job_id = self.start_long_job()
        (executor,) = self.service.executors(job_id)
        os.kill(executor, signal.SIGSTOP)
        wait_for(lambda: self.service.job(job_id)["attempts"] == 2, "the silent executor to be replaced", 60)
        self.assertEqual(self.service.wait_end(job_id)["state"], "succeeded")
        self.assertNotIn(executor, self.service.executors())


class FailingDisk(unittest.TestCase):
    def test_a_checkpoint_that_cannot_be_synced_fails_the_run_and_is_not_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            library = folder / "faulty_disk.so"
            subprocess.run(["clang-19", "-shared", "-fPIC", "-o", library, SOURCE / "bench/chaos/faulty_disk.c", "-ldl"], check=True)
            (folder / "faults").write_text("fsync")
            write_points(folder / "points")
            (folder / "job.json").write_text(json.dumps(points_job()))
            done = subprocess.run(
                [BIN / "slipway-executor", "run", folder / "job.json", "--data", folder / "points", "--format", "csv", "--options",
                 json.dumps({"group_column": "family"}), "--out", folder / "out"], capture_output=True, text=True,
                env={**os.environ, "LD_PRELOAD": str(library), "SLIPWAY_FAULTS": str(folder / "faults")})
            self.assertNotEqual(done.returncode, 0, done.stdout + done.stderr)
            last = json.loads((folder / "out" / "frames.ndjson").read_text().splitlines()[-1])
            self.assertEqual((last["type"], last["outcome"], last["code"]), ("done", "failed", "disk_error"))
            self.assertIn("Input/output error", last["message"])
            self.assertEqual(list((folder / "out" / "checkpoints").glob("*")), [])


if __name__ == "__main__":
    unittest.main()
