"""Goal: every command of the client prints what it says. The list of commands is the client's own (--help): one without a
test here fails. Method: one small job on a real service; what changes from run to run (ids, times, figures) is replaced
by its kind before the output is compared."""
import csv
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile
import unittest

from service import BIN, points_job, ruined_job, serve_points

SHAPES = [
    (re.compile(r"\b(job|ckp|ds|tok|prd|up|swp)_[0-9A-Za-z]+"), r"<\1>"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z?"), "<time>"),
    (re.compile(r"-?\b\d+(\.\d+)?(e-?\d+)?\b"), "<n>"),
    (re.compile(r" +"), " "),
]
# What no terminal may be sent.
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def shape(text):
    for pattern, instead in SHAPES:
        text = pattern.sub(instead, text)
    return text


def environment_of(**changes):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SLIPWAY_") and name != "NO_COLOR"}
    return {**kept, "SLIPWAY_CONFIG": "/nonexistent/slipway.json", **changes}


def run(*words, home=None, check=None, cwd=None, stdin="", **environment):
    if home:
        words = ("--home", home, *words)
    done = subprocess.run([BIN / "slipway", *map(str, words)], capture_output=True, text=True, timeout=300,
                          env=environment_of(**environment), cwd=cwd or "/", input=stdin)
    if check is not None and done.returncode != check:
        raise AssertionError(f"{words}: {done.returncode}, not {check}\n{done.stdout}{done.stderr}")
    return done


def commands(path=()):
    """The client's own table: every command that does something, as words."""
    found, inside = [], False
    for line in run(*path, "--help", check=0).stdout.splitlines():
        if line.rstrip() == "Subcommands:":
            inside = True
        elif inside and (match := re.match(r"  ([a-z][a-z-]*)\b", line)):
            found += commands((*path, match[1]))
        elif inside and not line.startswith(" "):
            inside = False
    return found or [path]


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        serve_points(cls)
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.spec = cls.folder / "job.json"
        cls.spec.write_text(json.dumps(points_job()))
        cls.job = cls.service.submit(points_job())
        cls.service.wait_end(cls.job)
        cls.checkpoint = cls.service.get(f"/v1/jobs/{cls.job}/checkpoints")["items"][0]["id"]

    def ok(self, *words, code=0):
        done = run(*words, home=self.service.home, check=code, cwd=self.folder)
        self.assertEqual(OBEYED.findall(done.stdout + done.stderr), [])
        self.assertEqual(done.stderr, "")
        return done.stdout

    def table(self, text, *head):
        """The rows of a table under this head; there is at least one."""
        lines = text.splitlines()
        self.assertEqual(re.split(r"  +", lines[0].strip()), list(head))
        self.assertGreater(len(lines), 1, text)
        return [re.split(r"  +", line.strip()) for line in lines[1:]]

    # ---- each command; its name is that of the method -----------------------
    def test_submit(self):
        self.assertEqual(shape(self.ok("submit", self.spec)), "<job>\n")
        self.assertIn('"name": "points"', self.ok("submit", self.spec, "--dry-run"))
        followed = self.ok("submit", self.spec, "--follow")
        self.assertIn("succeeded, validation accuracy", followed)

    def test_jobs(self):
        rows = self.table(self.ok("jobs", "--state", "succeeded", "--limit", "100"), "id", "name", "kind", "state", "step", "best", "created")
        by_loss = self.table(self.ok("jobs", "--best", "val_loss", "--limit", "100"), "id", "name", "kind", "state", "step", "val_loss", "created")
        self.assertIn(rows[0][0], [row[0] for row in by_loss])
        self.assertIn(self.job, [row[0] for row in rows])
        self.assertEqual({row[3] for row in rows}, {"succeeded"})

    def test_delete(self):
        jobs = [self.service.submit(points_job(name=f"gone {n}", train={"epochs": 1})) for n in range(2)]
        for job in jobs:
            self.service.wait_end(job)
        self.assertEqual(self.ok("delete", *jobs), "".join(f"{job} deleted\n" for job in jobs))
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

    # ---- contexts -----------------------------------------------------------
    def contexts(self):
        """Settings of an empty file of contexts, and of nothing else."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        return {"SLIPWAY_CONFIG": str(folder / "new" / "config.json"), "HOME": str(folder)}

    def test_login(self):
        url, settings = f"http://127.0.0.1:{self.service.port}", self.contexts()
        done = run("login", "--url", url, "--name", "work", stdin=self.service.token + "\n", check=0, **settings)
        self.assertRegex(done.stdout, rf"^logged in to {url} as .* \(admin\); context work\n$")
        file = pathlib.Path(settings["SLIPWAY_CONFIG"])
        self.assertEqual((file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777), (0o600, 0o700))
        self.assertEqual(json.loads(file.read_text())["contexts"]["work"], {"url": url, "token": self.service.token})
        self.assertIn(self.job, run("job", self.job, check=0, **settings).stdout)
        for token, code, said in (("slp_wrong", 4, "unknown, expired or revoked"), ("", 2, "no token was given"), ("a b", 2, "one word")):
            done = run("login", "--url", url, "--name", "bad", stdin=token, check=code, **settings)
            self.assertIn(said, done.stderr)
            self.assertNotIn("bad", file.read_text())
        # The token of a context is for its service alone.
        self.assertIn("there is no token", run("jobs", "--url", "http://127.0.0.1:1", "--home", "/nonexistent", check=2, **settings).stderr)
        self.assertIn("not both", run("jobs", "--url", url, "--context", "work", check=2, **settings).stderr)
        file.write_text("[]")
        self.assertIn("is not a file of contexts", run("jobs", check=2, **settings).stderr)

    def test_context_list(self):
        settings = self.contexts()
        self.assertEqual(run("context", "list", check=0, **settings).stdout, "current  name  url\n")
        run("login", "--url", f"http://127.0.0.1:{self.service.port}", stdin=self.service.token, check=0, **settings)
        name = f"127.0.0.1:{self.service.port}"
        self.assertEqual(self.table(run("context", "list", check=0, **settings).stdout, "current", "name", "url"), [["*", name, f"http://{name}"]])
        shown = run("context", "list", "-o", "json", check=0, **settings).stdout
        self.assertEqual(json.loads(shown), [{"current": True, "name": name, "url": f"http://{name}"}])

    def test_context_use(self):
        settings = self.contexts()
        for name in ("one", "two"):
            run("login", "--url", f"http://127.0.0.1:{self.service.port}", "--name", name, stdin=self.service.token, check=0, **settings)
        run("context", "use", "one", check=0, **settings)
        self.assertEqual([row["name"] for row in json.loads(run("context", "list", "-o", "json", **settings).stdout) if row["current"]], ["one"])
        self.assertIn("there are: one, two", run("context", "use", "three", check=2, **settings).stderr)
        self.assertIn("there are: one, two", run("jobs", "--context", "three", check=2, **settings).stderr)
        run("jobs", check=0, SLIPWAY_CONTEXT="two", **settings)

    def test_logout(self):
        settings = self.contexts()
        self.assertIn("no current context", run("logout", check=2, **settings).stderr)
        run("login", "--url", f"http://127.0.0.1:{self.service.port}", "--name", "work", stdin=self.service.token, check=0, **settings)
        self.assertIn("work removed", run("logout", check=0, **settings).stdout)
        self.assertNotIn(self.service.token, pathlib.Path(settings["SLIPWAY_CONFIG"]).read_text())

    def test_completion(self):
        for shell in ("bash", "zsh", "fish"):
            text = self.ok("completion", shell)
            for path in commands():
                self.assertIn("slipway " + " ".join(path), text) if shell != "fish" else self.assertIn(f"-a {path[-1]} ", text)
        script = self.ok("completion", "bash") + """
complete_at() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _slipway; echo "${COMPREPLY[*]}"; }
complete_at slipway job; complete_at slipway sweep tr; complete_at slipway jobs --st; complete_at slipway cancel job_
"""
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
        self.assertEqual((done.stdout.splitlines(), done.stderr), (["jobs job", "trials", "--state", ""], ""))
        self.assertIn("bash", run("completion", "csh", check=2).stderr)

    def test_job(self):
        self.assertIn(f'"id": "{self.job}"', self.ok("job", self.job))

    def test_follow(self):
        self.assertRegex(self.ok("follow", self.job), rf"points \({self.job}\) succeeded, validation accuracy 0\.\d{{4}}")

    def test_watch(self):
        self.assertEqual(self.ok("watch", self.job), self.ok("follow", self.job))

    def end_early(self, verb):
        spec = points_job(train={"epochs": 100000, "batch_size_per_core": 16, "optimizer": {"name": "sgd", "lr": 1e-6}})
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
            train={"epochs": 100000, "batch_size_per_core": 16, "optimizer": {"name": "sgd", "lr": 1e-6}},
            checkpoint={"every_epochs": 100000}))
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
        self.assertIn("the job is succeeded; it cannot become paused", refused.stdout)
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
        self.assertRegex(text, r"^\d+ of \d+ cores busy, \d+ jobs queued\n\n")
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

    def test_man(self):
        folder = self.folder / "man"
        self.ok("man", "--out", folder)
        pages = {page.name for page in (folder / "man1").iterdir()}
        self.assertLessEqual({f"slipway-{'-'.join(path)}.1" for path in commands()} | {"slipway.1", "slipway-sweep.1"}, pages)
        self.assertEqual(self.ok("man", "sweep", "create"), (folder / "man1/slipway-sweep-create.1").read_text())
        self.assertIn("did you mean `slipway sweep create`?", run("man", "sweep", "crate", check=2).stderr)
        self.assertIn("cannot be written", run("man", "--out", "/proc/none", check=2).stderr)

    @unittest.skipUnless(shutil.which("groff"), "groff formats manual pages")
    def test_manual_pages_are_formatted_without_a_warning(self):
        folder = self.folder / "formatted"
        self.ok("man", "--out", folder)
        for page in sorted((folder / "man1").iterdir()):
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-P-cbou", page], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), page.name)
            for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS"):
                self.assertIn(heading, done.stdout, page.name)
        help_text = run("logs", "--help", check=0).stdout
        shown = subprocess.run(["groff", "-man", "-Tascii", "-P-cbou", folder / "man1/slipway-logs.1"], capture_output=True, text=True).stdout
        for option in re.findall(r"--[a-z-]+", help_text.split("Examples:")[0]):
            self.assertIn(option, shown)

    def test_metrics(self):
        rows = self.table(self.ok("metrics", self.job), "metric", "step", "epoch", "value", "min", "max")
        steps = self.service.metric(self.job, "train_loss")
        self.assertIn("val_loss", {row[0] for row in rows})
        shown = {int(row[1]) for row in rows if row[0] == "train_loss"}
        self.assertTrue(shown and shown <= set(steps), (shown, list(steps)))
        only = self.table(self.ok("metrics", self.job, "--names", "val_loss"), "metric", "step", "epoch", "value", "min", "max")
        self.assertEqual({row[0] for row in only}, {"val_loss"})
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
        self.assertEqual(self.ok("dataset", "delete", "made"), "made deleted\n")

    def test_data_push(self):    # test_data_push.py has what happens to connections and to the command
        (self.folder / "pushed").mkdir()
        (self.folder / "pushed" / "pushed.csv").write_text("a,label\n1,yes\n2,no\n")
        said = run("data", "push", "pushed", home=self.service.home, cwd=self.folder, check=0, XDG_CACHE_HOME=str(self.folder / "cache")).stdout
        self.assertEqual(shape(said), "<n> file, <n> bytes, format csv\npushed (<ds>) ready\n")
        self.assertEqual(self.ok("dataset", "delete", "pushed"), "pushed deleted\n")

    def test_dataset_show(self):
        self.assertIn('"name": "points"', self.ok("dataset", "show", "points"))

    def test_dataset_delete(self):
        self.ok("dataset", "create", "gone", "--format", "csv", "--path", "points", "--option", "group_column=family")
        self.assertEqual(self.ok("dataset", "delete", "gone"), "gone deleted\n")

    def test_projects(self):
        rows = self.table(self.ok("projects"), "name", "weight", "quota", "class max", "used core-s", "cores held", "queued")
        self.assertIn("default", [row[0] for row in rows])
        self.assertGreater(float(next(row for row in rows if row[0] == "default")[4]), 0)

    def test_project_set(self):
        self.assertEqual(self.ok("project", "set", "vision", "--weight", "2", "--cores-max", "4"), "vision: weight 2, quota 4, most urgent class –\n")
        self.assertEqual(self.ok("project", "set", "vision", "--no-cores-max"), "vision: weight 2, quota –, most urgent class –\n")
        self.assertEqual(self.ok("project", "set", "vision", "--class-max", "normal"), "vision: weight 2, quota –, most urgent class normal\n")
        self.assertEqual(self.ok("project", "set", "vision", "--cores-max", "2"), "vision: weight 2, quota 2, most urgent class normal\n")
        self.ok("project", "set", "vision", "--no-class-max", "--no-cores-max")
        self.assertIn("nothing to set", run("project", "set", "vision", home=self.service.home, check=2).stderr)
        self.assertIn("weight must be", run("project", "set", "vision", "--weight", "0", home=self.service.home, check=4).stderr)

    def test_member_set(self):
        self.ok("project", "set", "crew", "--weight", "1")
        self.assertEqual(self.ok("member", "set", "ann@example.org", "--role", "editor", "--project", "crew"), "ann@example.org: editor of crew\n")
        self.assertEqual(self.ok("member", "set", "ann@example.org", "--role", "viewer", "--project", "crew"), "ann@example.org: viewer of crew\n")
        refused = run("member", "set", "ann", "--role", "owner", "--project", "crew", home=self.service.home, check=4).stderr
        self.assertIn("role must be viewer, editor or admin", refused)
        refused = run("member", "set", "Ann", "--role", "viewer", "--project", "crew", home=self.service.home, check=4).stderr
        self.assertIn("the name of a member must be", refused)
        token = self.ok("token", "create", "of ann", "--role", "admin", "--member", "ann@example.org", "--project", "crew").strip()
        me = self.service.call("GET", "/v1/me", token=token).json
        self.assertEqual((me["member"], me["roles"]), ("ann@example.org", [{"project": "crew", "role": "viewer"}]))
        self.assertEqual(self.service.call("GET", "/v1/projects/default", token=token).status, 404)

    def test_members(self):
        self.ok("project", "set", "band", "--weight", "1")
        self.ok("member", "set", "bob", "--role", "admin", "--project", "band")
        rows = self.table(self.ok("members", "--project", "band"), "member", "role", "by", "since")
        self.assertEqual([row[:2] for row in rows], [["bob", "admin"]])
        self.assertIn("there is no project", run("members", "--project", "nothing", home=self.service.home, check=4).stderr)

    def test_member_remove(self):
        self.ok("project", "set", "duo", "--weight", "1")
        self.ok("member", "set", "eve", "--role", "editor", "--project", "duo")
        self.assertEqual(self.ok("member", "remove", "eve", "--project", "duo"), "eve is no longer a member of duo\n")
        self.assertIn("there is no member `eve`", run("member", "remove", "eve", "--project", "duo", home=self.service.home, check=4).stderr)

    def test_queue_stats(self):
        text = self.ok("queue", "stats")
        self.assertRegex(text, r"^\d+ jobs queued, \d+ of them ready; \d+ of 8 cores held, \d+ free\n")
        self.assertIn("last s  submitted  started  ended", text)
        self.assertRegex(self.ok("queue", "stats", "--project", "empty"), r"^0 jobs queued, 0 of them ready; ")

    def test_queue_decisions(self):
        rows = self.table(self.ok("queue", "decisions", "--job", self.job), "at", "job", "decision", "code", "reason")
        self.assertEqual(rows[-1][2:4], ["start", "free_cores"])

    def test_queue_simulate(self):
        text = self.ok("queue", "simulate", "--file", self.spec)
        self.assertRegex(text, r"^the job would start at \S+, in \S+ s, on \S+ \(estimated from: \w+\)\n")
        self.assertRegex(self.ok("queue", "simulate", "--more-hosts", "2"), r"^0 of \d+ queued jobs would start later, \d+ sooner\n$")
        self.assertIn("nothing would change", run("queue", "simulate", home=self.service.home, check=4).stderr)

    def test_group_set(self):
        self.assertEqual(self.ok("group", "set", "lr-search", "--limit", "3"), "lr-search: at most 3 jobs at a time\n")
        self.assertIn("limit must be", run("group", "set", "lr-search", "--limit", "0", home=self.service.home, check=4).stderr)

    def test_groups(self):
        self.ok("group", "set", "lr-search", "--limit", "3")
        rows = self.table(self.ok("groups"), "group", "limit", "running", "ready")
        self.assertIn(["lr-search", "3", "0", "0"], rows)

    def test_hosts(self):
        rows = self.table(self.ok("hosts"), "host", "pool", "cores", "silent s", "state", "reason", "by", "since")
        self.assertIn("takes jobs", " ".join(rows[0]))

    def test_retention(self):
        heads = ("kind", "days kept", "jobs due", "checkpoints due", "bytes due")
        rows = self.table(self.ok("retention", "--jobs-days", "30"), *heads)
        self.assertEqual([row[0] for row in rows], ["events", "logs", "metrics", "checkpoints", "jobs"])
        self.assertEqual(rows[0][1], "forever")
        self.assertEqual(rows[4][1:3], ["30", "0"])

    def test_host_drain(self):
        host = self.service.get("/v1/hosts")["items"][0]["name"]
        self.assertEqual(self.ok("host", "drain", host, "--reason", "new disk"), f"host {host} takes no new jobs\n")
        self.assertIn("new disk", self.ok("hosts"))
        self.ok("host", "undrain", host)
        self.assertIn("there is no host", run("host", "drain", "moon", home=self.service.home, check=4).stderr)

    def test_host_undrain(self):
        host = self.service.get("/v1/hosts")["items"][0]["name"]
        self.ok("host", "drain", host)
        self.assertEqual(self.ok("host", "undrain", host), f"host {host} takes jobs\n")
        self.assertNotIn("drained", self.ok("hosts"))

    def test_slices(self):
        """None runs on one host of eight cores; test_slices.py has one that does."""
        self.assertEqual(json.loads(self.ok("slices", "-o", "json")), [])
        self.assertEqual(self.ok("slices").split(), ["job", "name", "job", "state", "cores", "rank", "host", "process"])

    def test_cores(self):
        rows = self.table(self.ok("cores"), "core", "host", "state", "job", "reason")
        self.assertEqual([row[0] for row in rows], [str(core) for core in range(1, 9)])

    def test_drain(self):
        self.assertEqual(self.ok("drain", "7"), "core 7 takes no new jobs\n")
        self.assertEqual(self.ok("undrain", "7"), "core 7 takes jobs\n")

    def test_undrain(self):
        self.assertEqual(self.ok("undrain", "6"), "core 6 takes jobs\n")

    def test_token_create(self):
        self.assertRegex(self.ok("token", "create", "mine", "--role", "viewer"), r"^slp_\S+\n$")

    def test_token_list(self):
        rows = self.table(self.ok("token", "list"), "id", "name", "role", "last used", "revoked")
        self.assertIn("admin", {row[2] for row in rows})

    def test_token_revoke(self):
        self.ok("token", "create", "short-lived")
        made = next(one["id"] for one in self.service.get("/v1/tokens")["items"] if one["name"] == "short-lived")
        self.assertEqual(self.ok("token", "revoke", made), f"{made} revoked\n")

    # Nobody listens there, and only the operator may allow it: enough to see what the commands say.
    def webhook(self):
        lines = self.ok("webhook", "create", "https://hooks.example.invalid/slipway", "--event", "job.ended").splitlines()
        self.assertTrue(lines[1].startswith("whsec_"), lines)
        self.addCleanup(run, "webhook", "delete", lines[0], home=self.service.home)
        return lines[0]

    def test_host_join_token(self):
        self.assertRegex(self.ok("host", "join-token", "--host", "other", "--uses", "2", "--expires-s", "60"), "^slj_[0-9A-Za-z]{43}\n$")

    def test_host_remove(self):
        name = self.service.get("/v1/hosts")["items"][0]["name"]
        self.assertIn("drain it first", run("host", "remove", name, home=self.service.home, check=4).stderr)
        self.service.sql("insert into host (name, cores, physical_cpus, memory_bytes, heartbeat_at) "
                         "values ('lost', 8, 2, 1, now() - interval '1 hour')")
        self.assertEqual(self.ok("host", "remove", "lost"), "host lost removed\n")

    def test_webhooks(self):
        hook = self.webhook()
        rows = self.table(self.ok("webhooks"), "id", "project", "url", "events", "state", "description")
        self.assertIn([hook, "default", "https://hooks.example.invalid/slipway", "job.ended", "on"], [row[:5] for row in rows])

    def test_webhook_create(self):
        done = run("webhook", "create", "http://127.0.0.1/", home=self.service.home, check=4)
        self.assertIn("--webhook-allow", done.stderr)

    def test_webhook_set(self):
        hook = self.webhook()
        self.assertEqual(self.ok("webhook", "set", hook, "--event", "job.started", "--event", "job.ended", "--description",
                                 "chat of the team", "--disable"), f"{hook} off\n")
        made = self.service.get(f"/v1/webhooks/{hook}")
        self.assertEqual((made["events"], made["description"], made["enabled"]),
                         (["job.started", "job.ended"], "chat of the team", False))
        said = self.ok("webhook", "set", hook, "--enable", "--rotate-secret").splitlines()
        self.assertEqual(said[0], f"{hook} on")
        self.assertTrue(said[1].startswith("whsec_"), said)
        self.assertIn("nothing to change", run("webhook", "set", hook, home=self.service.home, check=2).stderr)
        self.assertIn("--webhook-allow", run("webhook", "set", hook, "--url", "http://127.0.0.1/", home=self.service.home,
                                             check=4).stderr)

    def test_webhook_test(self):
        done = run("webhook", "test", self.webhook(), home=self.service.home, check=4)
        self.assertIn("not delivered", done.stderr)

    def test_webhook_deliveries(self):
        hook = self.webhook()
        self.service.post(f"/v1/webhooks/{hook}/test", {})
        rows = self.table(self.ok("webhook", "deliveries", hook), "id", "type", "state", "attempts", "status", "error", "created")
        self.assertEqual(rows[0][1], "webhook.test")

    def test_webhook_redeliver(self):
        hook = self.webhook()
        first = self.service.post(f"/v1/webhooks/{hook}/test", {})["id"]
        self.assertRegex(self.ok("webhook", "redeliver", hook, first), "^dlv_")

    def test_webhook_delete(self):
        hook = self.webhook()
        self.assertEqual(self.ok("webhook", "delete", hook), f"{hook} deleted\n")

    # One that has succeeded serves them all; it is made by the first.
    def crossed(self):
        if not hasattr(Commands, "cross_validation"):
            fold = {key: value for key, value in points_job(train={"epochs": 1}).items() if key != "name"}
            request = self.folder / "cv.json"
            request.write_text(json.dumps({"name": "crossed", "split": {"method": "group_kfold", "folds": 3, "group_by": "family"},
                                           "job": {**fold, "data": {"dataset": "points"}}}))
            Commands.cross_validation = self.ok("cv", "create", request).strip()
            self.ok("cv", "watch", self.cross_validation)
        return self.cross_validation

    def test_cv_create(self):
        self.assertRegex(self.crossed(), r"^cv_[0-9a-z]{26}$")
        self.assertIn('"folds": 3', self.ok("cv", "create", self.folder / "cv.json", "--dry-run"))
        watched = self.ok("cv", "create", self.folder / "cv.json", "--watch").splitlines()
        self.assertTrue(watched[-1].startswith("succeeded  3/3 folds"), watched)

    def test_cv_watch(self):
        self.assertRegex(self.ok("cv", "watch", self.crossed()), r"^succeeded  3/3 folds  val_accuracy \S+ ± \S+  val_loss \S+ ± \S+\n$")

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
        request["job"]["train"]["epochs"] = 100000
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
        self.assertIn("cancel it", run("cv", "delete", one, home=self.service.home, check=4).stderr)
        self.ok("cv", "cancel", one)
        run("cv", "watch", one, home=self.service.home, check=3)
        self.assertEqual(self.ok("cv", "delete", one), f"{one} deleted\n")

    def test_version(self):
        self.assertIn('"version"', self.ok("version"))

    # ---- all of them --------------------------------------------------------
    # ---- sweeps ---------------------------------------------------------------
    def sweep_file(self, **changes):
        job = points_job(train={"epochs": 1, "batch_size_per_core": 64, "optimizer": {"name": "adam", "lr": 0.01}})
        job.pop("name")
        body = {"name": "rates", "space": {"train.optimizer.lr": {"type": "choice", "values": [0.01, 0.02]}},
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
        lines = self.ok("sweep", "create", self.sweep_file(), "--watch").splitlines()
        self.assertRegex(lines[0], "^swp_")
        self.assertRegex(lines[-2], r"^finished  2/2 trials  best val_loss .* \(trial [01]\)$")
        run("sweep", "create", self.folder / "none.json", home=self.service.home, check=2)
        done = run("sweep", "create", self.sweep_file(space={}), home=self.service.home, check=4)
        self.assertIn("/space", done.stderr)

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
                          "trial", "state", "value", "time", "point", "job", "reason")
        self.assertEqual([row[1] for row in rows], ["completed"] * 2)

    def test_sweep_best(self):
        self.assertRegex(self.ok("sweep", "best", self.ended_sweep()), r"trial [01]: .*\n.*lr=0.0[12]\njob job_.*\ncheckpoint ckp_")
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
        run("sweep", "watch", held, home=self.service.home, check=3)

    def test_sweep_extend(self):
        self.assertIn("at most 5 trials", self.ok("sweep", "extend", self.held_sweep(), "5"))

    def test_sweep_promote(self):
        shown = json.loads(self.ok("sweep", "promote", self.ended_sweep(), "--set", "train.epochs=2", "--trial", "1", "--dry-run"))
        self.assertEqual((shown["spec"]["train"]["epochs"], shown["spec"]["train"]["optimizer"]["lr"]), (2, 0.02))
        job_id = self.ok("sweep", "promote", self.ended_sweep(), "--set", "train.epochs=2", "--start", "scratch", "--no-pin").split()[0]
        self.assertEqual(self.service.wait_end(job_id)["state"], "succeeded")
        run("sweep", "promote", self.ended_sweep(), home=self.service.home, check=4)

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
        run("sweep", "watch", held, home=self.service.home, check=3)
        self.assertIn("deleted", self.ok("sweep", "delete", held))

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
        self.assertEqual(lines[3], "running: 2 trials are running, the maximum (max_concurrent)")
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
        rows = self.table(self.ok("sweep", "importance", sweep), "parameter", "explains", "groups")
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

    def test_every_command_has_a_test_and_a_help_text(self):
        found = commands()
        self.assertGreater(len(found), 25)
        for path in found:
            self.assertTrue(hasattr(self, "test_" + "_".join(path).replace("-", "_")), f"no test of `slipway {' '.join(path)}`")
            text = run(*path, "--help", check=0).stdout
            self.assertIn("Usage: slipway " + " ".join(path), text)
            self.assertIn("Examples:\n  slipway " + " ".join(path), text)
            self.assertEqual(OBEYED.findall(text), [])

    # ---- errors -------------------------------------------------------------
    def test_an_unknown_command_is_named_with_the_nearest(self):
        done = run("jobz", check=2)
        self.assertEqual(done.stderr, "slipway: there is no command `slipway jobz`; did you mean `slipway jobs`?\n")
        done = run("dataset", "creat", "x", check=2)
        self.assertIn("did you mean `slipway dataset create`?", done.stderr)
        self.assertIn("it has submit, jobs", run("zzzzzzzz", check=2).stderr)

    def test_an_error_is_printed_once(self):
        bad = self.folder / "bad.json"
        bad.write_text(json.dumps(points_job(accelerator={"cores": 3})))
        done = run("submit", bad, home=self.service.home, check=4)
        self.assertEqual(done.stdout, "")
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), len(set(lines)))
        message = next(line for line in lines if "/accelerator/cores" in line).split("/accelerator/cores: ")[1]
        self.assertEqual(done.stderr.count(message.split(" (allowed")[0]), 1, done.stderr)

    def test_what_failed_leaves_no_part(self):
        for words in (("export", "ckp_none", "--out", "none"), ("result", self.job, "--out", "none"),
                      ("download", self.checkpoint, "none", "--out", "none")):
            done = run(*words, home=self.service.home, check=4, cwd=self.folder)
            self.assertTrue(done.stderr.startswith("slipway: "), done.stderr)
            self.assertFalse(list(self.folder.glob("none*")), words)

    def test_what_a_terminal_would_obey_is_shown(self):
        for end in ("\u001b[31m", "\u009b2J"):    # refused, and the refusal repeats it
            self.spec.with_name("named.json").write_text(json.dumps(points_job(name="\u202ea" + end)))
            done = run("submit", self.spec.with_name("named.json"), "--dry-run", home=self.service.home)
            self.assertEqual(OBEYED.findall(done.stdout + done.stderr), [])
            self.assertIn(r"\u202ea", done.stdout + done.stderr)
        name = "a\u202egpj"
        job = self.service.submit(points_job(name=name))
        self.service.wait_end(job)
        for words in (("jobs", "--limit", 1000), ("job", job), ("follow", job), ("logs", job), ("explain", job), ("report", job)):
            self.ok(*words)
        self.assertIn(r"a\u202egpj", self.ok("jobs", "--limit", 1000))


if __name__ == "__main__":
    unittest.main()
