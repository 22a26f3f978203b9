"""Goal: sweeps whose trials run elsewhere keep their word when they are asked by two services, when a value is at the edge of what
there is, and when the sweep, a right or the database goes in between. Method: two real services on one database, and a killed one."""
import concurrent.futures
import http.client
import os
import signal
import time
import unittest

from service import Service, points_job, serve_points, wait_for

LIMITS = {"max_trials": 40, "max_concurrent": 4}


def elsewhere(**changes):
    return {"name": "elsewhere", "objective": {"metric": "cost", "mode": "min"}, "seed": 1,
            "space": {"x": {"type": "uniform", "min": -1, "max": 1}, "n": {"type": "int_uniform", "min": 1, "max": 9}},
            "algorithm": {"name": "tpe", "startup_trials": 4}, "limits": LIMITS, **changes}


class Asked:
    """Requests to a service about a sweep."""

    def create(self, **changes):
        return "/v1/sweeps/" + self.service.post("/v1/sweeps", elsewhere(**changes))["id"]

    def ask(self, sweep, count=1, service=None):
        return (service or self.service).post(f"{sweep}/suggest", {"count": count})["trials"]

    def tell(self, sweep, trial, service=None, status=200, **body):
        answer = (service or self.service).call("POST", f"{sweep}/trials/{trial}/observe", body)
        self.assertEqual(answer.status, status, answer.body)
        return answer.json


