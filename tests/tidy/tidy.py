#!/usr/bin/env python3
"""Checks what a machine can check about the tree, so that no review has to. Prints one line per problem.

usage: tests/tidy/tidy.py [--root DIR]
"""
import argparse
import pathlib
import re
import subprocess
import sys

MODULES = ("api", "server", "scheduler", "executor", "migrations", "web", "tests", "bench")
HEADER_LINES_MAX, SOURCE_LINES_MAX, FUNCTION_LINES_MAX, COLUMNS_MAX, FILE_BYTES_MAX = 300, 600, 70, 100, 1 << 20

# Outside library -> the only modules that may include it, and the reason a message can give.
ONLY_IN = [
    (re.compile(r"libpq-fe\.h|libpq/"), ("scheduler/store",)),
    (re.compile(r"boost/"), ("api/http", "server/http", "server/main")),
    (re.compile(r"(oneapi/)?dnnl"), ("executor/codegen/onednn", "bench")),
    (re.compile(r"llvm/"), ("executor/codegen/llvm", "tests/executor/codegen/llvm")),
    (re.compile(r"gloo/"), ("executor/collectives/gloo", "bench")),
    (re.compile(r"unicode/"), ("executor/data", "executor/text")),
    (re.compile(r"sentencepiece"), ("executor/text",)),
    (re.compile(r"spdlog/"), ("api/base",)),
    (re.compile(r"toml\+\+/"), ("api/client",)),
    # Who starts and watches processes knows the launcher's interface alone; main chooses the launcher.
    (re.compile(r"scheduler/launcher/(?!(launcher|process_id|private_folder)\.h)"), ("scheduler/launcher", "server/main")),
]

# Word -> what to use instead. Applied to C++ outside tests' fixtures, after comments and strings are gone.
BANS = [
    (re.compile(r"\bnew\s+[A-Za-z_:]"), "make_unique, make_shared or a value"),
    (re.compile(r"\bdelete\s+[a-z_(]|\bdelete\[\]"), "an owner that frees it"),
    (re.compile(r"\bs?rand\s*\("), "RandomStream or random_bytes"),
    (re.compile(r"\bsleep_for\b|\bsleep_until\b|\busleep\s*\("), "a condition variable or a timer"),
    (re.compile(r"\bsystem_clock::now\b"), "a Clock argument"),
    (re.compile(r"\bstd::cout\b"), "fmt::print"),
    (re.compile(r"using namespace std\s*;"), "the names themselves"),
    (re.compile(r"catch\s*\(\s*\.\.\.\s*\)"), "catching what can happen; the seams are in exceptions.txt"),
    (re.compile(r"\bassert\s*\("), "check(), which stays in release builds"),
]

# The modules of another side that a side may include all the same.
ALLOWED_EDGES = {"server": ("scheduler/artifacts", "scheduler/cross_validation", "scheduler/search", "scheduler/store", "scheduler/submission",
                            "scheduler/sweeps")}
FORBIDDEN_EDGES = {"server": ("executor", "scheduler"), "scheduler": ("server", "executor"), "executor": ("server", "scheduler")}


def module_edges(root):
    """Module -> modules it may include, read from the module(NAME ... USES ...) lines that also make the targets."""
    edges = {}
    for file in root.rglob("CMakeLists.txt"):
        if "build" in file.relative_to(root).parts:
            continue
        text = re.sub(r"#.*", "", file.read_text())
        for call in re.finditer(r"\b(module|program|benchmark|module_test)\s*\(([^)]*)\)", text):
            words = call[2].split()
            name = words[words.index("NAME") + 1] if call[1] == "module" else str(file.parent.relative_to(root))
            uses = []
            if "USES" in words:
                for word in words[words.index("USES") + 1:]:
                    if word.isupper():
                        break
                    uses.append(word)
            edges.setdefault(name, set()).update(uses)
    return edges


