"""Goal: the committed dashboard is what its sources give, and the sources hold together."""
import filecmp
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "end_to_end"))
from service import Service  # noqa: E402

WEB = pathlib.Path(__file__).resolve().parents[2] / "web"


class Build(unittest.TestCase):
    def test_the_built_files_are_fresh(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["node", "build.mjs", folder], cwd=WEB, check=True)
            names = sorted(path.name for path in pathlib.Path(folder).iterdir())
            self.assertEqual(names, sorted(path.name for path in (WEB / "dist").iterdir()))
            _, differ, missing = filecmp.cmpfiles(folder, WEB / "dist", names, shallow=False)
            self.assertEqual((differ, missing), ([], []), "run `npm run build` in web/ and commit web/dist")

    def test_the_types_hold(self):
        done = subprocess.run(["node_modules/.bin/tsc", "--noEmit"], cwd=WEB, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_the_types_are_those_of_the_service(self):
        service = Service()
        self.addCleanup(service.close)
        document = service.start().call("GET", "/openapi.json").body
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            file.write(document)
            file.flush()
            for script, written in (("generate_types.mjs", "src/api/schema.ts"), ("generate_schemas.mjs", "src/schema_form/schemas.json")):
                text = subprocess.run(["node", script, file.name], cwd=WEB, check=True, capture_output=True, text=True).stdout
                self.assertEqual(text, (WEB / written).read_text(), "run `npm run types` in web/")


if __name__ == "__main__":
    unittest.main()
