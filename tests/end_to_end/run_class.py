"""Runs test methods of one class: `file.Class` or `file.Class.method`. Writes what each came to in the form of GoogleTest's
XML files to the file that the variable SLIPWAY_TEST_RESULTS names. Exit code 77: all of them were skipped."""
import os
import sys
import unittest
import xml.etree.ElementTree as tree

SKIPPED = 77


class Results(unittest.TextTestResult):
    """Keeps the name of every test, also of those that pass."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.started = []

    def startTest(self, test):
        super().startTest(test)
        self.started.append(test.id())

    def write(self, path):
        # A set-up that fails is no test that was started.
        bad = {test.id() for test, _ in self.failures + self.errors}
        skipped = {test.id(): reason for test, reason in self.skipped}
        suite = tree.Element("testsuite")
        for name in [*self.started, *sorted((bad | set(skipped)) - set(self.started))]:
            case = tree.SubElement(suite, "testcase", classname=name.rpartition(".")[0], name=name.rpartition(".")[2], status="run")
            if name in bad:
                tree.SubElement(case, "failure")
            elif name in skipped:
                tree.SubElement(case, "skipped", message=skipped[name])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        tree.ElementTree(suite).write(path)


if __name__ == "__main__":
    runner = unittest.TextTestRunner(verbosity=2, resultclass=Results)
    result = unittest.main(module=None, exit=False, testRunner=runner).result
    if path := os.environ.get("SLIPWAY_TEST_RESULTS"):
        result.write(path)
    if not result.wasSuccessful() or not (result.started or result.skipped):
        sys.exit(1)
    sys.exit(SKIPPED if len(result.skipped) >= len(result.started) else 0)