class AskedSweeps(Asked, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        serve_points(cls)

    def test_values_at_the_edge(self):
        sweep = self.create()
        values = [1e308, -1e308, 1e308, 5e-324, -0.0, 0.5]
        for value in values:
            trial = self.ask(sweep)[0]["number"]
            told = self.tell(sweep, trial, time=1, value=value, end="completed")
            self.assertEqual((told["state"], told["value"]), ("completed", value))
        for word in ("nan", "inf", "-inf"):
            trial = self.ask(sweep)[0]["number"]
            told = self.tell(sweep, trial, time=1, nonfinite=word, end="completed")
            self.assertEqual((told["state"], told["value"]), ("completed", None))
        self.assertEqual(self.service.get(sweep)["best"], {"trial": 1, "value": -1e308})
        for item in self.service.get(f"{sweep}/importance")["items"]:
            self.assertTrue(item["explained"] is None or 0 <= item["explained"] <= 1, item)
        # What is asked next is a point of the space still.
        for trial in self.ask(sweep, 4):
            self.assertTrue(-1 <= trial["point"]["x"] <= 1 and 1 <= trial["point"]["n"] <= 9, trial)
        text = self.service.call("POST", f"{sweep}/trials/9/observe", {"time": 1, "value": "1e309"})
        self.assertEqual(text.status, 422, text.body)
        # Nothing of what was refused or odd keeps a service that starts from reading the log.
        before = self.service.get(f"{sweep}/trials?limit=200")["items"]
        self.service.stop()
        self.service.start()
        self.tell(sweep, 9, time=1, value=0.25)
        after = self.service.get(f"{sweep}/trials?limit=200")["items"]
        self.assertEqual([one["point"] for one in after], [one["point"] for one in before])

    def test_what_was_not_asked_for_is_refused(self):
        sweep = self.create()
        number = self.ask(sweep)[0]["number"]
        self.tell(sweep, 1, status=404, time=1, value=1)
        self.tell(sweep, -1, status=404, time=1, value=1)
        self.tell(sweep, 2147483648, status=404, time=1, value=1)
        self.tell(sweep, number, status=422, time=1, value=1, nonfinite="nan")
        self.tell(sweep, number, status=422, value=1)
        self.tell(sweep, number, time=2, value=0.5)
        told = self.tell(sweep, number, time=2, value=0.1)    # the same time again: ignored
        self.assertEqual((told["reports"], told["value"]), (1, 0.5))
        told = self.tell(sweep, number, time=1, value=0.1)
        self.assertEqual((told["reports"], told["value"]), (1, 0.5))
        self.tell(sweep, number, end="completed")
        self.tell(sweep, number, status=409, end="completed")
        self.tell(sweep, number, status=409, time=3, value=0)
        self.assertEqual(self.service.get(sweep)["best"], {"trial": 0, "value": 0.5})

    def suggest(self, sweep, status=200, **body):
        answer = self.service.call("POST", f"{sweep}/suggest", body)
        self.assertEqual(answer.status, status, answer.body)
        return answer.json

    def test_the_last_observation_ends_the_sweep_for_all(self):
        sweep = self.create(limits={"max_trials": 3, "max_concurrent": 3})
        for trial in self.ask(sweep, 3):
            self.tell(sweep, trial["number"], time=1, value=0.5, end="completed")
        self.assertEqual(self.service.get(sweep)["state"], "finished")
        answers = [self.suggest(sweep) for _ in range(3)]
        self.assertEqual([(one["trials"], one["state"]) for one in answers], [([], "finished")] * 3)
        self.assertEqual({one["message"] for one in answers}, {"every trial has ended (3)"})

    def test_retried_trials_come_first(self):
        sweep = self.create(limits={"max_trials": 6, "max_concurrent": 2})
        for trial in self.ask(sweep, 2):
            self.tell(sweep, trial["number"], end="failed")
        self.assertEqual(self.service.post(f"{sweep}/retry", {})["retried"], 2)
        again = self.ask(sweep, 5)
        self.assertEqual([one["number"] for one in again], [0, 1])
        for trial in again:
            self.assertEqual(self.tell(sweep, trial["number"], time=1, value=1, end="completed")["state"], "completed")
        self.assertEqual([one["number"] for one in self.ask(sweep)], [2])

    def test_a_lease_that_is_not_renewed_frees_the_trial(self):
        sweep = self.create(limits={"max_trials": 2, "max_concurrent": 2})
        kept, lost = (one["number"] for one in self.suggest(sweep, count=2, lease_s=2)["trials"])
        self.assertEqual(self.suggest(sweep)["trials"], [])
        self.tell(sweep, kept, lease_s=600)
        wait_for(lambda: [one["number"] for one in self.suggest(sweep)["trials"]] == [lost], "the lost trial", 30)
        self.assertEqual(self.suggest(sweep)["trials"], [], "it has no lease now")
        self.service.stop()
        self.service.start()
        self.assertEqual(self.suggest(sweep)["trials"], [])
        for number in (kept, lost):
            self.tell(sweep, number, time=1, value=number, end="completed")
        self.assertEqual(self.service.get(sweep)["state"], "finished")
        self.suggest(sweep, status=422, lease_s=0.1)
        events = [one["event"] for one in self.service.get(f"{sweep}/events?limit=50")["items"]]
        self.assertEqual([one["trial"] for one in events if one["type"] == "lease" and one["free"]], [lost])

    def test_completed_needs_a_value(self):
        sweep = self.create()
        number = self.ask(sweep)[0]["number"]
        self.tell(sweep, number, status=422, end="completed")
        self.tell(sweep, number, time=1, nonfinite="nan", end="completed")

    def test_logs_go_on_by_cursor(self):
        sweep = self.create()
        for _ in range(3):
            self.tell(sweep, self.ask(sweep)[0]["number"], time=1, value=0.5, end="completed")
        for list_name in ("events", "decisions"):
            page = self.service.get(f"{sweep}/{list_name}?limit=2")
            by_cursor = self.service.get(f"{sweep}/{list_name}?limit=2&cursor={page['next_cursor']}")
            self.assertEqual(by_cursor, self.service.get(f"{sweep}/{list_name}?limit=2&after={page['next_cursor']}"))
            self.assertNotEqual(by_cursor["items"], page["items"])

    def test_long_constraints_cost_little(self):
        names = [f"p{i}" for i in range(128)]
        space = {name: {"type": "uniform", "min": 0, "max": 1} for name in names}
        long_one = "+".join(f"p{i}*p{i + 1}" for i in range(90)) + " >= 0"
        body = elsewhere(space=space, constraints=[long_one, "p0 < -1"])
        began = time.monotonic()
        answer = self.service.call("POST", "/v1/sweeps?dry_run=true", body)
        self.assertEqual((answer.status, answer.json["errors"][0]["pointer"]), (422, "/constraints"))
        self.assertLess(time.monotonic() - began, 30)
        body["constraints"] = [long_one] * 40
        answer = self.service.call("POST", "/v1/sweeps?dry_run=true", body)
        self.assertEqual(answer.status, 422)
        self.assertIn("must be at most 2000", answer.json["errors"][0]["message"])

    def test_a_sweep_that_is_deleted_while_it_is_kept(self):
        sweep = self.create()
        number = self.ask(sweep)[0]["number"]
        self.service.post(f"{sweep}/stop", {})
        self.tell(sweep, number, status=409, time=1, value=1)
        self.assertEqual(self.service.call("DELETE", sweep).status, 204)
        self.tell(sweep, number, status=404, time=1, value=1)
        self.assertEqual(self.service.call("POST", f"{sweep}/suggest", {}).status, 404)

    def test_rights_that_are_lost_while_it_is_kept(self):
        self.service.call("PUT", "/v1/projects/default/members/anna", {"role": "editor"})
        token = self.service.post("/v1/tokens", {"name": "anna", "role": "editor", "member": "anna"})["token"]
        answer = self.service.call("POST", "/v1/sweeps", elsewhere(), token=token)
        sweep = f"/v1/sweeps/{answer.json['id']}"
        self.assertEqual(self.service.call("POST", f"{sweep}/suggest", {}, token=token).status, 200)
        self.service.call("PUT", "/v1/projects/default/members/anna", {"role": "viewer"})
        self.assertEqual(self.service.call("POST", f"{sweep}/suggest", {}, token=token).status, 403)
        refused = self.service.call("POST", f"{sweep}/trials/0/observe", {"time": 1, "value": 1}, token=token)
        self.assertEqual(refused.status, 403)
        self.service.call("DELETE", "/v1/projects/default/members/anna")
        self.assertIn(self.service.call("POST", f"{sweep}/suggest", {}, token=token).status, (401, 403, 404))
        self.tell(sweep, 0, time=1, value=1)    # who has the right goes on with it

    def postmaster(self):
        """None while there is none."""
        try:
            return self.service.postmaster()
        except (OSError, ValueError, IndexError):
            return None

    def kill_database(self):
        killed = self.service.postmaster()
        os.kill(killed, signal.SIGKILL)
        # Its backends answer for a moment more.
        wait_for(lambda: self.postmaster() not in (None, killed) and self.service.call("GET", "/v1/sweeps").status == 200, "the database to be back", 90)

    def test_the_database_is_killed_while_a_run_is_kept(self):
        sweep = self.create()
        told = []
        for _ in range(6):
            number = self.ask(sweep)[0]["number"]
            self.tell(sweep, number, time=1, value=number, end="completed")
            told.append(number)
        self.kill_database()
        next_ones = self.ask(sweep)
        numbers = [one["number"] for one in self.service.get(f"{sweep}/trials?limit=200")["items"]]
        self.assertEqual(sorted(numbers), list(range(len(numbers))))
        self.assertLess(set(told), set(numbers))
        self.tell(sweep, next_ones[0]["number"], time=1, value=-1, end="completed")
        self.assertEqual(self.service.get(sweep)["best"], {"trial": next_ones[0]["number"], "value": -1})

    def test_who_follows_is_known_again_after_a_crash(self):
        job = self.service.submit(points_job(limits={"start_after": "2100-01-01T00:00:00Z"}))

        def is_watched():
            return self.service.sql(f"select count(*) from watched where subject = '{job}'") == [["1"]]

        stream = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=60)
        stream.request("GET", f"/v1/jobs/{job}/events", headers={"Accept": "text/event-stream", "Authorization": f"Bearer {self.service.token}"})
        try:
            answer = stream.getresponse()    # kept: the connection ends with it
            self.assertEqual(answer.status, 200)
            wait_for(is_watched, "the stream to be known", 30)
            self.kill_database()    # the table is unlogged: it is empty then
            wait_for(is_watched, "the stream to be known again", 30)
        finally:
            stream.close()
        self.service.post(f"/v1/jobs/{job}/cancel", {})


