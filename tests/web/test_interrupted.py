"""Goal: a page that is open while the service is killed, its token is revoked or its session expires loses nothing and says what to do.
Method: the real service, which is killed by the script in the browser and started again beside it; what the chart has is compared with the API."""
import pathlib
import tempfile
import threading
import unittest

from service_for_browsers import ENDLESS_EPOCHS, Dashboard, NoComplaints, points_job, wait_for


def slow_job():
    """A job whose steps are so long that a chart has each of its points, until the script cancels it."""
    return points_job(name="slow", model={"width": 768, "depth": 3}, checkpoint={"every_epochs": ENDLESS_EPOCHS},
                      train={"epochs": ENDLESS_EPOCHS, "batch_size_per_core": 128, "optimizer": {"name": "sgd", "lr": 0.001}})


class Interrupted(NoComplaints, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        board = Dashboard(cls)
        service = board.service
        start_file = pathlib.Path(tempfile.mkdtemp()) / "start"
        cls.job = board.submit("slow", slow_job())
        service.wait_state(cls.job, "running")

        def start_again():
            service.process.wait()
            wait_for(start_file.exists, "the page to notice")
            service.start()

        starting = threading.Thread(target=start_again)
        starting.start()
        try:
            cls.found = board.run("interrupted", token=None, admin=service.token, pid=service.process.pid, start_file=str(start_file))
        finally:
            if not start_file.exists():    # the script ended before it killed the service
                service.process.kill()
                start_file.touch()
            starting.join()

    def test_no_point_is_missing_after_the_service_was_killed(self):
        self.assertEqual(self.found["steps"], sorted(self.service.metric(self.job, "train_loss")))
        self.assertGreater(len(self.found["steps"]), 20)
        self.assertEqual(self.found["alert"], 0)

    def test_who_has_lost_the_token_is_asked_to_sign_in(self):
        self.assertEqual(self.found["title_when_revoked"], "Sign in – Slipway")
        self.assertIn("Your session has ended", self.found["said_when_revoked"])
        self.assertNotIn("Your session has ended", self.found["said_after_signing_out"])

    def test_the_page_is_where_it_was_after_signing_in(self):
        self.assertEqual(self.found["address_after_sign_in"], "#/jobs?name=slo")


if __name__ == "__main__":
    unittest.main()
