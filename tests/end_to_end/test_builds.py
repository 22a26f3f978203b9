"""Goal: a host whose programs are older than the service ends no job.
Method: the real service; a stored spec gets a field that no build knows, which is what an older executor sees of a new one."""
import unittest

from service import ENDLESS_EPOCHS, points_job, serve_points, wait_for

ALL_CORES = {"accelerator": {"cores": 8}}


class OlderPrograms(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        serve_points(cls, rows=1000)

    def test_a_job_waits_for_programs_that_know_its_fields(self):
        before = self.service.submit(points_job(name="before", train={"epochs": ENDLESS_EPOCHS}, **ALL_CORES))
        self.service.wait_state(before, "running")
        job = self.service.submit(points_job(name="of tomorrow", limits={"max_restarts": 0}))
        self.service.sql(f"update job set spec = jsonb_set(spec, '{{train,of_tomorrow}}', '1') where id = '{job}'")
        self.service.post(f"/v1/jobs/{before}/cancel", {})
        waits = wait_for(lambda: (found := self.service.job(job))["attempts"] >= 1 and found["state"] == "queued" and found, "the first attempt to end", 60)
        reason = waits["reason"]    # of that look: the next attempt begins soon
        self.assertEqual(reason["code"], "wrong_build")
        self.assertIn("of_tomorrow", reason["message"])
        self.assertNotIn("different builds", reason["message"], "slipwayd does not know the field either")
        explained = wait_for(lambda: (found := self.service.get(f"/v1/jobs/{job}/explain"))["code"] == "start_after" and found, "a reason")
        self.assertRegex(explained["message"], r"; 1 host could not read the job in \d+ attempts?: \S+$")
        self.service.sql(f"update job set spec = spec #- '{{train,of_tomorrow}}' where id = '{job}'")    # the host is upgraded
        self.assertEqual(self.service.wait_end(job)["state"], "succeeded")


if __name__ == "__main__":
    unittest.main()
