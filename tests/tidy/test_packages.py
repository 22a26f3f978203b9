#!/usr/bin/env python3
"""Goal: packages stay whole while the tree changes. Method: reads what deploy/package reads; builds nothing."""
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEBIAN = ROOT / "deploy/debian"
SECTION_LINES_MAX = 60


def text_of(name):
    return (ROOT / name).read_text()


def module_files():
    """The CMakeLists.txt of all modules of the product."""
    return [file for folder in ("api", "executor", "migrations", "scheduler", "server", "web")
            for file in (ROOT / folder).rglob("CMakeLists.txt") if "node_modules" not in file.parts]


VERSION = re.search(r"^project\(slipway VERSION (\d+\.\d+\.\d+) ", text_of("CMakeLists.txt"), re.M)[1]


class Version(unittest.TestCase):
    def test_programs_take_it_from_one_source(self):
        found = [str(file.relative_to(ROOT)) for file in module_files() if "PROJECT_VERSION" in file.read_text()]
        self.assertEqual(found, ["api/base/CMakeLists.txt"])

    def test_the_python_client_has_the_same(self):
        self.assertEqual(re.search(r'^__version__ = "(.*)"', text_of("api/python/slipway/__init__.py"), re.M)[1], VERSION)
        self.assertNotRegex(text_of("api/python/pyproject.toml"), r'(?m)^version = "')

    def test_the_changelog_has_a_section_for_it(self):
        sections = re.split(r"(?m)^## ", text_of("CHANGELOG.md"))[1:]
        self.assertIn(VERSION, [section.splitlines()[0] for section in sections])
        for section in sections:
            self.assertLessEqual(len(section.splitlines()), SECTION_LINES_MAX, section.splitlines()[0])


class Files(unittest.TestCase):
    CMAKE = text_of("deploy/package.cmake")

    def test_every_program_and_library_is_in_a_package(self):
        made = {name for file in module_files()
                for name in re.findall(r"^(?:program|loaded_library)\(NAME (slipway\S*)", file.read_text(), re.M)}
        kernels = {f"slipway-kernels-{level}" for level in ("v3", "v4")}
        installed = {word for targets in re.findall(r"install\(TARGETS ([^)]*)", self.CMAKE) for word in targets.split()
                     if word.startswith("slipway")}
        self.assertIn("slipwayd", made)
        self.assertEqual(installed, made | kernels)

    def test_the_unit_of_the_package_starts_the_program_that_it_has(self):
        replaced = re.search(r"s\|(\^ExecStart=\S*)\|ExecStart=(\S+)", text_of("deploy/package"))
        self.assertRegex(text_of("deploy/slipway.service"), "(?m)" + replaced[1])
        self.assertEqual(replaced[2], "/usr/lib/slipway/slipwayd")
        self.assertIn("daemon=/usr/lib/slipway/slipwayd\n", (DEBIAN / "slipway.init").read_text())
        self.assertIn("set(lib lib/slipway)", self.CMAKE)

    def test_every_file_that_is_named_is_there(self):
        named = re.findall(r"\$\{CMAKE_CURRENT_LIST_DIR\}/([\w./-]+\.\w+)", self.CMAKE) + ["debian/conffiles"]
        self.assertGreater(len(named), 5)
        for name in named:
            self.assertTrue((ROOT / "deploy" / name).is_file(), name)
        for name in re.findall(r"\bdeploy/[\w./-]+", text_of("deploy/package")):
            self.assertTrue((ROOT / name).exists(), name)

    def test_the_settings_that_an_administrator_edits_are_kept(self):
        self.assertEqual((DEBIAN / "conffiles").read_text().split(), ["/etc/init.d/slipway", "/etc/slipway/slipwayd.toml"])

    def test_scripts_are_posix_shell(self):
        for name in ("preinst", "postinst", "prerm", "postrm", "slipway.init"):
            done = subprocess.run(["sh", "-n", DEBIAN / name], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)
            self.assertIn("set -e", (DEBIAN / name).read_text(), name)

    def test_purging_keeps_the_home_folder(self):
        for name in ("prerm", "postrm"):
            for line in (DEBIAN / name).read_text().splitlines():
                self.assertFalse(re.search(r"\b(rm|rmdir|deluser|userdel)\b", line) and "/var/lib/slipway" in line, line)
            self.assertNotRegex((DEBIAN / name).read_text(), r"(?m)^\s*(deluser|userdel)")

    def test_the_image_installs_both_packages(self):
        self.assertRegex(text_of("deploy/Containerfile"), r"slipway_\*\.deb build/packages/slipway-server_\*\.deb")


if __name__ == "__main__":
    unittest.main()
