"""Runs test methods of one class, `file.Class` or `file.Class.method`. Exit code 77: all of them were skipped."""
import sys
import unittest

SKIPPED = 77

if __name__ == "__main__":
    result = unittest.main(module=None, exit=False, verbosity=2).result
    if not result.wasSuccessful() or not result.testsRun:
        sys.exit(1)
    sys.exit(SKIPPED if len(result.skipped) == result.testsRun else 0)
