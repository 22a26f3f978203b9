#!/usr/bin/env python3
"""Goal: docs/errors.md has every error code that a program can give, and none that no program gives.
Method: codes are literals in a few forms; the sources are read for these, the page and the two tables that it refers to for
their first columns."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GIVEN = re.compile(r'(?:\.code = |Reason(?: \w+)?\{\s*|fail\(live,\s*|of_\.id,\s*\{|TrainError\(\s*|failure\(|warning\(\s*|throw_problems\([^;]{0,400}?)"([a-z]+(?:_[a-z]+)*)"')
WORDS_OF_ERRORS = re.compile(r"^    ([a-z_]+)(?=,? )", re.MULTILINE)
LIMITS = re.compile(r"limit_rows\{\{(.*?)\}\};", re.DOTALL)
ROW = re.compile(r"^\| ((?:`[a-z_]+`(?:, )?)+) \|", re.MULTILINE)
PAGES = ("docs/errors.md", "docs/formats.md", "docs/queue.md")


def sources():
    for folder in ("api", "server", "scheduler", "executor"):
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix in (".cpp", ".h") and file.name != "document_examples.cpp":
                yield file


def described(page):
    return {code for row in ROW.findall((ROOT / page).read_text()) for code in re.findall(r"`([a-z_]+)`", row)}


class ErrorCodes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.texts = {file: file.read_text() for file in sources()}
        errors = (ROOT / "api/base/error.h").read_text()
        words = errors[errors.index("enum class ErrorCode {"):]
        cls.words = set(WORDS_OF_ERRORS.findall(words[:words.index("};")]))

    def test_every_code_is_described(self):
        given = {code: file.relative_to(ROOT).as_posix() for file, text in self.texts.items() for code in GIVEN.findall(text)}
        limits = LIMITS.search((ROOT / "scheduler/sweeps/coordinator.cpp").read_text())[1]
        given.update(dict.fromkeys(re.findall(r'"([a-z_]+)"', limits), "scheduler/sweeps/coordinator.cpp"))
        settled = re.findall(r'return \{"([a-z_]+)"', (ROOT / "scheduler/store/settlement.cpp").read_text())
        given.update(dict.fromkeys(settled, "scheduler/store/settlement.cpp"))
        self.assertGreater(len(given), 80)    # the forms are still those of the sources
        self.assertGreater(len(self.words), 5)
        known = set().union(*map(described, PAGES), re.findall(r"`(\w+)` \(", (ROOT / "docs/errors.md").read_text()), {"backfill"})
        missing = {code: file for code, file in {**dict.fromkeys(self.words, "api/base/error.h"), **given}.items() if code not in known}
        self.assertEqual(missing, {}, "docs/errors.md describes every code")

    def test_every_code_that_is_described_is_given(self):
        literals = {code for text in self.texts.values() for code in re.findall(r'"([a-z_]+)"', text)}
        self.assertEqual(described("docs/errors.md") - literals - self.words, set())


if __name__ == "__main__":
    unittest.main()
