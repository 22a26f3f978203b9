#!/usr/bin/env python3
"""Goal: the site that docs/site/build.py makes is whole: every link and anchor leads somewhere, nothing comes from another
host, nothing is inline, and users are sent to the contributors' pages by one entry alone.
Method: the site is built into a folder and its pages are parsed. Exit code 77: Debian's python3-markdown is not here."""
import html.parser
import json
import pathlib
import posixpath
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHONS = ("/usr/bin/python3", sys.executable)
DASHBOARD = ".."    # what is above /docs


def python_with_markdown():
    for python in PYTHONS:
        if pathlib.Path(python).exists() and subprocess.run([python, "-c", "import markdown"], capture_output=True).returncode == 0:
            return python
    return None


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loaded, self.problems, self.inside = set(), [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if "id" in given:
            if given["id"] in self.ids:
                self.problems.append(f"twice: {given['id']}")
            self.ids.add(given["id"])
        if tag in ("main", "nav"):
            self.inside.append(tag)
        if tag == "a" and "href" in given:
            self.links.append((given["href"], "main" in self.inside))
        self.loaded += [given[name] for name in ("src", "href") if tag in ("script", "link", "img") and name in given]
        if tag == "style" or "style" in given or any(name.startswith("on") for name in given) or (tag == "script" and "src" not in given):
            self.problems.append(f"inline: {tag}")

    def handle_endtag(self, tag):
        if tag in ("main", "nav"):
            self.inside.remove(tag)


class DocumentationSite(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        subprocess.run([cls.python, "-B", ROOT / "docs/site/build.py", "--out", folder, "--source", folder / "site.cpp"], check=True)
        cls.folder = folder
        cls.pages = {file.relative_to(folder).as_posix(): Page(file.read_text()) for file in folder.rglob("*.html")}

    def test_every_page_of_the_repository_is_there(self):
        self.assertGreater(len(self.pages), 60)
        for file in (ROOT / "docs").glob("*.md"):
            name = "index" if file.stem == "README" else file.stem
            self.assertIn(f"{name}.html", self.pages)
            self.assertGreaterEqual(len(self.pages[f"{name}.html"].ids), 1)

    def test_types_of_answers_lead_to_their_codes(self):
        self.assertLessEqual({"not_found", "invalid_spec", "disk_full"}, set(self.pages["errors.html"].ids))

    def test_every_link_and_anchor_leads_somewhere(self):
        for path, page in self.pages.items():
            self.assertEqual(page.problems, [], path)
            for link, _ in page.links:
                if re.match(r"[a-z]+:", link):
                    continue
                target, _, anchor = link.partition("#")
                there = posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) if target else path
                if there == DASHBOARD:
                    continue
                self.assertTrue((self.folder / there).is_file(), f"{path}: {link}")
                if anchor:
                    self.assertIn(anchor, self.pages[there].ids, f"{path}: {link}")

    def test_nothing_comes_from_another_host(self):
        for path, page in self.pages.items():
            self.assertEqual([one for one in page.loaded if re.match(r"[a-z]+:|//", one)], [], path)
        for name in ("docs.css", "docs.js"):
            self.assertNotRegex((self.folder / name).read_text(), r"https?://|@import|url\(")

    def test_users_are_sent_to_contributors_by_one_entry_alone(self):
        for path, page in self.pages.items():
            if "/" in path and not path.startswith("examples/"):
                continue
            within = [link for link, in_main in page.links if in_main and "contributing/" in link]
            self.assertLessEqual(set(within), {"contributing/index.html"} if path in ("index.html", "start.html") else set(), path)

    def test_the_search_finds_sections(self):
        rows = json.loads((self.folder / "search.json").read_text())
        self.assertIn("sweeps.html#promote-a-trial", [row[2] for row in rows])
        for _, _, address, _ in rows:
            page, _, anchor = address.partition("#")
            self.assertIn(anchor, self.pages[page].ids)

    def test_the_source_has_the_bytes_of_the_files(self):
        source = (self.folder / "site.cpp").read_text()
        number = re.search(r'Asset\{"/docs/docs\.css", \{file_(\d+), (\d+)\}', source)
        pieces = re.search(rf'file_{number[1]}\[\] =\n(.*?);\n', source, re.DOTALL)[1]
        text = "".join(re.findall(r'^    "(.*)"$', pieces, re.MULTILINE))
        found = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text).encode("latin-1")
        self.assertEqual((found, int(number[2])), ((self.folder / "docs.css").read_bytes(),) + ((self.folder / "docs.css").stat().st_size,))


if __name__ == "__main__":
    DocumentationSite.python = python_with_markdown()
    if DocumentationSite.python is None:
        sys.exit(77)
    unittest.main()