def reachable(edges):
    """A module may include what the modules it uses may include: CMake's PUBLIC links say the same."""
    closed = {}

    def visit(module, seen):
        for used in edges.get(module, ()):
            if used not in seen:
                seen.add(used)
                visit(used, seen)
        return seen

    for module in edges:
        closed[module] = visit(module, set()) | {module, "api/base"}
    return closed


def module_of(path, edges):
    """The innermost folder of `path` that is a module."""
    parts = pathlib.PurePosixPath(path).parent.parts
    for length in range(len(parts), 0, -1):
        module = "/".join(parts[:length])
        if module in edges:
            return module
    return None


def without_comments(text):
    """The code alone, line numbers kept: comments and the insides of strings become blanks."""
    pattern = r'R"\w*\((?:.|\n)*?\)\w*"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*(?:.|\n)*?\*/'
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def include_problems(path, text, edges, may_include):
    home = module_of(path, edges)
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*["<](.+?)[">]', line)
        if not match:
            continue
        included = match[1]
        for library, modules in ONLY_IN:
            if library.match(included) and not path.startswith(tuple(f"{module}/" for module in modules)) \
                    and not path.startswith("tests/"):
                yield number, f"{included} may be included only in {', '.join(modules)}"
        there = module_of(included, edges)
        if home is None or there is None or path.startswith(("tests/", "bench/")):
            continue
        if there not in may_include[home]:
            yield number, f"{home} may not include from {there}: it is not in USES of its module() line"
        top, other = home.split("/")[0], there.split("/")[0]
        if other in FORBIDDEN_EDGES.get(top, ()) and there not in ALLOWED_EDGES.get(top, ()) and home != "server/main":
            yield number, f"{top} may not include from {other}"


def ban_problems(path, code):
    for number, line in enumerate(code.splitlines(), 1):
        for pattern, instead in BANS:
            if match := pattern.search(line):
                yield number, f"`{match[0].strip()}` is not used here; use {instead}"


# A call, then what gives a reference into its result. Of a temporary: C++20 lets it die before the first round of the
# loop. What at(), front() and the like give is a part of something that lives longer.
INTO_A_CALL = re.compile(r"\b(\w+)\s*(?:<[^<>]*>)?\(\)\s*(?:\.\s*(?:at|value|items|front|back|get|get_ref)\s*(?:<[^<>]*>)?\(|\[)")
GIVES_A_PART = {"at", "front", "back", "get_ref"}


def without_arguments(expression):
    """`f(a, b(c)).at(0)` as `f().at()`."""
    inner = re.compile(r"\((?!\))(?:[^()]|\(\))*\)")
    while inner.search(expression):
        expression = inner.sub("()", expression)
    return expression


def ranges_of_loops(code):
    """(line, range expression) of each loop over a range, over however many lines it is written."""
    for opening in re.finditer(r"\bfor\s*\(", code):
        depth, begin, end = 1, None, opening.end()
        while depth and end < len(code):
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(code[end], 0)
            if depth == 1 and code[end] == ";":
                begin = None if begin is None else end + 1    # for (init; x : range)
            if depth == 1 and code[end] == ":" and ":" not in (code[end - 1], code[end + 1:end + 2]) and begin is None:
                begin = end + 1
            end += 1
        if begin is not None:
            yield code.count("\n", 0, opening.start()) + 1, code[begin:end - 1]


def range_problems(path, code):
    for number, expression in ranges_of_loops(code):
        for match in INTO_A_CALL.finditer(without_arguments(expression)):
            if match[1] not in GIVES_A_PART:
                yield number, f"the range of this loop is a part of what {match[1]}() gives: " \
                    "give the temporary a name, C++20 lets it die before the first round"


