"""Goal: what an operator does to a running slipwayd and beside it works. Method: the real programs; each fact is read where
an operator would look for it."""
import concurrent.futures
import json
import pathlib
import re
import signal
import subprocess
import threading
import time
import unittest

from service import BIN, Service, points_job, wait_for, write_points

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIRST = "first_build.sql"


def output_of(*words, check=0):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=120, cwd="/", stdin=subprocess.DEVNULL)
    if done.returncode != check:
        raise AssertionError(f"{words}: {done.returncode}, not {check}\n{done.stdout}{done.stderr}")
    return done.stdout


class Programs(unittest.TestCase):
    def test_each_says_its_version(self):
        versions = {output_of(BIN / name, "version") for name in ("slipwayd", "slipway-executor")}
        for text in versions:
            self.assertRegex(text, r"^slipway(d|-executor) \d+\.\d+\.\d+( \(\w+\))?\n$")
            name = text.split()[0]
            self.assertEqual(output_of(BIN / name, "--version"), text)
        self.assertEqual(len({text.split()[1] for text in versions}), 1, versions)


class Monitoring(unittest.TestCase):
    """One service with its log as JSON."""
    @classmethod
    def setUpClass(cls):
        cls.service = Service("--log-format", "json")
        cls.addClassCleanup(cls.service.close)
        cls.service.start()

    def test_rules_and_dashboard_name_metrics_that_exist(self):
        text = self.service.call("GET", "/metrics").body.decode()
        known = set(re.findall(r"^# TYPE (\w+) ", text, re.M))
        known |= {name + "_bucket" for name in re.findall(r"^# TYPE (\w+) histogram", text, re.M)}
        self.assertGreater(len(known), 20)
        dashboard = json.loads((ROOT / "deploy/grafana/slipway.json").read_text())
        shown = " ".join(target["expr"] for panel in dashboard["panels"] for target in panel["targets"])
        rules = (ROOT / "deploy/prometheus/alerts.yml").read_text()
        alerts = " ".join(re.findall(r"^ +expr: (.+)$", rules, re.M))
        self.assertEqual(alerts.count("slipway_") > 0, True)
        for expression in (shown, alerts):
            # Of the store alone where it is on a file system of its own.
            self.assertEqual(set(re.findall(r"slipway_\w+", expression)) - known - {"slipway_store_free_bytes"}, set())

    def test_each_line_of_the_log_is_an_object(self):
        self.service.get("/v1/jobs")

        def lines():
            whole = (self.service.home / "slipwayd.log").read_text().rpartition("\n")[0]
            return [json.loads(line) for line in whole.splitlines()]
        # A request is logged once its answer has been sent.
        wait_for(lambda: "/v1/jobs" in [line["fields"].get("path") for line in lines()], "the line of the request")
        self.assertTrue(all(set(line) == {"time", "level", "message", "fields"} for line in lines()))


