"""Goal: the commands of sweeps print what they say. Method: client_commands.py."""
import json
import unittest

from client_commands import CommandTestCase, run
from service import points_job


class SweepCommands(CommandTestCase):
    @classmethod
    def setUpClass(cls):
        cls.serve()

    def sweep_file(self, **changes):
        job = points_job(train={"epochs": 1, "batch_size_per_core": 64, "optimizer": {"name": "adam", "lr": 0.01}})
        job.pop("name")
        body = {"name": "rates", "space": {"train.optimizer.lr": {"type": "choice", "values": [0.01, 0.0212345678]}},
                "algorithm": {"name": "grid"}, "job": job, **changes}
        file = self.folder / "sweep.json"
        file.write_text(json.dumps(body))
        return file

    def ended_sweep(self):
        if not hasattr(type(self), "a_sweep"):
            type(self).a_sweep = self.ok("sweep", "create", self.sweep_file()).strip()
            self.ok("sweep", "watch", self.a_sweep)
        return self.a_sweep

    def held_sweep(self):
        job = points_job(limits={"start_after": "2100-01-01T00:00:00Z"})
        job.pop("name")
        return self.ok("sweep", "create", self.sweep_file(job=job)).strip()

    def test_sweep_create(self):
        shown = json.loads(self.ok("sweep", "create", self.sweep_file(), "--dry-run"))
        self.assertEqual(shown["max_trials"], 2)
        lines = self.ok("sweep", "create", self.sweep_file(), "--follow").splitlines()
        self.assertRegex(lines[0], "^swp_")
        sweep = lines[0]
        self.assertRegex(lines[-6], r"^finished  2/2 trials  best val_loss .* \(trial [01]\)$")
        self.assertEqual(lines[-4:], ["More about this sweep:", f"  slipway sweep best {sweep}", f"  slipway sweep trials {sweep}",
                                      f"  http://127.0.0.1:{self.service.port}/#/sweeps/{sweep}"])
        run("sweep", "create", self.folder / "none.json", home=self.service.home, check=2)
        done = run("sweep", "create", self.sweep_file(space={}), home=self.service.home, check=4)
        self.assertIn("/space", done.stderr)

    def test_sweep_create_from_toml_with_changes(self):
        file = self.folder / "sweep.toml"
        file.write_text('[space."train.optimizer.lr"]\ntype = "log_uniform"\nmin = 0.001\nmax = 0.1\n\n[algorithm]\nname = "random"\n\n'
                        '[limits]\nmax_trials = 50\n\n[job.model]\narch = "mlp"\n\n[job.task]\ntype = "classification"\n\n'
                        '[job.data]\ndataset = "points"\n\n[job.train]\nepochs = 1\noptimizer = {name = "adam", lr = 0.01}\n')
        shown = json.loads(self.ok("sweep", "create", file, "--set", "limits.max_trials=3", "--dry-run"))
        self.assertEqual(shown["max_trials"], 3)

    def test_a_file_of_another_kind_names_its_command(self):
        done = run("submit", self.sweep_file(), home=self.service.home, check=4)
        self.assertIn("the job spec is invalid\n  /", done.stderr)
        self.assertTrue(done.stderr.endswith("The file looks like a sweep: see `slipway sweep create`\n"), done.stderr)

    def test_sweep_list(self):
        rows = self.table(self.ok("sweep", "list"), "id", "name", "algorithm", "state", "trials", "objective", "best", "created")
        self.assertIn(self.ended_sweep(), self.ok("sweep", "list"))
        self.assertTrue(all(row[0].startswith("swp_") for row in rows))

    def test_sweep_show(self):
        self.assertEqual(json.loads(self.ok("sweep", "show", self.ended_sweep()))["state"], "finished")

    def test_sweep_watch(self):
        self.assertIn("finished  2/2 trials", self.ok("sweep", "watch", self.ended_sweep()))

    def test_sweep_trials(self):
        rows = self.table(self.ok("sweep", "trials", self.ended_sweep(), "--order", "best"),
                          "trial", "state", "value", "time", "trained", "point", "job", "reason")
        self.assertEqual([row[1] for row in rows], ["completed"] * 2)
        self.assertEqual({row[5] for row in rows}, {"train.optimizer.lr=0.01", "train.optimizer.lr=0.021235"})

    def test_sweep_best(self):
        self.assertRegex(self.ok("sweep", "best", self.ended_sweep()), r"trial [01]: .*\n.*lr=0.0(1|212345678)\njob job_.*\ncheckpoint ckp_")
        spec = json.loads(self.ok("sweep", "best", self.ended_sweep(), "--spec"))
        self.assertEqual(spec["data"]["dataset"], "points")

    def test_sweep_decisions(self):
        self.assertIn("finish", self.ok("sweep", "decisions", self.ended_sweep()))

    def test_sweep_pause(self):
        self.assertIn("paused", self.ok("sweep", "pause", self.held_sweep()))

    def test_sweep_resume(self):
        self.assertIn("running", self.ok("sweep", "resume", self.held_sweep()))

    def test_sweep_stop(self):
        held = self.held_sweep()
        self.assertIn("stopping", self.ok("sweep", "stop", held))
        shown = run("sweep", "watch", held, home=self.service.home, check=3).stdout
        self.assertIn(f"  slipway sweep decisions {held}\n  slipway sweep trials {held}\n", shown)    # there is no best trial

    def test_sweep_extend(self):
        self.assertIn("at most 5 trials", self.ok("sweep", "extend", self.held_sweep(), "5"))

    def test_sweep_set(self):
        held = self.held_sweep()
        shown = self.ok("sweep", "set", held, "--max-concurrent", "3", "--label", "team=vision", "--name", "held-again")
        self.assertIn(f"{held} held-again, at most 3 trials at a time", shown)
        sweep = self.service.get(f"/v1/sweeps/{held}")
        self.assertEqual((sweep["name"], sweep["max_concurrent"], sweep["labels"]), ("held-again", 3, {"team": "vision"}))
        self.ok("sweep", "set", held, "--label", "team=")
        self.assertEqual(self.service.get(f"/v1/sweeps/{held}")["labels"], {})
        self.assertIn("nothing to change", run("sweep", "set", held, home=self.service.home, check=2).stderr)
        self.assertIn("is not KEY=VALUE", run("sweep", "set", held, "--label", "team", home=self.service.home, check=2).stderr)

    def test_sweep_promote(self):
        shown = json.loads(self.ok("sweep", "promote", self.ended_sweep(), "--set", "train.epochs=2", "--trial", "1", "--dry-run"))
        self.assertEqual((shown["spec"]["train"]["epochs"], shown["spec"]["train"]["optimizer"]["lr"]), (2, 0.0212345678))
        job_id = self.ok("sweep", "promote", self.ended_sweep(), "--set", "train.epochs=2", "--start", "scratch", "--no-pin").split()[0]
        self.assertEqual(self.service.wait_end(job_id)["state"], "succeeded")
        done = run("sweep", "promote", self.ended_sweep(), home=self.service.home, check=4)
        self.assertIn("train.epochs must be more than 1, which the checkpoint has completed", done.stderr)
        self.assertTrue(done.stderr.endswith("Train longer with `--set train.epochs=N`, or train again from the beginning with `--start scratch`\n"), done.stderr)
        done = run("sweep", "promote", self.ended_sweep(), "--set", "train.epochs=2", "--trial", "9", home=self.service.home, check=4)
        self.assertNotIn("Train longer", done.stderr)

    def test_sweep_retry(self):
        done = run("sweep", "retry", self.ended_sweep(), "0", home=self.service.home, check=4)
        self.assertIn("only a failed trial", done.stderr)
        self.assertEqual(self.ok("sweep", "retry", self.ended_sweep()), "0 trials are retried, 0 left; finished\n")
        self.assertEqual(self.ok("sweep", "retry", self.ended_sweep(), "--code", "data_error", "--dry-run"),
                         "0 trials would be retried, 0 left; finished\n")
        run("sweep", "retry", self.ended_sweep(), "0", "--dry-run", home=self.service.home, check=2)

    def test_sweep_delete(self):
        held = self.held_sweep()
        self.ok("sweep", "stop", held)
        shown = run("sweep", "watch", held, home=self.service.home, check=3).stdout
        self.assertIn(f"  slipway sweep decisions {held}\n  slipway sweep trials {held}\n", shown)    # there is no best trial
        self.assertIn("deleted", self.ok("sweep", "delete", held, "--yes"))

    def elsewhere(self, **changes):
        file = self.folder / "elsewhere.json"
        file.write_text(json.dumps({"objective": {"metric": "cost", "mode": "min"}, "space": {"x": {"type": "uniform", "min": -1, "max": 1}},
                                    "algorithm": {"name": "asha", "mode": "promote", "max_time": 3},
                                    "limits": {"max_trials": 9, "max_concurrent": 2}, **changes}))
        return self.ok("sweep", "create", file).strip()

    def test_sweep_import(self):
        file, job = self.folder / "wandb.yaml", self.folder / "import_job.json"
        file.write_text("method: grid\nprogram: train.py\nmetric: {name: val/loss}\nparameters:\n"
                        "  lr: {values: [0.01, 0.02]}\n  units: {value: 8}\n")
        spec = points_job(train={"epochs": 1, "batch_size_per_core": 64, "optimizer": {"name": "adam", "lr": 0.01}})
        spec.pop("name")
        job.write_text(json.dumps(spec))
        done = run("sweep", "import", file, "--job", job, home=self.service.home, check=2)
        self.assertIn("parameter units: nobody knows where in the job spec it belongs", done.stderr)
        done = run("sweep", "import", file, "--job", job, "--map", "units=model.width", "--print", home=self.folder / "none", check=0)
        self.assertEqual(set(json.loads(done.stdout)["space"]), {"train.optimizer.lr", "model.width"})
        self.assertIn("program is left out", done.stderr)
        done = run("sweep", "import", file, "--job", job, "--map", "units=model.width", "--watch", home=self.service.home, check=0)
        self.assertIn("finished  2/2 trials", done.stdout)
        for words in (("--map", "units"), ("--map", "units=a", "--map", "units=b"), ("--job", file)):
            run("sweep", "import", file, "--print", *words, home=self.service.home, check=2)
        done = run("sweep", "import", file, "--job", job, "--map", "units=model.heads", home=self.service.home, check=4)
        self.assertIn("model.heads", done.stderr)

    def test_sweep_suggest(self):
        sweep = self.elsewhere()
        shown = self.ok("sweep", "suggest", sweep, "--count", "3")
        lines = shown.splitlines()
        self.assertEqual(lines[0].split(), ["trial", "until", "point"])
        self.assertRegex(lines[1], r"^0 +1 +x=-?0\.\d+$")
        self.assertEqual(lines[3], "running: the maximum of 2 trials is running (max_concurrent)")
        self.assertEqual(json.loads(self.ok("sweep", "suggest", sweep, "--json"))["trials"], [])
        done = run("sweep", "suggest", self.ended_sweep(), home=self.service.home, check=4)
        self.assertIn("which the service runs", done.stderr)

    def test_sweep_observe(self):
        sweep = self.elsewhere()
        self.ok("sweep", "suggest", sweep, "--count", "2")
        self.assertEqual(self.ok("sweep", "observe", sweep, "0", "--time", "1", "--value", "0.5").splitlines()[0], "trial 0 paused")
        self.assertEqual(self.ok("sweep", "observe", sweep, "1", "--time", "1", "--value", "nan").splitlines()[0], "trial 1 stopped")
        for value in ("0,5", "1e999", "infinity"):
            done = run("sweep", "observe", sweep, "0", "--time", "2", "--value", value, home=self.service.home, check=2)
            self.assertIn(f"{value} is no value", done.stderr)
        done = run("sweep", "observe", sweep, "1", "--end", "failed", home=self.service.home, check=4)
        self.assertIn("only one that runs can be observed", done.stderr)

    def test_sweep_importance(self):
        self.assertEqual(self.ok("sweep", "importance", self.ended_sweep()), "fewer than 4 trials have a value to compare\n")
        sweep = self.elsewhere(algorithm={"name": "random"}, limits={"max_trials": 16, "max_concurrent": 16})
        for trial in json.loads(self.ok("sweep", "suggest", sweep, "--count", "16", "--json"))["trials"]:
            self.ok("sweep", "observe", sweep, trial["number"], "--time", "1", f"--value={trial['point']['x']}", "--end", "completed")
        rows = self.table(self.ok("sweep", "importance", sweep), "parameter", "explains", "with pairs")
        self.assertEqual(rows[0][0], "x")
        self.assertGreater(float(rows[0][1].split()[0]), 50)

    def test_sweep_simulate(self):
        shown = self.ok("sweep", "simulate", self.ended_sweep(), "median_stop")
        self.assertRegex(shown, r"(?m)^epochs or steps +2 +2$")
        self.assertRegex(shown, r"(?m)^saved +0\.0 %$")
        other = self.ok("sweep", "simulate", self.ended_sweep(), '{"name": "random"}', "--max-concurrent", "1")
        self.assertRegex(other, r"(?m)^trials +2$")
        self.assertIn("neither a name nor an object",
                      run("sweep", "simulate", self.ended_sweep(), "{", home=self.service.home, check=2).stderr)
        self.assertIn("algorithm.name", run("sweep", "simulate", self.ended_sweep(), "best", home=self.service.home, check=4).stderr)


if __name__ == "__main__":
    unittest.main()
