"""Goal: the commands about the client itself print what they say: contexts, completion, manual pages, version. Method: client_commands.py."""
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from client_commands import CommandTestCase, commands, run


class ClientCommands(CommandTestCase):
    @classmethod
    def setUpClass(cls):
        cls.serve()

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

    def test_help(self):
        self.assertEqual(self.ok("help"), run("--help", check=0).stdout)
        self.assertIn("Usage: slipway sweep create [OPTIONS]", self.ok("help", "sweep", "create"))
        self.assertIn("did you mean `slipway sweep create`?", run("help", "sweep", "crate", check=2).stderr)

    def test_version(self):
        self.assertIn('"version"', self.ok("version"))


if __name__ == "__main__":
    unittest.main()
