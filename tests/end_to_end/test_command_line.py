"""Goal: what all commands of the client share: forms of output, terminals and pipes, jobs by name, changes of a document.
Method: as test_commands.py; a terminal is a pseudo-terminal."""
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
import time
import unittest

from service import BIN, points_job, serve_points, wait_for
from test_commands import OBEYED, commands, environment_of, run

CHANGES = re.compile(r"[\d.]+|  +|–")    # from one call to the next: figures and the width of their columns
COLOUR = re.compile(r"\x1b\[[0-9]*m")


def same(text):
    return CHANGES.sub(" ", text)


def run_on_terminal(*words, home, limit_s=120, until=None, **environment):
    """What the command writes to a terminal of 80 columns, and how it ends; `until`: a text after which it is interrupted."""
    program, arguments = str(BIN / "slipway"), ["slipway", "--home", str(home), *map(str, words)]
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

    def lists(self):
        """Every command with --output, with what it needs."""
        needs = {"metrics": [self.job], "compare": [self.job, self.other], "checkpoints": [self.job], "cv folds": [self.split_cv], "sweep trials": [self.sweep],
                 "sweep decisions": [self.sweep], "webhook deliveries": [self.webhook]}
        found = [path for path in commands() if "--output" in run(*path, "--help", check=0).stdout]
        self.assertGreater(len(found), 12)
        return [(*path, *needs.get(" ".join(path), [])) for path in found]

    # ---- forms --------------------------------------------------------------
    def test_every_list_has_every_form_and_they_agree(self):
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
        self.assertIn("team=red, blue", run("jobs", "-o", "wide", home=self.service.home, check=0).stdout)
        self.assertNotIn("team=red", run("jobs", home=self.service.home, check=0).stdout)
        (row,) = [row for row in csv.DictReader(io.StringIO(run("jobs", "-o", "csv", home=self.service.home).stdout)) if row["id"] == self.job]
        self.assertEqual((row["labels"], row["cores"], row["project"]), ("team=red, blue", "1", "default"))

    # ---- terminals ----------------------------------------------------------
    def test_on_a_terminal_every_list_is_the_same_with_colours(self):
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

    def test_many_jobs_are_acted_on_and_one_that_is_wrong_does_not_stop_the_others(self):
        jobs = [self.service.submit(points_job(name=f"many {n}", limits={"start_after": "2090-01-01T00:00:00Z"})) for n in range(2)]
        done = run("cancel", "many 0", "nobody", jobs[1], home=self.service.home, check=4)
        self.assertEqual(done.stdout, "".join(f"{job} cancelled\n" for job in jobs))
        self.assertTrue(done.stderr.startswith("slipway: nobody: there is no job"))

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
        self.assertRegex(run("--version", check=0).stdout, r"^slipway \d+\.\d+\.\d+\n$")

    def test_the_other_names_of_commands(self):
        for other, name in (("list", "jobs"), ("show", "job")):
            words = [] if name == "jobs" else [self.job]
            self.assertEqual(run(other, *words, home=self.service.home, check=0).stdout.splitlines()[0],
                             run(name, *words, home=self.service.home, check=0).stdout.splitlines()[0])


if __name__ == "__main__":
    unittest.main()
