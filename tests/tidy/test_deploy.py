#!/usr/bin/env python3
"""Goal: what deploy/ installs and what the build asks for agree. Method: reads both."""
import pathlib
import re
import subprocess
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
        self.assertFalse(packages("packages.txt") & packages("test-packages.txt"))

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


if __name__ == "__main__":
    unittest.main()
