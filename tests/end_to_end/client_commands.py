"""Runs the client as a person would, on a service with one job that has ended; what changes from run to run (ids, times, figures) is replaced
by its kind before the output is compared."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from service import BIN, points_job, serve_points

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


class CommandTestCase(unittest.TestCase):
    """What the commands of a class are tried on: its setUpClass calls `serve`."""

    @classmethod
    def serve(cls):
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
