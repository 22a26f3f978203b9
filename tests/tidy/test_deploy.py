#!/usr/bin/env python3
"""Goal: what deploy/ installs and what the build asks for agree. Method: reads both."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Program that CMake looks for -> the Debian package that has it, when the names differ.
PACKAGES = {"ld.lld": "lld"}


def packages(name):
    lines = (re.sub("#.*", "", line).strip() for line in (ROOT / "deploy" / name).read_text().splitlines())
    return {line.split()[0] for line in lines if line}


class Deploy(unittest.TestCase):
    def test_programs_that_change_the_compile_commands_are_there_from_the_first_build(self):
        """One that only deploy/test installs would make the next deploy/up compile everything again."""
        found = re.findall(r"^find_program\(\w+ ([\w.+-]+)\)", (ROOT / "CMakeLists.txt").read_text(), re.M)
        self.assertIn("ccache", found)
        for program in found:
            self.assertIn(PACKAGES.get(program, program), packages("packages.txt"))

    def test_no_package_is_listed_twice(self):
        lists = [packages(name) for name in ("packages.txt", "test-packages.txt", "package-packages.txt", "slurm/packages.txt")]
        self.assertEqual(len(set.union(*lists)), sum(map(len, lists)))

    def test_a_large_rebuild_is_said(self):
        done = subprocess.run(["bash", "-c", """
            set -euo pipefail
            . deploy/common.sh
            source_folder=$(mktemp -d) && trap 'rm -rf "$source_folder"' EXIT
            mkdir -p "$source_folder/build/some"
            ninja() { echo "[1/$steps] Building x"; }
            steps=500 say_rebuild some        # the first build: said elsewhere
            touch "$source_folder/build/some/.ninja_log"
            steps=2 say_rebuild some
            steps=500 say_rebuild some"""], capture_output=True, text=True, cwd=ROOT)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(done.stdout.splitlines()), 1, done.stdout)
        self.assertIn("500 steps", done.stdout)


class Counts(unittest.TestCase):
    """The line that deploy/test ends with, from what ctest and the tests wrote."""

    def count(self, cases, files):
        with tempfile.TemporaryDirectory() as folder:
            junit = pathlib.Path(folder, "junit.xml")
            junit.write_text("<testsuite>" + "".join(
                f'<testcase name="{name}" status="{status}">{inside}</testcase>' for name, status, inside in cases) + "</testsuite>")
            for name, tests in files.items():
                pathlib.Path(folder, name).write_text(f"<testsuites><testsuite>{tests}</testsuite></testsuites>")
            done = subprocess.run([ROOT / "tests/support/count_results.py", junit, folder], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            return done.stdout.split("\n")[:-1]

    def test_each_test_of_a_case_counts(self):
        good, bad = '<testcase name="a" status="run" result="completed"/>', '<testcase name="b" status="run"><failure/></testcase>'
        skipped = '<testcase name="c" status="run" result="skipped"><skipped message="no data"/></testcase>'
        disabled = '<testcase name="d" status="notrun" result="suppressed"/>'
        self.assertEqual(self.count([("x/y.Suite", "fail", ""), ("tidy", "run", "")],
                                    {"x_y.Suite.xml": good + good + bad + skipped + disabled}),
                         ["3 1 1", "x/y.Suite.c"])

    def test_a_case_that_wrote_nothing_or_failed_after_its_tests_has_failed(self):
        good = '<testcase name="a" status="run"/>'
        self.assertEqual(self.count([("crashed", "fail", ""), ("leaks", "fail", "")], {"leaks.xml": good}), ["1 2 0", ""])
        self.assertEqual(self.count([("missing", "notrun", '<skipped message="Unable to find executable"/>')], {}), ["0 1 0", ""])
        self.assertEqual(self.count([("asked", "notrun", '<skipped message="SKIP_RETURN_CODE=77"/>')], {}), ["0 0 1", "asked"])
        self.assertEqual(self.count([], {}), ["0 1 0", ""], "a run of no test is no success")


class Service(unittest.TestCase):
    UNIT = ROOT / "deploy" / "slipway.service"
    PROGRAMS = ("slipwayd", "slipway-confine", "slipway-slurm-start", "slipway-executor", "slipway-compiler.so", "slipway-collectives.so", "slipway")

    def analyze(self, *words):
        if shutil.which("systemd-analyze") is None:
            self.skipTest("systemd-analyze (package systemd) is not here")
        with tempfile.TemporaryDirectory() as folder:
            unit = pathlib.Path(folder, "slipway.service")    # with a program that is there
            unit.write_text(re.sub(r"(?m)^ExecStart=\S+", "ExecStart=/bin/true", self.UNIT.read_text()))
            return subprocess.run(["systemd-analyze", *words, str(unit)], capture_output=True, text=True)

    def test_the_unit_is_one_that_systemd_takes(self):
        done = self.analyze("verify")
        # Debian 12 has systemd 252, which passes over this one line with a warning.
        problems = [line for line in done.stderr.splitlines()
                    if not line.endswith("Unknown key 'DelegateSubgroup' in section [Service], ignoring.")]
        self.assertEqual((done.returncode, problems), (0, []))

    def test_the_unit_is_exposed_to_little(self):
        done = self.analyze("security", "--offline=true", "--threshold=30", "--no-pager")
        self.assertEqual(done.returncode, 0, done.stdout[-300:])

    def test_the_unit_says_what_it_must_also_where_systemd_is_not(self):
        lines = self.UNIT.read_text().splitlines()
        for line in ("User=slipway", "NoNewPrivileges=yes", "CapabilityBoundingSet=", "ProtectSystem=strict", "PrivateTmp=yes",
                     "KillMode=process", "UMask=0077", "StateDirectory=slipway", "RestrictNamespaces=yes",
                     "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK"):
            self.assertIn(line, lines)
        self.assertNotIn("MemoryDenyWriteExecute=yes", lines, "executors compile")

    def test_the_files_are_put_where_the_unit_looks_twice(self):
        with tempfile.TemporaryDirectory() as folder:
            built, image = pathlib.Path(folder, "bin"), pathlib.Path(folder, "image")
            built.mkdir()
            for content in ("first", "second"):
                for program in self.PROGRAMS:
                    (built / program).write_text(content)
                (built / "slipway").write_text(f'#!/bin/sh\n[ "$1 $2" = "man --out" ] && mkdir -p "$3/man1" && echo {content} > "$3/man1/slipway.1"\n')
                (built / "slipway").chmod(0o755)
                done = subprocess.run([ROOT / "deploy" / "service", "--destination", str(image)], capture_output=True, text=True,
                                      env={**os.environ, "SLIPWAY_BIN_DIR": str(built)})
                self.assertEqual((done.returncode, done.stderr), (0, ""))
            started = re.search(r"(?m)^ExecStart=/(\S+)", self.UNIT.read_text())[1]
            self.assertEqual((image / started).read_text(), "second")
            self.assertEqual((image / started).stat().st_mode & 0o7777, 0o755)
            for program in set(self.PROGRAMS) - {"slipway"}:
                self.assertEqual((image / started).with_name(program).read_text(), "second", program)
            self.assertEqual((image / started).with_name("slipway").read_text(), (built / "slipway").read_text())
            self.assertEqual((image / "usr/local/share/man/man1/slipway.1").read_text(), "second\n")
            self.assertTrue((image / "usr/local/bin/slipway").exists())
            self.assertTrue((image / "etc/systemd/system/slipway.service").exists())
            self.assertEqual([str(file) for file in image.rglob("*.new")], [])


if __name__ == "__main__":
    unittest.main()
