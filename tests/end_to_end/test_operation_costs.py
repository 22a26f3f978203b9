"""Goal: no operation of the API is without a measured cost. Method: bench/operation_costs with little stock; figures are not judged."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from access_rows import ENDPOINTS

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "bench" / "operation_costs"


def measure(*arguments):
    """The finished process and its figures."""
    with tempfile.TemporaryDirectory() as folder:
        figures = pathlib.Path(folder) / "figures.json"
        ran = subprocess.run([sys.executable, FOLDER / "operation_costs.py", "--bin", os.environ["SLIPWAY_BIN_DIR"], "--scale", "0.02",
                              "--json", figures, *arguments], capture_output=True, text=True)
        return ran, json.loads(figures.read_text()) if figures.exists() else None


class OperationCosts(unittest.TestCase):
    def inputs(self):
        sys.path.insert(0, str(FOLDER))
        self.addCleanup(sys.path.remove, str(FOLDER))
        import inputs
        return inputs

    def test_the_input_of_every_operation_is_accepted(self):
        ran, figures = measure("--alone", "--connections", "0")
        self.assertEqual(ran.returncode, 0, ran.stderr[-4000:])
        self.assertEqual({row["operation"].partition(" (")[0] for row in figures["rows"]}, set(ENDPOINTS))
        self.assertEqual({row["role"] for row in figures["rows"]}, {"viewer", "editor"})

    def test_an_operation_without_an_input_is_named(self):
        inputs = self.inputs()
        new = {"operationId": "polish_job", "responses": {"200": {}}, "requestBody": {"content": {"application/json": {
            "schema": {"type": "object", "properties": {"cloth": {"type": "string", "pattern": "^c"}}}}}}}
        found, missing = inputs.operations({"paths": {"/v1/jobs/{id}/polish": {"post": new}}})
        self.assertEqual(found, [])
        self.assertIn("polish_job", missing)
        self.assertEqual(missing["create_job"], "the document does not have it")

    def test_what_is_derived_is_as_large_as_the_document_permits(self):
        inputs = self.inputs()
        schema = {"type": "object", "properties": {"reason": {"type": "string", "maxLength": 200}, "uses": {"type": "integer", "maximum": 100}}}
        self.assertEqual(inputs.largest(schema, {}), {"reason": "x" * 200, "uses": 100})

    def test_what_an_operation_costs_others_is_printed(self):
        ran, figures = measure("--only", "get_version", "list_jobs", "stream_events", "--connections", "20", "--roles", "viewer")
        self.assertEqual(ran.returncode, 0, ran.stderr[-4000:])
        rows = {row["operation"]: row for row in figures["rows"]}
        self.assertEqual(set(rows), {"get_version", "list_jobs", "list_jobs (search)", "list_jobs (by metric)", "stream_events"})
        for row in rows.values():
            self.assertEqual(row["status"], 200)
            self.assertGreaterEqual(row["max_ms"], row["p99_ms"])
            self.assertGreater(row["memory_mb"], 1)
        idle = figures["idle_connections"]
        self.assertEqual((idle["connections"], idle["status"], idle["left_open"]), (20, 200, 0))


if __name__ == "__main__":
    unittest.main()
