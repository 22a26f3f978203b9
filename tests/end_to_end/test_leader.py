"""Goal: of two services on one database one does the periodic work, and one that is stopped in its tracks is replaced."""
import os
import signal
import time
import unittest

from service import Service, points_job, wait_for, write_points


class Leader(unittest.TestCase):
    def setUp(self):
        self.first = Service("--host-name", "first")
        self.addCleanup(self.first.close)
        write_points(self.first.data / "points", rows=500)
        self.first.start()
        self.first.dataset("points", "csv", {"group_column": "family"})
        lines = (self.first.home / "postgres" / "data" / "postmaster.pid").read_text().splitlines()
        database = f"postgresql:///slipway?user=slipway&host={lines[4]}&port={lines[3]}"
        self.second = Service("--host-name", "second", "--database", database, "--dataset-root", self.first.data)
        (self.second.home / "store").symlink_to(self.first.home / "store")
        # Before the first one: that one has the database.
        self.addCleanup(self.second.close)
        self.second.start()

    def leads(self, service):
        return "\nslipway_maintenance_is_leader 1" in service.call("GET", "/metrics").body.decode()

    def test_a_frozen_leader_is_replaced_and_fenced(self):
        wait_for(lambda: self.leads(self.first), "the first one to lead")
        self.assertFalse(self.leads(self.second))
        term, holder = self.first.sql("select term, holder from leader where name <> 'slipway.cross_validations'")[0]
        os.kill(self.first.process.pid, signal.SIGSTOP)
        try:
            stopped_at = time.monotonic()
            wait_for(lambda: self.leads(self.second), "the second one to lead", 15)
            replaced_after_s = time.monotonic() - stopped_at
            # Its own host takes the job: at once, or when the leases of the frozen one have run out.
            job_id = self.second.submit(points_job())
            self.assertEqual(self.second.wait_end(job_id)["state"], "succeeded")
        finally:
            os.kill(self.first.process.pid, signal.SIGCONT)
        print(f"replaced after {replaced_after_s:.1f} s", flush=True)
        self.assertLess(replaced_after_s, 10)
        wait_for(lambda: not self.leads(self.first), "the first one to notice")
        new_term, new_holder = self.first.sql("select term, holder from leader where name <> 'slipway.cross_validations'")[0]
        self.assertEqual(int(new_term), int(term) + 1)
        self.assertNotEqual(new_holder, holder)
        # Both hosts work; the second one goes on leading.
        for _ in range(3):
            self.assertEqual(self.first.wait_end(self.first.submit(points_job()))["state"], "succeeded")
        self.assertTrue(self.leads(self.second))

    def test_a_host_name_in_use_is_refused_until_its_service_is_gone(self):
        third = Service("--host-name", "second", *self.second.options[2:])
        (third.home / "store").symlink_to(self.first.home / "store")
        self.addCleanup(third.close)
        third.start()
        wait_for(lambda: 'the host name \\"second\\" is in use' in (third.home / "slipwayd.log").read_text(), "a refusal")
        owner = "select home from host where name = 'second'"
        before = self.first.sql(owner)
        self.second.kill()
        wait_for(lambda: self.first.sql(owner) != before, "the third one to take over", 30)
        self.assertEqual(third.wait_end(third.submit(points_job()))["state"], "succeeded")

    def test_a_leader_that_ends_is_followed_at_once(self):
        wait_for(lambda: self.leads(self.second) or self.leads(self.first), "one of them to lead")
        term = int(self.first.sql("select term from leader where name <> 'slipway.cross_validations'")[0][0])
        self.second.kill()
        self.second.start()
        wait_for(lambda: self.leads(self.second) or self.leads(self.first), "one of them to lead", 30)
        self.assertGreaterEqual(int(self.first.sql("select term from leader where name <> 'slipway.cross_validations'")[0][0]), term)


if __name__ == "__main__":
    unittest.main()
