"""Goal: the commands of operators print what they say: projects, members, queue, groups, hosts, cores, tokens, webhooks.
Method: client_commands.py."""
import json
import unittest

from client_commands import CommandTestCase, commands, run


class MachineCommands(CommandTestCase):
    @classmethod
    def setUpClass(cls):
        cls.serve()

    def test_projects(self):
        rows = self.table(self.ok("projects"), "name", "weight", "quota", "class max", "used core-s", "cores held", "queued")
        self.assertIn("default", [row[0] for row in rows])
        self.assertGreater(float(next(row for row in rows if row[0] == "default")[4]), 0)

    def test_project_set(self):
        self.assertEqual(self.ok("project", "set", "vision", "--weight", "2", "--cores-max", "4"), "vision: weight 2, quota 4, most urgent class –\n")
        self.assertEqual(self.ok("project", "set", "vision", "--no-cores-max"), "vision: weight 2, quota –, most urgent class –\n")
        self.assertEqual(self.ok("project", "set", "vision", "--class-max", "normal"), "vision: weight 2, quota –, most urgent class normal\n")
        self.assertEqual(self.ok("project", "set", "vision", "--cores-max", "2"), "vision: weight 2, quota 2, most urgent class normal\n")
        self.ok("project", "set", "vision", "--no-class-max", "--no-cores-max")
        self.assertIn("nothing to set", run("project", "set", "vision", home=self.service.home, check=2).stderr)
        self.assertIn("weight must be", run("project", "set", "vision", "--weight", "0", home=self.service.home, check=4).stderr)

    def test_member_set(self):
        self.ok("project", "set", "crew", "--weight", "1")
        self.assertEqual(self.ok("member", "set", "ann@example.org", "--role", "editor", "--project", "crew"), "ann@example.org: editor of crew\n")
        self.assertEqual(self.ok("member", "set", "ann@example.org", "--role", "viewer", "--project", "crew"), "ann@example.org: viewer of crew\n")
        refused = run("member", "set", "ann", "--role", "owner", "--project", "crew", home=self.service.home, check=4).stderr
        self.assertIn("role must be viewer, editor or admin", refused)
        refused = run("member", "set", "Ann", "--role", "viewer", "--project", "crew", home=self.service.home, check=4).stderr
        self.assertIn("the name of a member must be", refused)
        token = self.ok("token", "create", "of ann", "--role", "admin", "--member", "ann@example.org", "--project", "crew").strip()
        me = self.service.call("GET", "/v1/me", token=token).json
        self.assertEqual((me["member"], me["roles"]), ("ann@example.org", [{"project": "crew", "role": "viewer"}]))
        self.assertEqual(self.service.call("GET", "/v1/projects/default", token=token).status, 404)

    def test_members(self):
        self.ok("project", "set", "band", "--weight", "1")
        self.ok("member", "set", "bob", "--role", "admin", "--project", "band")
        rows = self.table(self.ok("members", "--project", "band"), "member", "role", "by", "since")
        self.assertEqual([row[:2] for row in rows], [["bob", "admin"]])
        self.assertIn("there is no project", run("members", "--project", "nothing", home=self.service.home, check=4).stderr)

    def test_member_remove(self):
        self.ok("project", "set", "duo", "--weight", "1")
        self.ok("member", "set", "eve", "--role", "editor", "--project", "duo")
        self.assertEqual(self.ok("member", "remove", "eve", "--project", "duo"), "eve is no longer a member of duo\n")
        self.assertIn("there is no member `eve`", run("member", "remove", "eve", "--project", "duo", home=self.service.home, check=4).stderr)

    def test_queue_stats(self):
        text = self.ok("queue", "stats")
        self.assertRegex(text, r"^\d+ jobs? queued, \d+ ready; \d+ of 8 cores held, \d+ free\n")
        self.assertIn("last s  submitted  started  ended", text)
        self.assertRegex(self.ok("queue", "stats", "--project", "empty"), r"^0 jobs queued, 0 ready; ")

    def test_queue_decisions(self):
        rows = self.table(self.ok("queue", "decisions", "--job", self.job), "at", "job", "decision", "code", "reason")
        self.assertEqual(rows[-1][2:4], ["start", "free_cores"])

    def test_queue_simulate(self):
        text = self.ok("queue", "simulate", "--file", self.spec)
        self.assertRegex(text, r"^the job would start at \S+, in \S+ s, on \S+ \(estimated from: \w+\)\n")
        self.assertRegex(self.ok("queue", "simulate", "--more-hosts", "2"), r"^0 of \d+ queued jobs would start later, \d+ sooner\n$")
        self.assertIn("nothing would change", run("queue", "simulate", home=self.service.home, check=4).stderr)

    def test_group_set(self):
        self.assertEqual(self.ok("group", "set", "lr-search", "--limit", "3"), "lr-search: at most 3 jobs at a time\n")
        self.assertIn("limit must be", run("group", "set", "lr-search", "--limit", "0", home=self.service.home, check=4).stderr)

    def test_groups(self):
        self.ok("group", "set", "lr-search", "--limit", "3")
        rows = self.table(self.ok("groups"), "group", "limit", "running", "ready")
        self.assertIn(["lr-search", "3", "0", "0"], rows)

    def test_hosts(self):
        rows = self.table(self.ok("hosts"), "host", "pool", "cores", "silent s", "state", "reason", "by", "since")
        self.assertIn("takes jobs", " ".join(rows[0]))

    def test_retention(self):
        heads = ("kind", "days kept", "jobs due", "checkpoints due", "bytes due")
        rows = self.table(self.ok("retention", "--jobs-days", "30"), *heads)
        self.assertEqual([row[0] for row in rows], ["events", "logs", "metrics", "checkpoints", "jobs"])
        self.assertEqual(rows[0][1], "forever")
        self.assertEqual(rows[4][1:3], ["30", "0"])

    def test_host_drain(self):
        host = self.service.get("/v1/hosts")["items"][0]["name"]
        self.assertEqual(self.ok("host", "drain", host, "--reason", "new disk"), f"host {host} takes no new jobs\n")
        self.assertIn("new disk", self.ok("hosts"))
        self.ok("host", "undrain", host)
        self.assertIn("there is no host", run("host", "drain", "moon", home=self.service.home, check=4).stderr)

    def test_host_undrain(self):
        host = self.service.get("/v1/hosts")["items"][0]["name"]
        self.ok("host", "drain", host)
        self.assertEqual(self.ok("host", "undrain", host), f"host {host} takes jobs\n")
        self.assertNotIn("drained", self.ok("hosts"))

    def test_slices(self):
        """None runs on one host of eight cores; test_slices.py has one that does."""
        self.assertEqual(json.loads(self.ok("slices", "-o", "json")), [])
        self.assertEqual(self.ok("slices").split(), ["job", "name", "job", "state", "cores", "rank", "host", "process"])

    def test_cores(self):
        rows = self.table(self.ok("cores"), "core", "host", "state", "job", "reason")
        self.assertEqual([row[0] for row in rows], [str(core) for core in range(1, 9)])

    def test_drain(self):
        self.assertEqual(self.ok("drain", "7", "--reason", "a fan & more"), "core 7 takes no new jobs\n")
        self.assertIn("a fan & more", self.ok("cores"))
        self.assertEqual(self.ok("undrain", "7"), "core 7 takes jobs\n")

    def test_undrain(self):
        self.assertEqual(self.ok("undrain", "6"), "core 6 takes jobs\n")

    def test_status(self):
        lines = self.ok("status").splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["service", "token", "queue", "cores"])
        self.assertIn("admin (admin)", lines[1])
        self.assertRegex(lines[3], r"of 8 held")

    def test_token_create(self):
        self.assertRegex(self.ok("token", "create", "mine", "--role", "viewer"), r"^slp_\S+\n$")

    def test_token_list(self):
        rows = self.table(self.ok("token", "list"), "id", "name", "role", "last used", "revoked")
        self.assertIn("admin", {row[2] for row in rows})

    def test_token_revoke(self):
        self.ok("token", "create", "short-lived")
        made = next(one["id"] for one in self.service.get("/v1/tokens")["items"] if one["name"] == "short-lived")
        self.assertEqual(self.ok("token", "revoke", made), f"{made} revoked\n")

    # Nobody listens there, and only the operator may allow it: enough to see what the commands say.
    def webhook(self):
        lines = self.ok("webhook", "create", "https://hooks.example.invalid/slipway", "--event", "job.ended").splitlines()
        self.assertTrue(lines[1].startswith("whsec_"), lines)
        self.addCleanup(run, "webhook", "delete", lines[0], "--yes", home=self.service.home)
        return lines[0]

    def test_host_join_token(self):
        self.assertRegex(self.ok("host", "join-token", "--host", "other", "--uses", "2", "--expires-s", "60"), "^slj_[0-9A-Za-z]{43}\n$")

    def test_host_remove(self):
        name = self.service.get("/v1/hosts")["items"][0]["name"]
        self.assertIn("drain it first", run("host", "remove", name, home=self.service.home, check=4).stderr)
        self.service.sql("insert into host (name, cores, physical_cpus, memory_bytes, heartbeat_at) "
                         "values ('lost', 8, 2, 1, now() - interval '1 hour')")
        self.assertEqual(self.ok("host", "remove", "lost"), "host lost removed\n")

    def test_webhooks(self):
        hook = self.webhook()
        rows = self.table(self.ok("webhooks"), "id", "project", "url", "events", "state", "description")
        self.assertIn([hook, "default", "https://hooks.example.invalid/slipway", "job.ended", "on"], [row[:5] for row in rows])

    def test_webhook_create(self):
        done = run("webhook", "create", "http://127.0.0.1/", home=self.service.home, check=4)
        self.assertIn("--webhook-allow", done.stderr)

    def test_webhook_set(self):
        hook = self.webhook()
        self.assertEqual(self.ok("webhook", "set", hook, "--event", "job.started", "--event", "job.ended", "--description",
                                 "chat of the team", "--disable"), f"{hook} off\n")
        made = self.service.get(f"/v1/webhooks/{hook}")
        self.assertEqual((made["events"], made["description"], made["enabled"]),
                         (["job.started", "job.ended"], "chat of the team", False))
        said = self.ok("webhook", "set", hook, "--enable", "--rotate-secret").splitlines()
        self.assertEqual(said[0], f"{hook} on")
        self.assertTrue(said[1].startswith("whsec_"), said)
        self.assertIn("nothing to change", run("webhook", "set", hook, home=self.service.home, check=2).stderr)
        self.assertIn("--webhook-allow", run("webhook", "set", hook, "--url", "http://127.0.0.1/", home=self.service.home,
                                             check=4).stderr)

    def test_webhook_test(self):
        done = run("webhook", "test", self.webhook(), home=self.service.home, check=4)
        self.assertIn("not delivered", done.stderr)

    def test_webhook_deliveries(self):
        hook = self.webhook()
        self.service.post(f"/v1/webhooks/{hook}/test", {})
        rows = self.table(self.ok("webhook", "deliveries", hook), "id", "type", "state", "attempts", "status", "error", "created")
        self.assertEqual(rows[0][1], "webhook.test")

    def test_webhook_redeliver(self):
        hook = self.webhook()
        first = self.service.post(f"/v1/webhooks/{hook}/test", {})["id"]
        self.assertRegex(self.ok("webhook", "redeliver", hook, first), "^dlv_")

    def test_webhook_delete(self):
        hook = self.webhook()
        self.assertEqual(self.ok("webhook", "delete", hook, "--yes"), f"{hook} deleted\n")


if __name__ == "__main__":
    unittest.main()