class Log(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service()
        cls.addClassCleanup(cls.service.close)
        cls.service.start()
        cls.log = cls.service.home / "slipwayd.log"

    def requests(self, count):
        for _ in range(count):
            self.service.get("/v1/jobs")

    def test_a_renamed_log_is_left_after_a_hangup(self):
        moved = self.log.with_name("moved")
        self.log.rename(moved)
        before = moved.read_text().count("path=/v1/jobs")
        self.requests(1)
        # A request is logged once its answer has been sent.
        wait_for(lambda: moved.read_text().count("path=/v1/jobs") == before + 1, "the request in the renamed file")
        self.assertFalse(self.log.exists(), "it goes on in the renamed file until it is told")
        self.service.process.send_signal(signal.SIGHUP)
        wait_for(self.log.exists, "a new log")
        size = moved.stat().st_size
        self.requests(3)
        wait_for(lambda: self.log.read_text().count("path=/v1/jobs") == 3, "three requests in the new log")
        self.assertEqual(moved.stat().st_size, size)
        self.assertEqual(self.log.stat().st_mode & 0o777, 0o640)

    def test_stderr_in_a_file_does_not_grow_with_requests(self):
        written = self.service.home / "out.log"    # stdout and stderr
        before = wait_for(written.read_text, "the line that says that it is ready")
        self.requests(50)
        self.assertEqual(written.read_text(), before)
        self.assertRegex(before, r"\Aslipwayd is ready at \S+ \(home \S+\)\n\Z")


class Busy(unittest.TestCase):
    def test_health_and_metrics_answer_while_every_worker_waits_for_the_database(self):
        service = Service()
        self.addCleanup(service.close)
        service.start()
        locked = threading.Thread(target=service.sql, args=("lock table dataset in access exclusive mode; select pg_sleep(8)",))
        locked.start()
        self.addCleanup(locked.join)
        wait_for(lambda: service.sql("select 1 from pg_locks where mode = 'AccessExclusiveLock' and granted and relation = "
                                     "'dataset'::regclass"), "the lock")
        # One client is given some of the workers: two hold all of them.
        tokens = [service.token, service.post("/v1/tokens", {"name": "other", "role": "viewer"})["token"]]
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            for token in tokens * 4:
                threads.submit(service.call, "GET", "/v1/datasets", token=token)
            wait_for(lambda: int(service.sql("select count(*) from pg_stat_activity where wait_event_type = 'Lock'")[0][0]) >= 8,
                     "every worker to wait")
            begin = time.monotonic()
            for path in ("/metrics", "/readyz"):
                self.assertEqual(service.call("GET", path).status, 200)
            # A request that waits for the lock gives up after two seconds.
            self.assertLess(time.monotonic() - begin, 1)


class Migrations(unittest.TestCase):
    """Homes of the builds before the first release, with 1,000 jobs: tests/migrations makes them."""
    def home(self, *scripts):
        """A stopped service whose database the scripts have made in place of its own."""
        service = Service()
        self.addCleanup(service.close)
        service.start()
        service.sql("".join(step.read_text() for step in sorted((ROOT / "migrations/0.1").glob("*.down.sql"), reverse=True)))
        tables = service.sql("select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'") if scripts[0] == FIRST else []
        functions = service.sql("select oid::regprocedure from pg_proc where pronamespace = 'public'::regnamespace and not exists "
                                "(select from pg_depend where objid = pg_proc.oid and deptype = 'e')") if tables else []
        drops = "drop view lease, token_grant, current_job_count, current_project_usage;" if tables else ""
        drops += "".join(f"drop function {name} cascade;" for name, in functions) + "".join(f"drop table {name} cascade;" for name, in tables)
        service.sql("begin;" + drops + "".join((ROOT / "tests/migrations" / name).read_text() for name in scripts) + "commit")
        return service

    def migrate(self, service, *words, check=0):
        return output_of(BIN / "slipwayd", "migrate", *words, "--home", service.home, check=check).splitlines()

    def expect_upgraded(self, service, line):
        service.stop()
        before = self.migrate(service, "status")
        self.assertRegex(before[0], line + r".*; of a build before release 0\.1$")
        self.assertRegex(before[1], r"^0001 schema: not applied$")
        said = self.migrate(service)
        self.assertRegex(said[0], r"^dumped \S+/backups/before-\S+\.dump$")
        self.assertEqual(said[1], "applied 0001")
        steps = [line for line in said[1:] if not line.startswith("applied ")]
        self.assertRegex(steps[0], r"^0001 schema: applied \d{4}-\d\d-\d\dT\S+$")
        dump = pathlib.Path(said[0].split()[1])
        self.assertEqual(dump.stat().st_mode & 0o777, 0o600)
        self.assertIn("TABLE DATA public job_event", output_of("/usr/bin/pg_restore", "--list", dump))
        self.assertEqual(self.migrate(service), steps, "nothing more to do, and no second dump")
        output_of(BIN / "slipwayd", "verify", "--home", service.home)
        service.start()
        self.assertEqual(service.sql("select count(*) from job"), [["1000"]])
        self.assertEqual(len(service.get("/v1/jobs?state=succeeded&limit=200")["items"]), 200)
        output_of(BIN / "slipwayd", "verify", "--home", service.home)
        self.assertEqual(list((service.home / "backups").iterdir()), [dump])

    def test_a_home_of_the_first_build_is_upgraded(self):
        self.expect_upgraded(self.home(FIRST, "first_jobs.sql", "jobs.sql"), r"^0004 attempts: applied \S+")

    def test_a_home_of_the_newest_build_is_upgraded(self):
        service = self.home("newest_jobs.sql", "jobs.sql")
        service.sql("alter table job alter column kind drop default; delete from schema_migration; "
                    "insert into schema_migration values (1, 'access', ''), (75, 'watched', '')")
        self.expect_upgraded(service, r"^0075 watched: applied \S+")

    def test_the_first_release_goes_back_to_its_first_schema(self):
        service = Service()
        self.addCleanup(service.close)
        write_points(service.data / "points")
        service.start()
        service.dataset("points", "csv", {"group_column": "family"})
        job = service.submit(points_job(name="Migrated"))
        service.stop()
        said = self.migrate(service, "--down")
        self.assertEqual(said[1:4], ["reverted 0004", "reverted 0003", "reverted 0002"])
        self.assertRegex(said[5], r"^0002 job_names: not applied$")
        self.migrate(service, "--down", check=3)
        dumps = list((service.home / "backups").iterdir())
        self.assertEqual(dumps, [pathlib.Path(said[0].split()[1])], "nothing was to be dumped again")
        service.start()
        self.assertEqual(len(list((service.home / "backups").iterdir())), 2, "a start dumps and migrates")
        self.assertEqual([one["id"] for one in service.get("/v1/jobs?name=migrate")["items"]], [job])
        self.assertEqual(service.get("/v1/jobs?name=nomatch")["items"], [])


if __name__ == "__main__":
    unittest.main()