def size_problems(path, text, code):
    lines = text.splitlines()
    limit = HEADER_LINES_MAX if path.endswith(".h") else SOURCE_LINES_MAX
    if len(lines) > limit:
        yield len(lines), f"file has {len(lines)} lines, more than {limit}"
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS_MAX and not (path.startswith("tests/") and '"' in line):
            yield number, f"line is longer than {COLUMNS_MAX} columns"
        if "FIXME" in line:
            yield number, "FIXME must not reach the main branch"
    # A function body opens at column 0 (or one class level) and closes at the same indentation: clang-format says so.
    opened = None
    for number, line in enumerate(code.splitlines(), 1):
        if opened is None and re.match(r"(    )?\S.*\)( const| noexcept| override| final)*( -> [\w:<>,\s*&]+)? \{$", line) \
                and not re.match(r"\s*(if|for|while|switch|namespace|struct|class|enum|TEST|TEST_F|TEST_P)\b", line):
            opened = (number, len(line) - len(line.lstrip()))
        elif opened and line.startswith(" " * opened[1] + "}") and len(line) - len(line.lstrip()) == opened[1]:
            if number - opened[0] - 1 > FUNCTION_LINES_MAX:
                yield opened[0], f"function has {number - opened[0] - 1} lines, more than {FUNCTION_LINES_MAX}"
            opened = None


def header_problems(path, text):
    if path.endswith(".h") and "#pragma once" not in text:
        yield 1, "a header begins with #pragma once"
    if path.endswith(".h") and path.startswith(("api/", "server/", "scheduler/", "executor/", "migrations/")) \
            and "///" not in text:
        yield 1, "a public header explains itself: no /// comment found"


def link_problems(root, path, text):
    for number, line in enumerate(text.splitlines(), 1):
        for target in re.findall(r"\]\(([^)\s]+)\)", line):
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            there = (root / path).parent / file if file else root / path
            if not there.exists():
                yield number, f"dead link: {target}"
            elif anchor and there.suffix == ".md" and anchor not in anchors(there.read_text()):
                yield number, f"dead link: no heading #{anchor} in {file or path}"


# What code, scripts and pages call a page: docs/formats.md, docs/decisions/0013.
NAMED_PAGE = re.compile(r"\bdocs/(?:decisions/\d{4}|[\w/]+\.md)\b")
# A path of this tree in a page's code span. A part in capitals is a placeholder, and so is what has other characters.
NAMED_PATH = re.compile(rf"`((?:{'|'.join((*MODULES, 'deploy', 'docs'))})/[\w./-]+)`")
PLACEHOLDER = re.compile(r"(^|/)[A-Z]{2,}(\.\w+)?(/|$)")
NAMES_PAGES = (".h", ".cpp", ".py", ".md", ".txt", ".case", ".service", ".sql", ".ts", "")    # "": a script
NAMES_WHAT_IS_GONE = ("CHANGELOG.md", "tests/tidy/test_tidy.py")


def mention_problems(root, path, text, modules):
    """Pages and files that are named in passing exist: what moves is renamed everywhere."""
    if path.startswith("docs/decisions/") or path in NAMES_WHAT_IS_GONE:
        return
    for number, line in enumerate(text.splitlines(), 1):
        named = NAMED_PAGE.findall(line) + (NAMED_PATH.findall(line) if path.endswith(".md") else [])
        for there in dict.fromkeys(named):
            is_decision = re.fullmatch(r"docs/decisions/\d{4}", there)
            if not (PLACEHOLDER.search(there) or there in modules or (root / there).exists() or (is_decision and [*root.glob(f"{there}-*")])):
                yield number, f"there is no {there}"


