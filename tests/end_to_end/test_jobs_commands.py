"""Goal: the commands that submit, steer, show and compare jobs print what they say. Method: client_commands.py."""
import json
import subprocess
import unittest

from client_commands import CommandTestCase, environment_of, run, shape
from service import BIN, ENDLESS_EPOCHS, points_job


class JobCommands(CommandTestCase):
    @classmethod
    def setUpClass(cls):
        cls.serve()

    def test_submit(self):
        self.assertEqual(shape(self.ok("submit", self.spec)), "<job>\n")
        self.assertIn('"name": "points"', self.ok("submit", self.spec, "--dry-run"))
        followed = self.ok("submit", self.spec, "--follow")
        self.assertIn("succeeded, validation accuracy", followed)
        *_, metrics, checkpoints, logs, page = followed.splitlines()
        job = page.rpartition("/")[2]
        self.assertEqual([line.split() for line in (metrics, checkpoints, logs)],
                         [["slipway", name, job] for name in ("metrics", "checkpoints", "logs")])
        self.assertEqual(page.strip(), f"http://127.0.0.1:{self.service.port}/#/jobs/{job}")
        for line in (metrics, checkpoints, logs):
            self.ok(*line.split()[1:])

    def test_jobs(self):
        rows = self.table(self.ok("jobs", "--state", "succeeded", "--limit", "100"), "id", "name", "kind", "state", "step", "best", "created")
        by_loss = self.table(self.ok("jobs", "--best", "val_loss", "--limit", "100"), "id", "name", "kind", "state", "step", "val_loss", "created")
        self.assertIn(rows[0][0], [row[0] for row in by_loss])
        self.assertIn(self.job, [row[0] for row in rows])
        self.assertEqual({row[3] for row in rows}, {"succeeded"})

    def test_jobs_that_filters_choose(self):
        labelled = self.service.submit(points_job(name="One of a study", labels={"study": "lr"}, train={"epochs": 1}))
        for filters in (["--label", "study=lr"], ["--name", "of a study"], ["--name", "study", "--kind", "train", "--parent", "none"]):
            rows = self.table(self.ok("jobs", *filters), "id", "name", "kind", "state", "step", "best", "created")
            self.assertEqual([row[0] for row in rows], [labelled], filters)
        self.assertEqual(self.ok("jobs", "--project", "elsewhere").count("\n"), 1)
        refused = run("jobs", "--kind", "sweep", home=self.service.home, check=4)
        self.assertIn("kind", refused.stderr)

    def test_delete(self):
        jobs = [self.service.submit(points_job(name=f"gone {n}", train={"epochs": 1})) for n in range(2)]
        for job in jobs:
            self.service.wait_end(job)
        self.assertEqual(self.ok("delete", *jobs, "--yes"), "".join(f"{job} deleted\n" for job in jobs))
        run("job", jobs[0], home=self.service.home, check=4)

    def test_label(self):
        job = self.service.submit(points_job(labels={"team": "red"}))
        self.assertEqual(self.ok("label", job, "study=lr", "kind=a=b"), f'{job} {{"kind":"a=b","study":"lr","team":"red"}}\n')
        self.assertEqual(self.ok("label", job, "team-", "kind-"), f'{job} {{"study":"lr"}}\n')
        self.assertIn("a label is name=value", run("label", job, "team", home=self.service.home, check=2).stderr)

    def test_priority(self):
        job = self.service.submit(points_job(limits={"start_after": "2090-01-01T00:00:00Z"}))
        self.addCleanup(self.service.post, f"/v1/jobs/{job}/cancel", {})
        self.assertEqual(self.ok("priority", job, "high"), f"{job} high\n")
        self.assertIn("urgent", run("priority", job, "highest", home=self.service.home, check=4).stderr)

    def test_pool(self):
        job = self.service.submit(points_job(limits={"start_after": "2090-01-01T00:00:00Z"}))
        self.addCleanup(self.service.post, f"/v1/jobs/{job}/cancel", {})
        self.assertEqual(self.ok("pool", job, "local"), f"{job} local\n")
        self.assertEqual(self.ok("pool", job, "any"), f"{job} any\n")
        self.assertIn("local", run("pool", job, "tape", home=self.service.home, check=4).stderr)

    def test_job(self):
        self.assertIn(f'"id": "{self.job}"', self.ok("job", self.job))

    def test_follow(self):
        self.assertRegex(self.ok("follow", self.job), rf"points \({self.job}\) succeeded, validation accuracy 0\.\d{{4}}")

    def test_watch(self):
        self.assertEqual(self.ok("watch", self.job), self.ok("follow", self.job))

    def end_early(self, verb):
        spec = points_job(train={"epochs": ENDLESS_EPOCHS, "batch_size_per_core": 16, "optimizer": {"name": "sgd", "lr": 1e-6}})
        job = self.service.submit(spec)
        self.service.wait_state(job, "running")
        self.assertRegex(self.ok(verb, job), rf"^{job} (running|cancelling|cancelled)\n$")
        self.assertEqual(self.service.wait_end(job)["state"], "cancelled")
        self.assertRegex(self.ok("follow", job, code=3), "cancelled")

    def test_cancel(self):
        self.end_early("cancel")

    def test_kill(self):
        self.end_early("kill")

    def running(self):
        """A job that goes on until somebody ends it."""
        job = self.service.submit(points_job(
            train={"epochs": ENDLESS_EPOCHS, "batch_size_per_core": 16, "optimizer": {"name": "sgd", "lr": 1e-6}},
            checkpoint={"every_epochs": ENDLESS_EPOCHS}))
        self.service.wait_state(job, "running")
        self.addCleanup(self.service.post, f"/v1/jobs/{job}/kill", {})
        return job

    def test_pause(self):
        job = self.running()
        self.assertRegex(self.ok("pause", job), rf"^{job} (pausing|paused)\n$")
        self.service.wait_state(job, "paused")
        self.assertEqual(self.ok("pause", job), f"{job} paused\n")

    def test_resume(self):
        job = self.running()
        self.ok("pause", job)
        self.service.wait_state(job, "paused")
        self.assertEqual(self.ok("resume", job), f"{job} queued\n")
        self.service.wait_state(job, "running")

    def test_checkpoint(self):
        job = self.running()
        made = self.ok("checkpoint", job).strip()
        kept = [one["id"] for one in self.service.get(f"/v1/jobs/{job}/checkpoints")["items"]]
        self.assertEqual(kept, [made])
        self.assertIn("a checkpoint can be saved while", run("checkpoint", self.job, home=self.service.home, check=4).stderr)

    def test_retry(self):
        job = self.running()
        self.ok("kill", job)
        self.service.wait_end(job)
        again = self.ok("retry", job).strip()
        self.addCleanup(self.service.post, f"/v1/jobs/{again}/kill", {})
        self.assertEqual(self.service.job(again)["origin"], {"action": "retry", "job_id": job, "continues_from": None})

    def test_fork(self):
        followed = self.ok("fork", self.job, "--set", "train.epochs=6", "--set", "name=longer", "--follow")
        fork = followed.split()[0]
        self.assertIn("succeeded, validation accuracy", followed)
        self.assertEqual([self.service.job(fork)["spec"]["train"]["epochs"], self.service.job(fork)["name"]], [6, "longer"])
        patch = self.folder / "patch.json"
        patch.write_text(json.dumps({"train": {"batch_size_per_core": 8}}))
        self.assertIn('"batch_size_per_core": 8', self.ok("fork", self.job, "--file", patch, "--start", "scratch", "--dry-run"))
        refused = run("fork", self.job, "--set", "train.batch_size_per_core=8", home=self.service.home, check=4)
        self.assertIn("set start to weights or scratch", refused.stderr)
        for bad in ("epochs", "=3"):
            self.assertIn("--set must be field=value", run("fork", self.job, "--set", bad, home=self.service.home, check=2).stderr)

    def test_bulk(self):
        jobs = {self.service.submit(points_job(name="many", labels={"run": "bulk"}, limits={"start_after": "2099-01-01T00:00:00Z"}))
                for _ in range(3)}
        rows = self.table(self.ok("bulk", "cancel", "--label", "run=bulk", "--dry-run"), "id", "name", "state", "outcome", "message")
        self.assertEqual({(row[0], row[3]) for row in rows}, {(job, "changed") for job in jobs})
        self.ok("bulk", "cancel", "--label", "run=bulk", "--state", "queued,paused")
        self.assertEqual({self.service.job(job)["state"] for job in jobs}, {"cancelled"})
        refused = run("bulk", "pause", "--id", self.job, home=self.service.home, check=1)
        self.assertIn("the job has succeeded and cannot become paused", refused.stdout)
        self.assertIn("select jobs with --state", run("bulk", "kill", home=self.service.home, check=2).stderr)

    def test_pin(self):
        self.assertEqual(self.ok("pin", self.checkpoint), f"{self.checkpoint} pinned\n")
        self.assertEqual(self.ok("unpin", self.checkpoint), f"{self.checkpoint} not pinned\n")

    def test_unpin(self):
        self.assertEqual(self.ok("unpin", self.checkpoint), f"{self.checkpoint} not pinned\n")

    def test_explain(self):
        self.assertRegex(self.ok("explain", self.job), r"^[a-z_]+: .+\n$")

    def test_events(self):
        with subprocess.Popen([BIN / "slipway", "--home", self.service.home, "events", "--types", "state,end,deleted",
                               "--project", "default", "--count", "3"], stdout=subprocess.PIPE, text=True) as watching:
            # It listens from some moment on: jobs are made until it has seen three events.
            made = []
            while watching.poll() is None:
                made.append(self.service.submit({**points_job(), "limits": {"start_after": "2090-01-01T00:00:00Z"}}))
                self.service.post(f"/v1/jobs/{made[-1]}/cancel", {})
            lines = watching.stdout.read().splitlines()
        self.assertEqual((watching.returncode, len(lines)), (0, 3))
        for line in lines:
            project, job, kind, text = line.split(" ", 3)
            self.assertEqual((project, job in made, kind in ("state", "end")), ("default", True, True), line)
        self.assertTrue({"queued", "queued -> cancelled"} & {line.split(" ", 3)[3] for line in lines}, lines)
        self.assertEqual(run("events", "--types", "rumour", home=self.service.home).returncode, 4)

    def test_logs(self):
        everything = self.ok("logs", self.job)
        self.assertRegex(shape(everything), r"^<time> (info|warn) .+\n")
        word = everything.split("\n")[0].split()[-1]
        found = self.ok("logs", self.job, "--search", word.upper())
        self.assertEqual(found, "".join(line + "\n" for line in everything.splitlines() if word.lower() in line.split(" ", 2)[2].lower()))
        self.assertEqual(self.ok("logs", self.job, "--search", "no such words"), "")

    def test_following_logs_ends_with_the_job_and_says_each_line_once(self):
        job = self.running()
        with subprocess.Popen([BIN / "slipway", "--home", self.service.home, "logs", "-f", job], stdout=subprocess.PIPE, text=True,
                              env=environment_of()) as following:
            self.assertRegex(following.stdout.readline(), r"^\d{4}-\S+ (info|warn)")    # while the job runs
            self.ok("cancel", job)
            rest = following.stdout.read()
        self.assertEqual(following.returncode, 3)
        whole = self.ok("logs", job).splitlines()
        self.assertEqual(rest.splitlines(), whole[1:])

    def test_logs_of_a_level_and_since_a_time(self):
        everything = self.ok("logs", self.job)
        self.assertEqual(self.ok("logs", self.job, "--since", "1h"), everything)
        self.assertEqual(self.ok("logs", self.job, "--since", "0s"), "")
        second = everything.splitlines()[1].split()[0]
        self.assertEqual(self.ok("logs", self.job, "--since", second).splitlines()[0].split()[0], second)
        self.assertNotIn(" info ", self.ok("logs", self.job, "--level", "warn"))
        for words, said in ((("--since", "yesterday"), "such as 30s, 10m, 2h or 1d"), (("--level", "loud"), "--level")):
            self.assertIn(said, run("logs", self.job, *words, home=self.service.home, check=2).stderr)

    def test_top(self):
        job = self.running()
        text = self.ok("top")
        self.assertRegex(text, r"^\d+ of \d+ cores busy, \d+ jobs? queued\n\n")
        rows = self.table(text.split("\n\n", 1)[1], "id", "name", "state", "cores", "epoch", "step", "samples/s", "elapsed", "eta")
        (row,) = [row for row in rows if row[0] == job]
        self.assertEqual(row[2], "running")
        self.assertRegex(row[3], r"^\d+$")

    def test_compare(self):
        other = self.service.submit(points_job(name="other", train={"optimizer": {"name": "sgd", "lr": 0.5}}))
        self.service.wait_end(other)
        rows = self.table(self.ok("compare", self.job, other), "kind", "field", self.job, other)
        fields = {(row[0], row[1]): row[2:] for row in rows}
        self.assertEqual(fields["job", "name"], ["points", "other"])
        self.assertEqual(fields["spec", "train.optimizer.lr"], ["0.01", "0.5"])
        self.assertEqual(fields["spec", "train.optimizer.name"], ["adam", "sgd"])
        self.assertNotIn(("spec", "model.width"), fields)    # the same in both
        for job, shown in zip((self.job, other), fields["metric", "best val_loss"]):
            self.assertEqual(float(shown), float(f"{min(self.service.metric(job, 'val_loss').values()):.5g}"))
        for job, shown in zip((self.job, other), fields["metric", "last val_accuracy"]):
            self.assertEqual(float(shown), float(f"{self.service.get(f'/v1/jobs/{job}')['result']['val_accuracy']:.5g}"))
        self.assertIn("2 to 20 jobs, got 1", run("compare", self.job, home=self.service.home, check=2).stderr)


if __name__ == "__main__":
    unittest.main()
