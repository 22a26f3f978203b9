"""Goal: a full queue drains, no core is ever held twice, and a stream sees every event once."""
import http.client
import os
import random
import time
import unittest

from service import points_job, serve_points, wait_for

EVENTS_OF_CONNECTION = 250    # of 3,700
JOBS = int(os.environ.get("SLIPWAY_QUEUE_JOBS", "40"))


class Queue(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        serve_points(cls, rows=500)

    def test_many_single_core_jobs_all_succeed_and_no_core_is_held_twice(self):
        generator = random.Random(5)
        ids = [self.service.submit(points_job(
            train={"epochs": 1, "batch_size_per_core": 32, "optimizer": {"name": "sgd", "lr": 0.01}},
            accelerator={"cores": 1} if generator.random() < 0.8 else {"core_ids": [generator.randint(1, 8)]}))
            for _ in range(JOBS)]
        states = wait_for(lambda: (found := [self.service.job(one)["state"] for one in ids]) and
                          all(state in ("succeeded", "failed") for state in found) and found, "all jobs", 300, 0.5)
        self.assertEqual(set(states), {"succeeded"})
        self.assertEqual(self.service.sql(DOUBLE_BOOKED), [])
        self.assertEqual(self.service.sql("select count(*) from lease"), [["0"]])
        self.assertEqual(self.service.executors(), [])

    def test_an_eight_core_job_is_not_starved_by_single_ones(self):
        singles = [self.service.submit(points_job(train={"epochs": 3, "batch_size_per_core": 8,
                                                         "optimizer": {"name": "sgd", "lr": 0.01}})) for _ in range(10)]
        big = self.service.submit(points_job(accelerator={"cores": 8}, train={
            "epochs": 1, "batch_size_per_core": 4, "optimizer": {"name": "sgd", "lr": 0.01}}))
        later = [self.service.submit(points_job()) for _ in range(10)]
        for job_id in [*singles, big, *later]:
            self.assertEqual(self.service.wait_end(job_id)["state"], "succeeded")
        started = {one: self.service.job(one)["started_at"] for one in [big, later[-1]]}
        self.assertLess(started[big], started[later[-1]])

    def test_a_stream_that_reconnects_all_the_time_sees_every_event_once(self):
        job_id = self.service.submit(points_job(train={"epochs": 60, "batch_size_per_core": 8,
                                                       "optimizer": {"name": "adam", "lr": 0.001}}))
        seen, last, ended, connections = [], 0, False, 0
        limit = time.monotonic() + 120
        while not ended and time.monotonic() < limit:
            connection = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=20)
            connection.request("GET", f"/v1/jobs/{job_id}/events", headers={
                "Accept": "text/event-stream", "Authorization": f"Bearer {self.service.token}", "Last-Event-ID": str(last)})
            response = connection.getresponse()
            self.assertEqual(response.status, 200)
            events = 0
            while events < EVENTS_OF_CONNECTION and not ended:
                line = response.readline().decode()
                if line == "":
                    break
                if line.startswith("id:"):
                    last = int(line[3:])
                    seen.append(last)
                events += line == "\n"
                ended = line.strip() == "event: end"
            connection.close()
            connections += 1
        self.assertTrue(ended)
        self.assertGreater(connections, 10)
        self.assertEqual(seen, list(range(1, len(seen) + 1)))


# Two attempts on one core of one host whose times overlap.
DOUBLE_BOOKED = """
with held as (select * from attempt join attempt_member using (job_id, attempt))
select a.job_id, b.job_id from held a join held b
on a.host = b.host and (a.job_id, a.attempt) < (b.job_id, b.attempt) and a.cores && b.cores
and tstzrange(a.created_at, coalesce(a.ended_at, 'infinity'), '[)') && tstzrange(b.created_at, coalesce(b.ended_at, 'infinity'), '[)')
"""

if __name__ == "__main__":
    unittest.main()