# One spelling, in code, messages and pages. What is applied or history stays as it was written.
SPELLINGS = [(re.compile(pattern), word) for pattern, word in (
    (r"\b[Dd]ata[ -]sets?\b", "dataset"),
    (r"\bAttemptKeeper\b|\battempt_keeper\b", "AttemptReconciler"),
    (r"(?<!slipway\.)\b[Uu]pkeep", "maintenance"),    # the leader's name in databases stays
    (r"\b(Dataset|Split)Verdict\b", "DatasetCheckResult, SplitResult"),
    (r"\bAttemptPlaces\b", "AttemptPaths"),
    (r"\bsilenced\b|_silenced_", "unresponsive"),
    (r"\bdone_said\b", "done_received"),
    (r"\bput_figure\b", "append_sample"),
    (r"\brun_alone\b", "run_local"),
    (r"\bOpCode::leaf\b|\w+_leaf\b|\bleaf_\w+|\b\w*Leaves\b|\bLeafAttributes\b", "input"),
    (r"\b[Ss]taircase|\bTriangles\b", "causal blocks, TriangularAnalysis"),
    (r"\bjoined_product|\bJoinedProduct|\bmake_apart\b", "batched_product, unbatch"),
    (r"\b[Dd]eclared networks?\b|\bDeclaredNetwork\b|nn/declared\b", "layer-list model"),
    (r"\b(un)?learnt\b|LearntSamples", "trained, excluded; or learned"),
    (r"\bCircumstances\b", "BottleneckInputs"),
    (r"\bCodeColumn\b|\bcode_columns\b", "categorical columns"),
    (r"points_left_out", "points_skipped"),
    (r"\broom_test\b|SLIPWAY_\w*ROOM", "module"),
)]
KEEPS_ITS_WORDS = ("docs/decisions/", "migrations/0", "web/dist/", *NAMES_WHAT_IS_GONE, "tests/tidy/tidy.py")


def spelling_problems(path, text):
    if path.startswith(KEEPS_ITS_WORDS):
        return
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, word in SPELLINGS:
            if pattern.search(line):
                yield number, f"\"{pattern.search(line)[0]}\" is written {word}"


# The layout of a home folder is the artifact store's: nobody else puts a path together.
ARTIFACT_FOLDER = re.compile(r"""/\s*"(store|checkpoints|datasets|uploads|reports|splits|packed|compile_cache|runs)["/]""")


def artifact_problems(path, text):
    if not path.startswith(("scheduler/", "server/")) or path.startswith("scheduler/artifacts/"):
        return
    for number, line in enumerate(text.splitlines(), 1):
        if found := ARTIFACT_FOLDER.search(line):
            yield number, f"ask ArtifactStore (scheduler/artifacts) where {found[1]} is"


def readme_problems(root, files):
    """Each top-level folder has a README.md that names its modules, in a tree that has a README.md itself."""
    modules = []
    for file in files:
        if file.endswith("/CMakeLists.txt"):
            modules += re.findall(r"^module\(NAME ([\w/]+)", (root / file).read_text(), re.M)
    for folder in sorted({file.split("/")[0] for file in files if "/" in file and file[0] != "."} if "README.md" in files else ()):
        readme = root / folder / "README.md"
        if not readme.is_file():
            yield f"{folder}/README.md", 1, "each top-level folder explains itself: no README.md"
            continue
        for module in modules:
            if module.split("/")[0] == folder and f"`{module}`" not in readme.read_text():
                yield f"{folder}/README.md", 1, f"module {module} is not named"


def anchors(text):
    headings = re.findall(r"^#+ (.+)$", text, re.M)
    explicit = set(re.findall(r'<a (?:id|name)="([^"]+)"', text))
    return explicit | {re.sub(r"[^\w\- ]", "", h.strip().lower().replace("`", "")).replace(" ", "-") for h in headings}


# A test as docs/contributing/requirements.md names it: file below tests/, suite, name.
NAMED_TEST = re.compile(r"`([\w/]+)\.(cpp|py): (\w+)\.(\w+)`")
STATES = ("done", "left", "not ours")


