"""Goal: every command of the client has a test and a help text, and all say their errors alike. The list of commands is the client's own
(--help): one without a test in the classes below fails."""
import json
import unittest

import test_client_commands
import test_cv_commands
import test_jobs_commands
import test_machine_commands
import test_results_commands
import test_sweeps_commands
from client_commands import CommandTestCase, OBEYED, commands, run
from service import points_job

GROUPS = [test_jobs_commands.JobCommands, test_results_commands.ResultCommands, test_cv_commands.CrossValidationCommands,
          test_sweeps_commands.SweepCommands, test_machine_commands.MachineCommands, test_client_commands.ClientCommands]


class Commands(CommandTestCase):
    @classmethod
    def setUpClass(cls):
        cls.serve()

    def test_every_command_has_a_test_and_a_help_text(self):
        found = commands()
        self.assertGreater(len(found), 25)
        for path in found:
            test = "test_" + "_".join(path).replace("-", "_")
            self.assertTrue(any(hasattr(group, test) for group in GROUPS), f"no test of `slipway {' '.join(path)}`")
            text = run(*path, "--help", check=0).stdout
            self.assertIn("Usage: slipway " + " ".join(path), text)
            self.assertIn("Examples:\n  slipway " + " ".join(path), text)
            self.assertEqual(OBEYED.findall(text), [])

    def test_an_unknown_command_is_named_with_the_nearest(self):
        done = run("jobz", check=2)
        self.assertEqual(done.stderr, "slipway: there is no command `slipway jobz`; did you mean `slipway jobs`?\n")
        done = run("dataset", "creat", "x", check=2)
        self.assertIn("did you mean `slipway dataset create`?", done.stderr)
        self.assertEqual(run("zzzzzzzz", check=2).stderr, "slipway: there is no command `slipway zzzzzzzz`; `slipway --help` lists them\n")
        self.assertIn("it has create, show, delete", run("dataset", "zzzzzzzz", check=2).stderr)
        self.assertIn("there is no command `slipway get`", run("get", "jobs", check=2).stderr)

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
        job = self.service.submit(points_job(name="a-gpj"))
        self.service.wait_end(job)
        # Such a name is refused now; one of an earlier release may be stored.
        self.service.sql(f"update job set name = 'a' || chr(8238) || 'gpj' where id = '{job}'")
        for words in (("jobs", "--limit", 1000), ("job", job), ("follow", job), ("logs", job), ("explain", job), ("report", job)):
            self.ok(*words)
        self.assertIn(r"a\u202egpj", self.ok("jobs", "--limit", 1000))


if __name__ == "__main__":
    unittest.main()
