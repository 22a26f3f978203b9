"""Goal: what all commands of the client share: forms of output, terminals and pipes, jobs by name, changes of a document.
Method: client_commands.py; a terminal is a pseudo-terminal."""
import csv
import io
import json
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import tempfile
import threading
import time
import unittest

from client_commands import OBEYED, commands, environment_of, run, shape
from service import BIN, FINAL_STATES, points_job, serve_points, wait_for

CHANGES = re.compile(r"[\d.]+|  +|–")    # from one call to the next: figures and the width of their columns
COLOUR = re.compile(r"\x1b\[[0-9]*m")


def same(text):
    return CHANGES.sub(" ", text)


IDS = re.compile(r"\b(slp|slj|whsec)_\S+|\b[a-z]{2,3}_[0-9a-z]{20,}")
# Commands with a test of their own on a terminal; lists have one together.
SHOWN_ELSEWHERE = {("top",), ("watch",), ("dataset", "create")}
HELD = {"start_after": "2090-01-01T00:00:00Z"}    # a job that waits


def kind_of(text):
    """Without what differs between two objects: ids, secrets, times and figures."""
    return shape(IDS.sub("<id>", text))


def run_on_terminal(*words, home=None, limit_s=120, until=None, answer=None, **environment):
    """What the command writes to a terminal of 80 columns, and how it ends; `until`: a text after which it is interrupted; `answer`: to
    its question."""
    program, arguments = str(BIN / "slipway"), ["slipway", *(("--home", str(home)) if home else ()), *map(str, words)]
    settings = environment_of(**{"TERM": "xterm", **environment})
    pid, terminal = pty.fork()
    if pid == 0:    # nothing of the test may run here
        try:
            os.execve(program, arguments, settings)
        finally:
            os._exit(127)
    written, end = b"", time.monotonic() + limit_s
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            piece = os.read(terminal, 1 << 16)
        except OSError:    # the command has ended
            break
        if not piece:
            break
        written += piece
        if answer and b"? [y/N] " in written:
            os.write(terminal, f"{answer}\n".encode())
            answer = None
        if until and until.encode() in written:
            os.kill(pid, signal.SIGINT)
            until = None
    os.close(terminal)
    return written.decode().replace("\r\n", "\n"), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


