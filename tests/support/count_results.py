#!/usr/bin/env python3
"""Counts tests: count_results.py JUNIT FOLDER prints "PASSED FAILED SKIPPED", then a line for each skipped test.
JUNIT is what `ctest --output-junit` wrote. A case of ctest is one or more tests: those of the file in FOLDER that has its name
(slashes are underscores); without such a file it is one test."""
import collections
import pathlib
import sys
import xml.etree.ElementTree as tree


def outcome(test):
    """Of a test that GoogleTest, or run_class.py in its form, has written."""
    if test.get("status") == "notrun":
        return None    # disabled
    if test.find("failure") is not None:
        return "failed"
    return "skipped" if test.find("skipped") is not None or test.get("result") == "skipped" else "passed"


def outcome_of_case(case):
    reason = case.find("skipped")
    # A case that skips itself says so; one that ctest could not start has failed.
    if case.get("status") == "disabled":
        return None
    if case.get("status") == "run":
        return "passed"
    return "skipped" if reason is not None and "SKIP" in (reason.get("message") or "").upper() else "failed"


def count(junit, folder):
    found, skipped = collections.Counter(), []
    for case in tree.parse(junit).getroot().iter("testcase"):
        name, whole = case.get("name"), outcome_of_case(case)
        file = pathlib.Path(folder) / (name.replace("/", "_") + ".xml")
        tests = [(f"{name}.{test.get('name')}", outcome(test)) for test in tree.parse(file).getroot().iter("testcase")
                 ] if file.is_file() else [(name, whole)]
        # One that passes all its tests and fails then, such as with a leak.
        if whole == "failed" and not any(each == "failed" for _, each in tests):
            tests.append((name, "failed"))
        for test, each in tests:
            found[each] += each is not None
            if each == "skipped":
                skipped.append(test)
    return found, skipped


if __name__ == "__main__":
    found, skipped = count(sys.argv[1], sys.argv[2])
    print(found["passed"], found["failed"] or int(not sum(found.values())), found["skipped"])
    print("\n".join(sorted(skipped)))
