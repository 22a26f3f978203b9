#!/usr/bin/env python3
"""Makes the documentation site that slipwayd serves at /docs: a page for each Markdown file, as files (--out FOLDER) or as
a C++ source with their bytes (--source FILE).

The Markdown files stay what they are on a forge: links between them become links between pages, links to examples become
links to copies of them, and what else of the repository is named has no page and becomes plain text. The navigation is
read from the tables of docs/README.md and docs/contributing/README.md, so a page that they do not list is an error.
Nothing comes from another host, and nothing is inline: the pages live under the policy of the dashboard."""
import argparse
import html
import json
import pathlib
import posixpath
import re
import sys

import markdown
from markdown.extensions.toc import TocExtension
from markdown.extensions.tables import TableExtension
from markdown.treeprocessors import Treeprocessor

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# Where a page that is not in docs/ is found.
OUTSIDE = {"README.md": "start.html", "CHANGELOG.md": "changes.html"}
ASSETS = ("docs.css", "docs.js")
USERS, CONTRIBUTORS, DECISIONS = "users", "contributors", "decisions"
SNIPPET_CHARACTERS = 1200    # of a section that can be searched

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} - Slipway</title>
<link rel="stylesheet" href="{up}docs.css">
<script src="{up}docs.js" defer data-root="{up}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<header><a class="brand" href="{up}index.html">Slipway documentation</a>
<form role="search"><input type="search" aria-label="Search the documentation" placeholder="Search" autocomplete="off"></form>
<a href="{up}../">Dashboard</a></header>
<div class="columns">
<details class="pages"><summary>Pages</summary><nav aria-label="Pages">{navigation}</nav></details>
<main id="content"><ol class="found" hidden></ol><article>{body}</article></main>
{contents}</div>
</body>
</html>
"""


class Failed(Exception):
    pass


def slug(text, separator="-"):
    """The anchor of a heading, as forges make it."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", separator)


def find_pages():
    """Path of each Markdown file in the repository -> path of its page below /docs."""
    pages = {}
    for file in sorted((ROOT / "docs").rglob("*.md")):
        path = file.relative_to(ROOT).as_posix()
        page = path.removeprefix("docs/").removesuffix(".md")
        pages[path] = (posixpath.join(posixpath.dirname(page), "index") if posixpath.basename(page) == "README" else page) + ".html"
    return {**OUTSIDE, **pages}


def section_of(path):
    if path.startswith("docs/decisions/"):
        return DECISIONS
    return CONTRIBUTORS if path.startswith("docs/contributing/") else USERS


def find_files(pages):
    """Files beside the pages that they link to: the examples."""
    folders = {posixpath.dirname(path) for path in pages if path.startswith("docs/examples/")}
    return {file.relative_to(ROOT).as_posix(): file.relative_to(ROOT / "docs").as_posix()
            for folder in folders for file in sorted((ROOT / folder).iterdir()) if file.suffix in (".json", ".awk")}


class Links(Treeprocessor):
    """Turns links of the repository into links of the site."""

    def __init__(self, md, path, targets):
        super().__init__(md)
        self.path, self.targets = path, targets

    def run(self, root):
        here = posixpath.dirname(self.targets[self.path])
        for element in root.iter("a"):
            target, _, anchor = element.get("href", "").partition("#")
            if re.match(r"[a-z]+:", target) or not target:
                continue
            there = posixpath.normpath(posixpath.join(posixpath.dirname(self.path), target))
            if there == "docs/decisions":
                there = "docs/decisions/index"
            if there in self.targets:
                page = posixpath.relpath(self.targets[there], here or ".")
                element.set("href", page + (f"#{anchor}" if anchor else ""))
            else:    # a source of the repository: no page
                element.tag = "span"
                del element.attrib["href"]
                element.set("title", there)


