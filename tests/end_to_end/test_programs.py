"""Goal: a fault in memory does not easily become someone's program. Method: reads the programs that were built."""
import re
import subprocess
import unittest

from service import BIN

PROGRAMS = ("slipwayd", "slipway", "slipway-executor", "slipway-confine", "slipway-slurm-start")
LIBRARIES = ("slipway-compiler.so", "slipway-collectives.so")    # loaded by programs


def readelf(option, program):
    return subprocess.run(["readelf", "-W", option, BIN / program], capture_output=True, text=True, check=True).stdout


def imported(program):
    """Names of the functions that it takes from libraries."""
    lines = (line.split() for line in readelf("--dyn-syms", program).splitlines())
    return {words[7].split("@")[0] for words in lines if len(words) > 7 and words[6] == "UND"}


class Programs(unittest.TestCase):
    def test_code_lies_at_no_fixed_address(self):
        for program in PROGRAMS:
            self.assertRegex(readelf("-h", program), r"Type:\s+DYN", program)
            self.assertIn("PIE", readelf("-d", program), program)

    def test_tables_of_functions_are_closed_before_main(self):
        for program in (*PROGRAMS, *LIBRARIES):
            self.assertIn("GNU_RELRO", readelf("-l", program), program)
            self.assertIn("BIND_NOW", " ".join(re.findall(r"BIND_NOW|Flags: .*", readelf("-d", program))), program)

    def test_stacks_are_not_run(self):
        for program in (*PROGRAMS, *LIBRARIES):
            stack = re.search(r"GNU_STACK.*", readelf("-l", program))
            self.assertRegex(stack[0], r" RW  ", program)
            self.assertNotRegex(readelf("-l", program), r"LOAD.* RWE ", program)

    def test_stacks_have_canaries_and_copies_are_checked(self):
        for program in (*PROGRAMS, *LIBRARIES):
            names = imported(program)
            self.assertTrue("__stack_chk_fail" in names, program)
            # The small one copies nothing whose size the compiler knows.
            checked = [name for name in names if re.fullmatch(r"__\w+_chk", name)]
            self.assertTrue(checked or program == "slipway-confine", program)

    def test_a_library_shows_one_function(self):
        for library, function in zip(LIBRARIES, ("slipway_compile", "slipway_join")):
            lines = (line.split() for line in readelf("--dyn-syms", library).splitlines())
            shown = {words[7] for words in lines if len(words) > 7 and words[0].endswith(":") and words[6] != "UND"}
            self.assertEqual(shown - {"Name"}, {function})


if __name__ == "__main__":
    unittest.main()
