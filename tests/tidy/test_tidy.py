#!/usr/bin/env python3
"""Goal: each rule of tidy.py finds its problem and leaves clean code alone. Method: tiny trees in a temporary folder."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TIDY = pathlib.Path(__file__).with_name("tidy.py")


def run(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, TIDY, "--root", folder], capture_output=True, text=True)
        return done.returncode, done.stdout


HEADER = "#pragma once\n/// Says what it is.\n"
MODULES = {
    "api/base/CMakeLists.txt": "module(NAME api/base)",
    "executor/tensor/CMakeLists.txt": "module(NAME executor/tensor)",
    "executor/graph/CMakeLists.txt": "module(NAME executor/graph USES executor/tensor)",
    "server/http/CMakeLists.txt": "module(NAME server/http)",
    "tests/support/CMakeLists.txt": "module(NAME tests/support/postgres)",
}

CASES = {
    "a_clean_tree_passes": ({"executor/graph/a.h": HEADER + '#include "executor/tensor/b.h"\n'}, ""),
    "an_include_upwards_is_found": ({"executor/tensor/a.h": HEADER + '#include "executor/graph/b.h"\n'}, "may not include from executor/graph"),
    "a_fenced_library_is_found": ({"executor/graph/a.h": HEADER + "#include <libpq-fe.h>\n"}, "only in scheduler/store"),
    "server_and_executor_stay_apart": ({"server/http/CMakeLists.txt": "module(NAME server/http USES executor/tensor)",
                                        "server/http/a.h": HEADER + '#include "executor/tensor/b.h"\n'}, "server may not include from executor"),
    "the_server_may_submit": ({"server/http/CMakeLists.txt": "module(NAME server/http USES scheduler/submission)", "server/http/a.h": HEADER + '#include "scheduler/submission/b.h"\n',
                               "scheduler/submission/CMakeLists.txt": "module(NAME scheduler/submission)"}, ""),
    "the_server_may_not_place": ({"server/http/CMakeLists.txt": "module(NAME server/http USES scheduler/placement)", "server/http/a.h": HEADER + '#include "scheduler/placement/b.h"\n',
                                  "scheduler/placement/CMakeLists.txt": "module(NAME scheduler/placement)"}, "server may not include from scheduler"),
    "a_ban_is_found": ({"executor/graph/a.h": HEADER + "int* p = new int;\n"}, "make_unique"),
    "a_range_of_a_dying_temporary_is_found": ({"executor/graph/a.h": HEADER + 'for (int x : get().at("items")) ++y;\n'}, "give the temporary a name"),
    "a_range_of_a_dying_temporary_on_two_lines_is_found": ({"executor/graph/a.h": HEADER + 'for (const int& x :\n     get("a" + f(1)).at("items"))\n    ++y;\n'}, "executor/graph/a.h:3: the range of this loop"),
    "a_range_of_a_part_of_a_temporary_is_found": ({"executor/graph/a.h": HEADER + "for (auto& [k, v] :\n     get(1).items())\n    ++y;\n"}, "a part of what get() gives"),
    "a_range_of_a_name_is_left_alone": ({"executor/graph/a.h": HEADER + 'for (const int& x :\n     named.at("items").at(f(g(1).back())).items())\n    g(f().at(2));\nfor (int i = f().at(0); i < 2; ++i) ++y;\n'}, ""),
    "a_ban_in_a_comment_is_not_one": ({"executor/graph/a.h": HEADER + "// a new idea\n"}, ""),
    "a_long_line_is_found": ({"executor/graph/a.h": HEADER + "// " + "x" * 100 + "\n"}, "longer than 100"),
    "a_long_function_is_found": ({"executor/graph/a.h": HEADER + "inline int f(int x) {\n" + "    ++x;\n" * 71 + "}\n"}, "function has 71 lines"),
    "a_long_header_is_found": ({"executor/graph/a.h": HEADER + "\n" * 300}, "more than 300"),
    "a_bare_header_is_found": ({"executor/graph/a.h": "#pragma once\nint x;\n"}, "explains itself"),
    "a_missing_guard_is_found": ({"executor/graph/a.h": "/// x\n"}, "#pragma once"),
    "a_dead_link_is_found": ({"docs/a.md": "[x](missing.md)\n"}, "dead link"),
    "a_dead_anchor_is_found": ({"docs/a.md": "# One\n[x](#two)\n"}, "no heading #two"),
    "a_live_link_is_left_alone": ({"docs/a.md": "# One two\n[x](#one-two)\n"}, ""),
    "a_page_that_code_names_and_is_gone_is_found": ({"executor/graph/a.h": HEADER + "/// As docs/gone.md says.\n"}, "executor/graph/a.h:3: there is no docs/gone.md"),
    "a_decision_that_code_names_and_is_gone_is_found": ({"bench/a.py": "# (docs/decisions/0099)\n"}, "there is no docs/decisions/0099"),
    "a_page_and_a_decision_that_are_there_are_left_alone": ({"bench/a.py": "# docs/a.md, docs/decisions/0001, docs/a.md#one\n",
                                                             "docs/a.md": "", "docs/decisions/0001-x.md": ""}, ""),
    "a_file_that_a_page_names_and_is_gone_is_found": ({"docs/a.md": "Read `executor/graph/gone.cpp` first.\n"}, "docs/a.md:1: there is no executor/graph/gone.cpp"),
    "a_folder_that_a_page_names_and_is_gone_is_found": ({"api/README.md": "In `api/gone/`.\n"}, "there is no api/gone/"),
    "files_and_placeholders_that_a_page_names_are_left_alone": ({"docs/a.md": "`api/base`, `tests/support/postgres`, `api/base/CMakeLists.txt`, `api/NAME.cpp`, `api/*.cpp`, `docs/a.md: x`, `build/x`\n"}, ""),
    "the_changelog_may_name_what_is_gone": ({"CHANGELOG.md": "`api/gone.cpp` and docs/gone.md are gone.\n"}, ""),
    "another_spelling_is_found": ({"docs/a.md": "Make a data set first.\n"}, "docs/a.md:1: \"data set\" is written dataset"),
    "a_word_of_ours_is_found": ({"docs/a.md": "The upkeep of the queue.\n"}, "docs/a.md:1: \"upkeep\" is written maintenance"),
    "a_path_below_the_home_folder_is_found": ({"server/http/a.h": '#pragma once\nauto x = home / "store/uploads";\n'}, "server/http/a.h:2: ask ArtifactStore"),
    "what_is_history_keeps_its_words": ({"CHANGELOG.md": "A data set.\n", "docs/decisions/0001-x.md": "A data set.\n"}, ""),
    "a_top_level_folder_without_a_readme_is_found": ({"README.md": "", "server/README.md": "`server/http`", "executor/README.md": "`executor/tensor` `executor/graph`"}, "api/README.md:1: each top-level folder"),
    "a_module_that_the_readme_forgets_is_found": ({"README.md": "", "api/README.md": "`api/base`", "server/README.md": "`server/http`", "executor/README.md": "`executor/graph`"}, "executor/README.md:1: module executor/tensor is not named"),
    "readmes_that_name_all_modules_pass": ({"README.md": "", "api/README.md": "`api/base`", "server/README.md": "`server/http`", "executor/README.md": "`executor/tensor` `executor/graph`", "tests/README.md": "`tests/support/postgres`"}, ""),
    "a_room_without_tests_is_found": ({"executor/graph/a.cpp": "\n"}, "no test in tests/executor/graph"),
    "a_requirement_with_its_test_passes": ({"docs/contributing/requirements.md": "| 1.1 | x | done | `a/test_b.cpp: Some.thing` |\n",
                                            "tests/a/test_b.cpp": "TEST_F(Some, thing) {\n}\n"}, ""),
    "a_requirement_whose_test_is_gone_is_found": ({"docs/contributing/requirements.md": "| 1.1 | x | left | y, but `a/test_b.cpp: Some.thing` |\n",
                                                   "tests/a/test_b.cpp": "TEST_F(Some, thing_else) {\n}\n"}, "no test Some.thing in"),
    "a_python_test_that_is_gone_is_found": ({"docs/contributing/requirements.md": "| 1.1 | x | done | `a/test_b.py: Some.test_c` |\n",
                                             "tests/a/test_b.py": "class Some:\n    def test_d(self):\n"}, "no test Some.test_c in"),
    "a_requirement_done_without_a_test_is_found": ({"docs/contributing/requirements.md": "| 1.1 | x | done | surely |\n"}, "names a test"),
    "a_requirement_without_a_state_is_found": ({"docs/contributing/requirements.md": "| 1.1 | x | almost | y |\n"}, "has four cells"),
    "an_exception_silences_one_problem": ({"executor/graph/a.h": HEADER + "int* p = new int;\n",
                                           "tests/tidy/exceptions.txt": "executor/graph/a.h: make_unique: the test says so\n"}, ""),
    "a_stale_exception_is_found": ({"tests/tidy/exceptions.txt": "executor/graph/a.h: make_unique: gone\n"}, "no problem matches"),
}


class Tidy(unittest.TestCase):
    pass


def case(files, expected):
    def test(self):
        status, output = run({**MODULES, **files})
        if expected:
            self.assertIn(expected, output)
            self.assertEqual(status, 1)
        else:
            self.assertEqual((status, output), (0, ""))
    return test


for name, (files, expected) in CASES.items():
    setattr(Tidy, f"test_{name}", case(files, expected))

if __name__ == "__main__":
    unittest.main()