def requirement_problems(root, text):
    """What is called done names a test, and every test that is named exists."""
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if re.match(r"\| \d+\.\d+ \|", line):
            if len(cells) != 4 or cells[2] not in STATES or not cells[3]:
                yield number, "a requirement has four cells; the third is done, left or not ours, the fourth says why"
            elif cells[2] == "done" and not NAMED_TEST.search(cells[3]):
                yield number, "what is done names a test that shows it"
        for stem, ending, suite, name in NAMED_TEST.findall(line):
            file = root / "tests" / f"{stem}.{ending}"
            code = file.read_text() if file.exists() else ""
            written = (rf"\bTEST(_F|_P)?\(\s*{suite},\s*{name}\)" if ending == "cpp"
                       else rf"^class {suite}\b(?s:.*)^    def {name}\(")
            if not re.search(written, code, re.M):
                yield number, f"there is no test {suite}.{name} in tests/{stem}.{ending}"


def test_problems(root, files):
    """Every module with sources has a test program, its own or that of the module around it."""
    for module, _ in sorted(module_edges(root).items()):
        sources = [f for f in files if f.endswith(".cpp") and f.startswith(module + "/")]
        modules_around = ["/".join(module.split("/")[:n]) for n in range(2, module.count("/") + 2)] or [module]
        if sources and not module.startswith(("tests", "bench")) and not any(
                f.startswith(f"tests/{one}/") and f.endswith((".cpp", ".py")) for one in modules_around for f in files):
            yield f"{module}/CMakeLists.txt", 1, f"module {module} has sources and no test in tests/{module}"


def tracked_files(root):
    listed = subprocess.run(["git", "-C", str(root), "ls-files"], capture_output=True, text=True)
    if listed.returncode == 0 and listed.stdout:
        return [f for f in listed.stdout.splitlines() if (root / f).is_file()]
    return [str(f.relative_to(root)) for f in root.rglob("*") if f.is_file() and "build" not in f.relative_to(root).parts]


def exceptions(root):
    """Lines `path: words of the message: reason`; a line no problem matches is itself a problem."""
    file = root / "tests/tidy/exceptions.txt"
    lines = file.read_text().splitlines() if file.exists() else []
    return [line.split(": ", 2) for line in lines if line.strip() and not line.startswith("#")]


def all_problems(root):
    edges = module_edges(root)
    may_include = reachable(edges)
    files = tracked_files(root)
    yield from test_problems(root, files)
    yield from readme_problems(root, files)
    for path in files:
        if (root / path).stat().st_size > FILE_BYTES_MAX:
            yield path, 1, "file is over 1 MiB"
        if path.endswith((".h", ".cpp")) and path.startswith(MODULES):
            text = (root / path).read_text()
            code = without_comments(text)
            for check in (include_problems(path, text, edges, may_include), ban_problems(path, code), range_problems(path, code),
                          size_problems(path, text, code), header_problems(path, text)):
                for number, message in check:
                    yield path, number, message
        if pathlib.PurePosixPath(path).suffix in NAMES_PAGES:
            text = (root / path).read_text(errors="replace")
            for check in (mention_problems(root, path, text, edges), spelling_problems(path, text), artifact_problems(path, text)):
                for number, message in check:
                    yield path, number, message
        if path.endswith(".md"):
            for number, message in link_problems(root, path, (root / path).read_text()):
                yield path, number, message
        if path == "docs/contributing/requirements.md":
            for number, message in requirement_problems(root, (root / path).read_text()):
                yield path, number, message


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parents[2], type=pathlib.Path)
    root = parser.parse_args().root
    allowed = exceptions(root)
    used = set()
    count = 0
    for path, number, message in all_problems(root):
        hit = next((i for i, rule in enumerate(allowed) if rule[0] == path and rule[1] in message), None)
        if hit is not None:
            used.add(hit)
            continue
        count += 1
        print(f"{path}:{number}: {message}")
    for i, rule in enumerate(allowed):
        if i not in used:
            count += 1
            print(f"tests/tidy/exceptions.txt: no problem matches any more: {': '.join(rule)}")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