def without_comments(text):
    return re.sub(r"^<!--.*?-->\n?", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors_of_codes(known):
    """The first row of a code of an error has it as its anchor: `type` of an answer leads there."""
    def row(match):
        anchor = "" if match[1] in known else f' id="{match[1]}"'
        known.add(match[1])
        return f"<tr{anchor}>\n<td><code>{match[1]}</code></td>"
    return row


def convert(path, text, targets):
    """(HTML of the body, title, headings as tokens)."""
    md = markdown.Markdown(extensions=["fenced_code", "sane_lists", TableExtension(use_align_attribute=True),
                                       TocExtension(slugify=slug, toc_depth="1-3")], output_format="html")
    md.treeprocessors.register(Links(md, path, targets), "site_links", 1)
    body = md.convert(prepared(text))
    body = body.replace("<table>", '<div class="scroll"><table>').replace("</table>", "</table></div>")
    body = re.sub(r"<tr>\n<td><code>([a-z_]+)</code></td>", anchors_of_codes(set()), body) if path == "docs/errors.md" else body
    headings = md.toc_tokens
    title = html.unescape(headings[0]["name"]) if headings else path
    return body, title, headings


def prepared(text):
    """Without comments, and with an empty line before each list: a forge needs none, this converter does."""
    parts = re.split(r"(?ms)(^```.*?^```$)", without_comments(text))
    for index in range(0, len(parts), 2):    # the others are code
        parts[index] = re.sub(r"(?m)^((?![-*|>]|\d+\. |\s).+)\n(- )", r"\1\n\n\2", parts[index])
    return "".join(parts)


def tables_of(path):
    """The navigation that a README.md has: (heading, [(title, path of the page in the repository)])."""
    groups, heading = [], ""
    for line in (ROOT / path).read_text().splitlines():
        if match := re.match(r"##+ (.+)", line):
            heading = match[1]
        elif match := re.match(r"\| \[([^\]]+)\]\(([^)#]+)\) \|", line):
            there = posixpath.normpath(posixpath.join(posixpath.dirname(path), match[2]))
            if not groups or groups[-1][0] != heading:
                groups.append((heading, []))
            groups[-1][1].append((match[1], there))
    return groups


def navigation_of(pages):
    """The three sections; every page is in one of them."""
    users = tables_of("docs/README.md")
    contributors = tables_of("docs/contributing/README.md")
    listed = {path for _, rows in users + contributors for _, path in rows}
    more = [path for path in pages if section_of(path) == CONTRIBUTORS and path not in listed and not path.endswith("README.md")]
    contributors = [("For contributors", [("contributing", "docs/contributing/README.md")] +
                     [row for _, rows in contributors for row in rows if row[1] in pages and section_of(row[1]) == CONTRIBUTORS] +
                     [(posixpath.basename(path).removesuffix(".md").replace("-", " "), path) for path in more])]
    missing = [path for path in pages if section_of(path) == USERS and path not in listed
               and path not in ("docs/README.md", *OUTSIDE)]
    if missing:
        raise Failed(f"docs/README.md lists every page for users, but not {', '.join(missing)}")
    return {USERS: users, CONTRIBUTORS: contributors}


def navigation_html(navigation, section, path, targets):
    here = posixpath.dirname(targets[path])

    def link(title, there):
        current = ' aria-current="page"' if there == path else ""
        return f'<li><a href="{posixpath.relpath(targets[there], here or ".")}"{current}>{html.escape(title)}</a></li>'

    groups = navigation[USERS if section == USERS else CONTRIBUTORS]
    text = "".join(f"<h2>{html.escape(heading)}</h2><ul>{''.join(link(*row) for row in rows)}</ul>" for heading, rows in groups)
    other = [("Changes", "CHANGELOG.md"), ("For contributors", "docs/contributing/README.md")] if section == USERS else \
        [("Decisions", "docs/decisions/index"), ("For users", "docs/README.md")]
    return text + f"<h2>More</h2><ul>{''.join(link(*row) for row in other)}</ul>"


def contents_html(headings):
    rows = [child for heading in headings for child in heading["children"]]
    if len(rows) < 2:
        return ""
    return '<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>' + "".join(
        f'<li><a href="#{row["id"]}">{row["name"]}</a></li>' for row in rows) + "</ul></nav>"


def text_of(body):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", body))).strip()


def search_rows(body, title, url):
    """A row for each section of a page: [title, heading, address, text]."""
    rows = []
    for part in re.split(r'(?=<h[123] id=")', body):
        match = re.match(r'<h[123] id="([^"]*)">(.*?)</h[123]>', part, re.DOTALL)
        if match:
            rows.append([title, text_of(match[2]), f"{url}#{match[1]}", text_of(part[match.end():])[:SNIPPET_CHARACTERS]])
    return rows


def decisions_index(pages):
    rows = []
    for path in pages:
        if section_of(path) == DECISIONS:
            title = (ROOT / path).read_text().splitlines()[0].lstrip("# ")
            rows.append(f"- [{title}]({posixpath.basename(path)})")
    return "# Decisions\n\nOne choice a page: the reasons, and what was tried instead.\n\n" + "\n".join(rows) + "\n"


def build():
    """Path below /docs -> bytes."""
    pages = find_pages()
    texts = {path: (ROOT / path).read_text() for path in pages}
    texts["docs/decisions/index"] = decisions_index(pages)
    pages["docs/decisions/index"] = "decisions/index.html"
    files = find_files(pages)
    targets = {**pages, **files}
    navigation = navigation_of([path for path in pages if path != "docs/decisions/index"])
    site, search = {}, []
    for path, text in texts.items():
        body, title, headings = convert(path, text, targets)
        section = section_of(path)
        up = "../" * pages[path].count("/")
        page = PAGE.format(title=html.escape(title), up=up, body=body, contents=contents_html(headings),
                           navigation=navigation_html(navigation, section, path, targets))
        site[pages[path]] = page.encode()
        if section == USERS and path != "CHANGELOG.md":
            search += search_rows(body, title, pages[path])
    for path, target in files.items():
        site[target] = (ROOT / path).read_bytes()
    for name in ASSETS:
        site[name] = (HERE / name).read_bytes()
    site["search.json"] = json.dumps(search, ensure_ascii=False, separators=(",", ":")).encode()
    return site


def literal(data):
    """Bytes as C++ string literals, 4000 a piece: compilers read long lines slowly."""
    pieces = []
    for start in range(0, len(data), 4000):
        text = "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else f"\\{byte:03o}" for byte in data[start:start + 4000])
        pieces.append(f'    "{text}"')
    return "\n".join(pieces) or '    ""'


def source_of(site):
    constants, rows = [], []
    for number, (path, data) in enumerate(sorted(site.items())):
        constants.append(f"const char file_{number}[] =\n{literal(data)};\n")
        rows.append(f'    Asset{{"/docs/{path}", {{file_{number}, {len(data)}}}}},\n')
    return ('#include "web/assets.h"\n\n#include <array>\n\nnamespace slipway {\nnamespace {\n\n' + "".join(constants) +
            "\nconst std::array files{\n" + "".join(rows) + "};\n\n}    // namespace\n\n"
            "std::span<const Asset> documentation_assets() { return files; }\n\n}    // namespace slipway\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, help="folder for the files of the site")
    parser.add_argument("--source", type=pathlib.Path, help="C++ source that defines documentation_assets()")
    options = parser.parse_args()
    try:
        site = build()
    except Failed as error:
        sys.exit(f"docs/site/build.py: {error}")
    if options.source:
        beside = options.source.with_suffix(".new")
        beside.write_text(source_of(site))
        beside.replace(options.source)
    for path, data in site.items() if options.out else ():
        file = options.out / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


if __name__ == "__main__":
    main()