class CommandLine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        serve_points(cls)
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.job = cls.service.submit(points_job(name="named job", labels={"team": "red, blue"}))
        cls.service.wait_end(cls.job)
        cls.other = cls.service.submit(points_job(name="another", train={"optimizer": {"name": "sgd", "lr": 0.1}}))
        cls.service.wait_end(cls.other)
        cls.sweep = cls.service.post("/v1/sweeps", {
            "name": "asked", "objective": {"metric": "cost", "mode": "min"}, "space": {"x": {"type": "uniform", "min": -1, "max": 1}},
            "algorithm": {"name": "random"}, "limits": {"max_trials": 4, "max_concurrent": 2}})["id"]
        cls.service.post(f"/v1/sweeps/{cls.sweep}/suggest", {"count": 2})
        cls.split_cv = cls.service.post("/v1/cross-validations", {
            "name": "folds", "split": {"method": "kfold", "folds": 2}, "job": {
                key: points_job()[key] for key in ("model", "task", "train", "accelerator")} | {"data": {"dataset": "points"}}})["id"]
        cls.webhook = cls.service.post("/v1/webhooks", {"url": "https://hooks.example.invalid/slipway", "project": "default"})["id"]

    def settle(self):
        """Until nothing runs, so that one call shows what the next one does: held jobs alone may wait."""
        wait_for(lambda: self.service.get(f"/v1/cross-validations/{self.split_cv}")["finished_at"], "the folds")
        wait_for(lambda: not self.service.sql("select 1 from job where state not in ('paused', " + ", ".join(f"'{one}'" for one in FINAL_STATES)
                                              + ") and spec #> '{limits,start_after}' is null"), "all jobs to end")

    def lists(self):
        """Every command with --output, with what it needs."""
        needs = {"metrics": [self.job], "compare": [self.job, self.other], "checkpoints": [self.job], "cv folds": [self.split_cv], "sweep trials": [self.sweep],
                 "sweep decisions": [self.sweep], "webhook deliveries": [self.webhook]}
        found = [path for path in commands() if "--output" in run(*path, "--help", check=0).stdout]
        self.assertGreater(len(found), 12)
        return [(*path, *needs.get(" ".join(path), [])) for path in found]

    # ---- forms --------------------------------------------------------------
    def test_every_list_has_every_form_and_they_agree(self):
        self.settle()
        for words in self.lists():
            with self.subTest(words=words):
                home = self.service.home
                shown = {form: run(*words, "-o", form, home=home, check=0).stdout for form in ("table", "wide", "json", "jsonl", "csv")}
                self.assertEqual(same(shown["table"]), same(run(*words, home=home, check=0).stdout))
                items = json.loads(shown["json"])
                lines = [json.loads(line) for line in shown["jsonl"].splitlines()]
                self.assertEqual([sorted(one) for one in items], [sorted(one) for one in lines])
                rows = list(csv.reader(io.StringIO(shown["csv"])))
                self.assertEqual({len(row) for row in rows}, {len(rows[0])})
                self.assertEqual(len(rows), len(shown["table"].splitlines()))
                self.assertEqual(re.split(r"  +", shown["wide"].splitlines()[0].strip()), rows[0])
                if words[0] not in ("metrics", "checkpoints"):    # of which an item has several rows
                    self.assertEqual(len(rows), len(items) + 1)

    def test_a_form_that_is_none_is_rejected_with_those_there_are(self):
        done = run("jobs", "-o", "yaml", home=self.service.home, check=2)
        self.assertEqual((done.stdout, "jsonl" in done.stderr), ("", True))

    def test_wide_has_labels_and_csv_quotes_them(self):
        self.assertIn("team=red, blue", run("jobs", "--limit", "500", "-o", "wide", home=self.service.home, check=0).stdout)
        self.assertNotIn("team=red", run("jobs", home=self.service.home, check=0).stdout)
        (row,) = [row for row in csv.DictReader(io.StringIO(run("jobs", "--limit", "500", "-o", "csv", home=self.service.home).stdout)) if row["id"] == self.job]
        self.assertEqual((row["labels"], row["cores"], row["project"]), ("team=red, blue", "1", "default"))

    # ---- terminals ----------------------------------------------------------
    def test_on_a_terminal_every_list_is_the_same_with_colours(self):
        self.settle()
        for words in self.lists():
            with self.subTest(words=words):
                plain = run(*words, home=self.service.home, check=0)
                shown, code = run_on_terminal(*words, home=self.service.home)
                self.assertEqual(code, 0)
                without = COLOUR.sub("", shown)
                self.assertEqual(OBEYED.findall(without), [])
                self.assertEqual(same(without), same(plain.stdout + plain.stderr))

    def test_colours_only_on_a_terminal_that_wants_them(self):
        shown, _ = run_on_terminal("jobs", home=self.service.home)
        self.assertIn("\x1b[32msucceeded\x1b[0m", shown)
        for wish in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertEqual(COLOUR.findall(run_on_terminal("jobs", home=self.service.home, **wish)[0]), [], wish)
        self.assertEqual(COLOUR.findall(run_on_terminal("jobs", "-o", "json", home=self.service.home)[0]), [])
        self.assertEqual(COLOUR.findall(run("jobs", home=self.service.home).stdout), [])

    def test_other_commands_say_the_same_on_a_terminal(self):
        for words, code in ((("job", self.job), 0), (("explain", self.job), 0), (("logs", self.job), 0), (("report", self.job), 0),
                            (("version",), 0), (("jobz",), 2), (("job", "nobody"), 4), (("sweep", "show", self.sweep), 0),
                            (("completion", "fish"), 0), (("--version",), 0), (("jobs", "--help"), 0)):
            with self.subTest(words=words):
                plain = run(*words, home=self.service.home, check=code)
                self.assertEqual(run_on_terminal(*words, home=self.service.home), (plain.stdout + plain.stderr, code))

    def held(self, ended=False):
        job = self.service.submit(points_job(limits=HELD))
        if ended:
            self.service.post(f"/v1/jobs/{job}/cancel", {})
        return job

    def paused(self):
        job = self.held()
        self.service.post(f"/v1/jobs/{job}/pause", {})
        return job

    def asked_sweep(self, *actions):
        sweep = self.service.post("/v1/sweeps", json.loads(self.file("asked.json").read_text()))["id"]
        for action in actions:
            self.service.post(f"/v1/sweeps/{sweep}/{action}", {})
        if "stop" in actions:
            wait_for(lambda: self.service.get(f"/v1/sweeps/{sweep}")["finished_at"], "the sweep to end")
        return sweep

    def file(self, name):
        """A file of those that commands read; made at its first use."""
        file = self.folder / name
        folded = {"name": "held", "split": {"method": "kfold", "folds": 2}, "job": {
            key: points_job()[key] for key in ("model", "task", "train", "accelerator")} | {"data": {"dataset": "points"}, "limits": HELD}}
        sweep = {"objective": {"metric": "cost", "mode": "min"}, "space": {"x": {"type": "uniform", "min": -1, "max": 1}},
                 "algorithm": {"name": "random"}, "limits": {"max_trials": 4, "max_concurrent": 2}}
        content = {"held.json": points_job(limits=HELD), "cv.json": folded, "asked.json": sweep, "token": self.service.token,
                   "wandb.yaml": "method: random\nrun_cap: 3\nmetric: {name: cost, goal: minimize}\nparameters: {x: {min: 0.0, max: 1.0}}\n"}
        if not file.exists():
            file.write_text(content[name] if isinstance(content[name], str) else json.dumps(content[name]))
        return file

    def while_jobs_are_deleted(self, act):
        ended = threading.Event()

        def delete():
            while not ended.wait(0.2):
                self.service.call("DELETE", f"/v1/jobs/{self.held(ended=True)}")
        thread = threading.Thread(target=delete)
        thread.start()
        try:
            return act()
        finally:
            ended.set()
            thread.join()

    def words_of_commands(self):
        """Command -> function that gives its other words: it is called for a pipe and then for a terminal, so what can be done
        to an object only once gets an object of its own. In an order in which each finds what it needs."""
        home, job, split_cv, sweep = self.service.home, self.job, self.split_cv, self.sweep
        checkpoint = self.service.get(f"/v1/jobs/{job}/checkpoints")["items"][0]["id"]
        host = self.service.get("/v1/hosts")["items"][0]["name"]
        made, numbers = [], iter(range(100))
        url = f"http://127.0.0.1:{self.service.port}"

        def new_webhook():
            return self.service.post("/v1/webhooks", {"url": "https://hooks.example.invalid/x", "project": "default"})["id"]

        def prediction():
            if not made:
                made.append(self.service.post("/v1/predictions", {"from": {"job": job}, "data": {"dataset": "points"}})["id"])
                self.service.wait_end(made[0])
            return made[0]

        def member():
            run("member", "set", "ann", "--role", "viewer", "--project", "crew", home=home, check=0)
            return "ann", "--project", "crew"

        def ended_cross_validation():
            one = self.service.post("/v1/cross-validations", json.loads(self.file("cv.json").read_text()))["id"]
            self.service.post(f"/v1/cross-validations/{one}/cancel", {})
            wait_for(lambda: self.service.get(f"/v1/cross-validations/{one}")["finished_at"], "the cross-validation to end")
            return one

        def delivery():
            deliveries = self.service.get(f"/v1/webhooks/{self.webhook}/deliveries")["items"]
            return self.webhook, deliveries[-1]["id"]

        return {
            "submit": lambda: [self.file("held.json")], "job": lambda: [job], "explain": lambda: [job], "logs": lambda: [job],
            "report": lambda: [job], "graphs": lambda: [job], "trace": lambda: [job], "metrics": lambda: [job, "--csv"],
            "events": lambda: ["--types", "deleted", "--count", "1"],
            "tensorboard": lambda: [job, "--out", self.folder / "curves"],
            "cancel": lambda: [self.held()], "kill": lambda: [self.held()], "pause": lambda: [self.held()], "resume": lambda: [self.paused()],
            "checkpoint": lambda: [job], "delete": lambda: [self.held(ended=True), "--yes"], "label": lambda: [job, "team=red, blue"],
            "priority": lambda: [self.held(), "high"], "pool": lambda: [self.held(), "any"], "retry": lambda: [self.held(ended=True)],
            "fork": lambda: [job, "--start", "scratch", "--set", f"limits.start_after={HELD['start_after']}"],
            "bulk": lambda: ["cancel", "--id", self.held()], "pin": lambda: [checkpoint], "unpin": lambda: [checkpoint],
            "export": lambda: [checkpoint, "--out", self.folder / "w"],
            "predict": lambda: [job, "points"], "result": lambda: [prediction()], "evaluate": lambda: [job],
            "dataset show": lambda: ["points"], "upload": lambda: [self.service.data / "points" / "points.csv"],
            "dataset delete": lambda: [self.service.post("/v1/datasets", {"name": f"gone-{next(numbers)}", "format": "csv",
                                                                          "source": {"path": "points"}})["id"], "--yes"],
            "project set": lambda: ["crew", "--weight", "1"],
            "member set": lambda: ["ann", "--role", "viewer", "--project", "crew"], "members": lambda: member()[1:],
            "member remove": member, "group set": lambda: ["lr", "--limit", "3"],
            "queue stats": list, "queue simulate": lambda: ["--more-hosts", "1"],
            "webhook create": lambda: ["https://hooks.example.invalid/x"], "webhook set": lambda: [self.webhook, "--description", "chat"],
            "webhook test": lambda: [self.webhook], "webhook redeliver": delivery, "webhook delete": lambda: [new_webhook(), "--yes"],
            "cv create": lambda: [self.file("cv.json")], "cv show": lambda: [split_cv], "cv summary": lambda: [split_cv],
            "cv compare": lambda: [split_cv, split_cv], "cv oof": lambda: [split_cv], "cv retry": lambda: [split_cv],
            "cv cancel": lambda: [self.service.post("/v1/cross-validations", json.loads(self.file("cv.json").read_text()))["id"]],
            "cv delete": lambda: [ended_cross_validation(), "--yes"],
            "sweep create": lambda: [self.file("asked.json")], "sweep import": lambda: [self.file("wandb.yaml"), "--print"],
            "sweep show": lambda: [sweep], "sweep suggest": lambda: [self.asked_sweep(), "--count", "1"],
            "sweep observe": lambda: [sweep, next(numbers) % 2, "--time", "1", "--value", "0.5", "--end", "completed"],
            "sweep set": lambda: [sweep, "--max-concurrent", "7"], "sweep best": lambda: [sweep], "sweep importance": lambda: [sweep], "sweep simulate": lambda: [sweep, "random"],
            "sweep retry": lambda: [sweep], "sweep promote": lambda: [sweep], "sweep extend": lambda: [self.asked_sweep(), "9"],
            "sweep pause": lambda: [self.asked_sweep()], "sweep resume": lambda: [self.asked_sweep("pause")],
            "sweep stop": lambda: [self.asked_sweep()], "sweep delete": lambda: [self.asked_sweep("stop"), "--yes"],
            "host drain": lambda: [host, "--reason", "new disk"], "host undrain": lambda: [host], "host remove": lambda: [host],
            "host join-token": lambda: ["--host", "other"], "retention": list, "drain": lambda: ["7"], "undrain": lambda: ["7"],
            "token create": lambda: ["of a terminal"],
            "token revoke": lambda: [self.service.post("/v1/tokens", {"name": "short", "role": "viewer"})["id"]],
            "version": list, "status": list, "completion": lambda: ["bash"], "man": lambda: ["jobs"], "help": lambda: ["jobs"],
            "login": lambda: ["--url", url, "--name", "one", "--token-file", self.file("token")],
            "context use": lambda: ["one"], "logout": lambda: ["one"],
        }

    def rewritten(self):
        """Commands that update a line in place on a terminal."""
        points = self.folder / "pushed"
        points.mkdir()
        (points / "points.csv").write_bytes((self.service.data / "points" / "points.csv").read_bytes())
        checkpoint = self.service.get(f"/v1/jobs/{self.job}/checkpoints")["items"][0]["id"]
        return {
            "follow": [self.job], "cv watch": [self.split_cv], "sweep watch": [self.asked_sweep("stop")],
            "cv predict": [self.split_cv, "points", "--out", self.folder / "p.csv"],
            "data push": [points, "--option", "group_column=family"],
            "download": [checkpoint, "model.safetensors", "--out", self.folder / "m"],
        }

    def test_every_command_has_its_output_looked_at_on_a_terminal(self):
        wait_for(lambda: self.service.get(f"/v1/cross-validations/{self.split_cv}")["finished_at"], "the folds")
        same_words, rewritten = self.words_of_commands(), self.rewritten()
        lists = {tuple(path) for path in commands() if "--output" in run(*path, "--help", check=0).stdout}
        looked_at = {tuple(name.split()) for name in (*same_words, *rewritten)} | lists | SHOWN_ELSEWHERE
        self.assertEqual({tuple(path) for path in commands()} ^ looked_at, set())
        settings = {"SLIPWAY_CONFIG": str(self.folder / "contexts.json"), "HOME": str(self.folder)}
        for name, words in same_words.items():
            at_home = {} if name in ("login", "logout", "context use") else {"home": self.service.home}
            with self.subTest(command=name):
                def in_a_pipe():
                    return run(*name.split(), *words(), **at_home, **settings)

                def on_a_terminal():
                    return run_on_terminal(*name.split(), *words(), **at_home, **settings)
                if name == "logout":
                    plain = in_a_pipe()
                    run("login", *same_words["login"](), check=0, **settings)
                    shown, code = on_a_terminal()
                elif name == "events":
                    plain, (shown, code) = self.while_jobs_are_deleted(in_a_pipe), self.while_jobs_are_deleted(on_a_terminal)
                else:
                    plain, (shown, code) = in_a_pipe(), on_a_terminal()
                self.assertNotEqual(shown, "")
                self.assertEqual(OBEYED.findall(COLOUR.sub("", shown)), [])
                self.assertEqual((kind_of(COLOUR.sub("", shown)), code), (kind_of(plain.stdout + plain.stderr), plain.returncode))
        for name, words in rewritten.items():
            with self.subTest(command=name):
                plain = run(*name.split(), *words, home=self.service.home, check=None if name == "sweep watch" else 0)
                self.assertNotIn("\x1b", plain.stdout + plain.stderr)
                if name == "data push":
                    run("dataset", "delete", "pushed", "--yes", home=self.service.home, check=0)
                shown, code = run_on_terminal(*name.split(), *words, home=self.service.home)
                self.assertEqual((code, "\r\x1b[K" in shown or "\r\x1b[J" in shown), (plain.returncode, True), shown)
                left = [line for line in re.split("[\r\n]|\x1b\\[[KJ]", COLOUR.sub("", shown)) if line.strip()]
                self.assertEqual(kind_of(left[-1]), kind_of(plain.stdout.splitlines()[-1]))

    def test_following_rewrites_a_line_on_a_terminal_only(self):
        shown, code = run_on_terminal("follow", self.job, home=self.service.home)
        self.assertEqual((code, "\r\x1b[K" in shown), (0, True))
        self.assertNotIn("\x1b", run("follow", self.job, home=self.service.home, check=0).stdout)

    def test_watching_draws_the_losses_on_a_terminal_only(self):
        shown, code = run_on_terminal("watch", self.job, home=self.service.home)
        self.assertEqual(code, 0)
        self.assertRegex(COLOUR.sub("", shown), r"train_loss [\d.e-]+  val_loss [\d.e-]+")
        self.assertRegex(shown, "[\u2801-\u28ff]")
        self.assertRegex(shown, r"step \d+ +120")
        plain = run("watch", self.job, home=self.service.home, check=0).stdout
        self.assertNotRegex(plain, "[\x1b\u2801-\u28ff]")
        self.assertEqual(plain, run("follow", self.job, home=self.service.home, check=0).stdout)

    def test_an_upload_shows_how_far_it_is_on_a_terminal_only(self):
        file = self.service.data / "points" / "points.csv"
        shown, code = run_on_terminal("dataset", "create", "shown", "--format", "csv", "--upload", file,
                                      "--option", "group_column=family", home=self.service.home)
        self.assertEqual(code, 0, shown)
        self.assertRegex(shown, r"\r\x1b\[K +0 % +0 bytes of [\d.]+ KiB +points\.csv")
        self.assertTrue(shown.rstrip().endswith("ready"))
        done = run("dataset", "create", "unseen", "--format", "csv", "--upload", file, "--option", "group_column=family",
                   home=self.service.home, check=0)
        self.assertEqual(done.stderr, "")

    def test_watching_the_list(self):
        shown, _ = run_on_terminal("jobs", "--watch", home=self.service.home, until="named job")
        self.assertIn("\x1b[H\x1b[J", shown)
        watching = subprocess.Popen([BIN / "slipway", "--home", self.service.home, "list", "--watch"], stdout=subprocess.PIPE, text=True,
                                    env=environment_of())
        self.addCleanup(watching.stdout.close)
        self.addCleanup(watching.wait)
        self.addCleanup(watching.kill)
        job = self.service.submit(points_job(name="watched"))
        said = []
        wait_for(lambda: said.append(watching.stdout.readline()) or said[-1] == f"{job} watched succeeded\n", "the watched job to succeed")
        self.assertFalse([line for line in said if "\x1b" in line])

    def test_top_is_drawn_again_on_a_terminal_and_printed_once_in_a_pipe(self):
        shown, _ = run_on_terminal("top", home=self.service.home, until="cores busy")
        self.assertIn("\x1b[H\x1b[J", shown)
        self.assertEqual(run("top", home=self.service.home, check=0).stdout.count("cores busy"), 1)

    # ---- jobs by name -------------------------------------------------------
    def test_a_job_is_found_by_its_id_the_beginning_of_it_or_its_name(self):
        for text in (self.job, self.job[:-2], "named job", "named j"):
            self.assertIn(f'"id": "{self.job}"', run("job", text, home=self.service.home, check=0).stdout, text)
        done = run("job", "nobody", home=self.service.home, check=4)
        self.assertEqual(done.stderr, "slipway: there is no job whose id or name is `nobody` or begins with it\n")
        run("job", "", home=self.service.home, check=2)

    def test_a_name_of_several_jobs_is_not_guessed(self):
        jobs = [self.service.submit(points_job(name=name)) for name in ("twice", "twice", "twice as long")]
        done = run("kill", "twice", home=self.service.home, check=4)
        self.assertIn("2 jobs match `twice`", done.stderr)
        for job in jobs[:2]:
            self.assertIn(job, done.stderr)
        self.assertNotIn(jobs[2], done.stderr)
        run("job", "twice as", home=self.service.home, check=0)
        run("job", "job_", home=self.service.home, check=4)

    def test_many_jobs_are_all_found_before_the_first_is_changed(self):
        jobs = [self.service.submit(points_job(name=f"many {n}", limits=HELD)) for n in range(2)]
        done = run("cancel", "many 0", "nobody", jobs[1], home=self.service.home, check=4)
        self.assertEqual((done.stdout, "there is no job whose id or name is `nobody`" in done.stderr), ("", True))
        self.assertEqual([self.service.get(f"/v1/jobs/{job}")["state"] for job in jobs], ["queued", "queued"])
        self.assertEqual(run("cancel", "many 0", jobs[1], home=self.service.home, check=0).stdout, "".join(f"{job} cancelled\n" for job in jobs))
        # The words of another grammar: `job` is no job.
        self.assertIn("`job`", run("delete", "job", "many 0", "--yes", home=self.service.home, check=4).stderr)
        self.assertEqual(self.service.get(f"/v1/jobs/{jobs[0]}")["state"], "cancelled")

    # What ends or deletes something, with the kind of object that it names; None: the service takes ids or exact names alone.
    ENDING = {"delete": "job", "kill": "job", "cancel": "job", "dataset delete": "dataset", "sweep stop": "sweep", "sweep delete": "sweep",
              "cv cancel": "cv", "cv delete": "cv", "webhook delete": None, "token revoke": None, "host remove": None, "member remove": None,
              "logout": None, "bulk": None}

    def test_commands_that_end_something_take_whole_names_only(self):
        verbs = {"delete", "kill", "cancel", "stop", "revoke", "remove", "logout", "bulk"}
        self.assertEqual({" ".join(path) for path in commands() if path[-1] in verbs}, set(self.ENDING))
        named = {"job": "a whole job", "sweep": "a whole sweep", "cv": "a whole cv", "dataset": "a-whole-dataset"}
        self.service.submit(points_job(name=named["job"], limits=HELD))
        self.service.post("/v1/sweeps", {**json.loads(self.file("asked.json").read_text()), "name": named["sweep"]})
        self.service.post("/v1/cross-validations", {**json.loads(self.file("cv.json").read_text()), "name": named["cv"]})
        self.service.post("/v1/datasets", {"name": named["dataset"], "format": "csv", "source": {"path": "points"}})
        for command, kind in self.ENDING.items():
            if kind is None:
                continue
            with self.subTest(command=command):
                words = [*command.split(), named[kind][:-2], *(["--yes"] if command.endswith("delete") else [])]
                done = run(*words, home=self.service.home, check=4)
                self.assertIn("takes a whole id or name, and these begin with it:", done.stderr)
                self.assertIn(named[kind], done.stderr)

    def test_a_deletion_that_is_repeated_deletes_nothing_else(self):
        jobs = [self.held(ended=True) for _ in range(2)]
        for job, name in zip(jobs, ("aa", "aa-keep-six-hours")):
            self.service.sql(f"update job set name = '{name}' where id = '{job}'")
        self.assertEqual(run("delete", "aa", "--yes", home=self.service.home, check=0).stdout, f"{jobs[0]} deleted\n")
        self.assertIn(jobs[1], run("delete", "aa", "--yes", home=self.service.home, check=4).stderr)
        self.assertEqual(self.service.get(f"/v1/jobs/{jobs[1]}")["name"], "aa-keep-six-hours")

    def test_a_deletion_asks_on_a_terminal_and_needs_yes_without_one(self):
        job = self.held(ended=True)
        done = run("delete", job, home=self.service.home, check=2)
        self.assertEqual(done.stderr, f"slipway: delete job {job}? Add --yes; there is no terminal to ask on\n")
        shown, code = run_on_terminal("delete", job, home=self.service.home, answer="n")
        self.assertEqual((f"Delete job {job}? [y/N]" in shown, "nothing was deleted" in shown, code), (True, True, 2))
        shown, code = run_on_terminal("delete", job, home=self.service.home, answer="y")
        self.assertEqual((f"{job} deleted" in shown, code), (True, 0))

    def test_sweeps_cross_validations_and_datasets_are_found_by_name(self):
        for command, name, wanted in (("sweep", "aske", self.sweep), ("cv", "fold", self.split_cv)):
            self.assertIn(f'"id": "{wanted}"', run(command, "show", name, home=self.service.home, check=0).stdout)
        self.assertIn('"name": "points"', run("dataset", "show", "poin", home=self.service.home, check=0).stdout)
        self.assertIn("did you mean `points`?", run("dataset", "show", "pionts", home=self.service.home, check=4).stderr)

    # ---- documents ----------------------------------------------------------
    def spec_of(self, *words, **options):
        return json.loads(run("submit", *words, "--dry-run", home=self.service.home, check=0, cwd=self.folder, **options).stdout)["spec"]

    def test_a_job_from_toml_from_standard_input_and_with_changes(self):
        (self.folder / "job.json").write_text(json.dumps(points_job()))
        (self.folder / "job.toml").write_text("""
            name = "points"
            model = {arch = "mlp", width = 32, depth = 2}
            task.type = "classification"
            data = {dataset = "points", split = {val_fraction = 0.2, seed = 0}}
            [train]
            epochs = 4
            batch_size_per_core = 16
            optimizer = {name = "adam", lr = 0.01}
            [monitor]
            log_every_steps = 1
        """)
        plain = self.spec_of("job.json")
        self.assertEqual(self.spec_of("job.toml"), plain)
        self.assertEqual(self.spec_of("-", stdin=json.dumps(points_job())), plain)
        changed = self.spec_of("job.toml", "--set", "train.optimizer.lr=0.5", "--set", "name=other", "--label", "team=red", "--label", "a=b=c")
        self.assertEqual((changed["train"]["optimizer"]["lr"], changed["name"], changed["labels"]), (0.5, "other", {"team": "red", "a": "b=c"}))
        done = run("submit", "job.json", "--set", "train.epoch=2", home=self.service.home, check=4, cwd=self.folder)
        self.assertIn("epochs", done.stderr)
        (self.folder / "bad.toml").write_text("a = 1\nb = [\n")
        self.assertRegex(run("submit", "bad.toml", home=self.service.home, check=2, cwd=self.folder).stderr, r"^slipway: bad\.toml:\d: ")

    # ---- usage --------------------------------------------------------------
    def test_a_misspelt_option_is_named_with_the_nearest_once(self):
        done = run("jobs", "--limt", "3", check=2)
        self.assertEqual(done.stderr, "slipway: `slipway jobs` has no option --limt; did you mean --limit?\n")
        self.assertIn("`slipway jobs --help` lists them", run("jobs", "--zzzzzzzz", check=2).stderr)
        done = run("submit", check=2)
        self.assertEqual((done.stdout, done.stderr), ("", "slipway: file is required; see `slipway submit --help`\n"))

    def test_the_program_says_its_own_version(self):
        self.assertRegex(run("--version", check=0).stdout, r"^slipway \d+\.\d+\.\d+ \(([0-9a-f]{12}|unknown)\)\n$")

    def test_the_other_names_of_commands(self):
        for other, name in (("list", "jobs"), ("show", "job")):
            words = [] if name == "jobs" else [self.job]
            self.assertEqual(run(other, *words, home=self.service.home, check=0).stdout.splitlines()[0],
                             run(name, *words, home=self.service.home, check=0).stdout.splitlines()[0])


if __name__ == "__main__":
    unittest.main()