class TwoServices(Asked, unittest.TestCase):
    def setUp(self):
        self.service = Service("--host-name", "first")
        self.addCleanup(self.service.close)
        self.service.start()
        lines = (self.service.home / "postgres" / "data" / "postmaster.pid").read_text().splitlines()
        database = f"postgresql:///slipway?user=slipway&host={lines[4]}&port={lines[3]}"
        self.second = Service("--host-name", "second", "--database", database, "--dataset-root", self.service.data)
        (self.second.home / "store").symlink_to(self.service.home / "store")
        self.addCleanup(self.second.close)
        self.second.start()

    def test_two_services_are_asked_at_once(self):
        sweep = self.create()
        services = [self.service, self.second]

        def worker(index):
            numbers = []
            while True:
                service = services[(index + len(numbers)) % 2]
                asked = service.call("POST", f"{sweep}/suggest", {})
                if asked.status != 200 or not asked.json["trials"]:
                    if asked.status == 200 and asked.json["state"] != "running":
                        return numbers
                    if asked.status == 409 and "running" not in service.get(sweep)["state"]:
                        return numbers
                    continue
                trial = asked.json["trials"][0]
                numbers.append(trial["number"])
                self.tell(sweep, trial["number"], services[len(numbers) % 2], time=1, value=trial["point"]["x"] ** 2, end="completed")

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            found = sum(pool.map(worker, range(4)), [])
        self.assertEqual(sorted(found), list(range(LIMITS["max_trials"])))
        trials = self.service.get(f"{sweep}/trials?limit=200")["items"]
        self.assertEqual({one["state"] for one in trials}, {"completed"})
        least = min(trials, key=lambda one: one["value"])
        self.assertEqual(self.second.get(sweep)["best"], {"trial": least["number"], "value": least["value"]})


if __name__ == "__main__":
    unittest.main()
