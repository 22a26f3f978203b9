"""Goal: nobody gets an answer that is not theirs. Method: every endpoint of the openapi.json that a real slipwayd serves,
with every media type and every filter that it documents, asked by every kind of caller. What must come is written in
access_rows.py, apart from the code that decides: an endpoint without a row fails the test, and so does a row whose role
is not the document's. SLIPWAY_UPDATE=1 writes the answers into docs/security.md."""
import http.client
import json
import os
import pathlib
import re
import time
import unittest

from access_objects import AccessObjects
from access_rows import ALIASES, CALLERS, ENDPOINTS, OTHER, PROJECT, UNAUTHENTICATED, required_status
from service import SOURCE, Service, points_job, wait_for, write_points

PAGE = SOURCE / "docs/security.md"
MARKERS = ("<!-- access matrix: generated -->", "<!-- access matrix: end -->")


def another(name):
    """An id or name of the same form that names nothing."""
    kind, _, rest = name.rpartition("_")
    return f"{kind}_{rest[:6]}{'0123456789abcdef0123'[:len(rest) - 6]}" if kind else "z" + name[1:]


class AccessMatrix(AccessObjects, unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.service = Service()
        cls.addClassCleanup(cls.service.close)
        write_points(cls.service.data / "points", rows=120)
        closed = cls.service.home / "closed"
        write_points(closed / "kestrel-set", rows=20)
        cls.service.options = ("--dataset-root", f"{PROJECT},wren={closed}", "--webhook-allow", "127.0.0.0/8")
        cls.service.start()
        cls.document = cls.service.call("GET", "/openapi.json", token=None).json
        cls.operations = [(path, method.upper(), operation) for path, methods in cls.document["paths"].items()
                          for method, operation in methods.items()]
        for name, row in ENDPOINTS.items():
            row.name = name
        cls.service.sql("insert into host (name, cores) values ('spare-host', 1)")
        cls.make_callers()
        cls.make_objects()

    # ---- what came -----------------------------------------------------------
    def check_no_leak(self, caller, answer, request, what):
        """Of the project, an answer to an outsider has only the words that the request had."""
        if caller not in (*UNAUTHENTICATED, "other"):
            return
        text = answer.body.decode("utf-8", "replace") + str(answer.headers)
        for secret in self.secrets:
            if secret not in request:
                self.assertNotIn(secret, text, what)

    def same_answer(self, caller, method, path, body, headers, named, what):
        """An object of another project answers like one that is not there: `named` is replaced by what names nothing."""
        def without_names(answer, *names):
            text = answer.body.decode()
            for name in names:
                text = text.replace(name, "NAME")
            shown = {key: value for key, value in answer.headers.items() if key not in ("Date", "X-Request-Id", "Content-Length")}
            return answer.status, re.sub(r'"request_id":"[^"]*"', "", text), shown
        unknown = {name: another(name) for name in named}
        swap = lambda text: re.sub("|".join(map(re.escape, named)), lambda found: unknown[found.group()], text)  # noqa: E731
        changed = json.loads(swap(json.dumps(body))) if isinstance(body, (dict, list)) else body
        there = self.ask(caller, method, path, body, headers)
        missing = self.ask(caller, method, swap(path), changed, headers)
        self.assertEqual(without_names(there, *named), without_names(missing, *unknown.values()), what)
        return there

    def forms(self, method, operation):
        """Each documented media type, filter and, of a GET, HEAD: (method, headers, query)."""
        types = {kind for status, answer in operation["responses"].items() if status[0] == "2" for kind in answer.get("content", {})}
        yield method, {}, ""
        for kind in sorted(types):
            yield method, {"Accept": kind}, ""
        if method == "GET":
            yield "HEAD", {}, ""
        for parameter in operation.get("parameters", []):
            if parameter["in"] == "query" and parameter["name"] in ("format", "form", "as"):
                for word in parameter["schema"].get("enum", []):
                    yield method, {}, f"?{parameter['name']}={word}"

    def documented_success(self, operation):
        statuses = {int(status) for status in operation["responses"] if status[0] in "23"}
        return 201 if 201 in statuses else min(statuses)    # 200 beside it is the answer to dry_run

    # ---- the tests -----------------------------------------------------------
    def test_every_endpoint_has_a_row_with_its_role(self):
        documented = {operation["operationId"]: operation for _, _, operation in self.operations}
        self.assertEqual(sorted(documented), sorted(ENDPOINTS), "each endpoint of openapi.json needs a row in ENDPOINTS")
        for name, operation in documented.items():
            self.assertEqual(operation.get("x-required-role"), ENDPOINTS[name].role, name)
            self.assertEqual(operation.get("security") == [], ENDPOINTS[name].role is None, name)

    def test_every_endpoint_answers_every_caller_as_it_must(self):
        before = self.state_of_objects()
        table = {}
        for path, method, operation in self.operations:
            row = ENDPOINTS[operation["operationId"]]
            table[row.name] = {caller: self.check_caller(caller, path, method, operation, row) for caller in CALLERS}
        self.assertEqual(before, self.state_of_objects(), "who was refused has changed nothing")
        self.check_page(self.page_table(table))

    def check_caller(self, caller, path, method, operation, row):
        ok = row.ok or self.documented_success(operation)
        first = None
        for verb, headers, query in self.forms(method, operation):
            with self.subTest(caller=caller, endpoint=row.name, method=verb, headers=headers, query=query):
                required = required_status(row, verb, caller, ok)
                made = self.fresh(row.fresh) if row.fresh and required == ok else self.made
                target = self.path_of(path, made) + query
                body = {"token": self.tokens.get(caller) or self.tokens["project_admin"] if caller == "cookie"
                        else self.tokens[caller] or "none"} if row.about == "login" else row.body and row.body(made)
                answer = self.ask(caller, verb, target, body, {**(row.headers or {}), **headers})
                first = first or answer.status
                self.assertEqual(answer.status, required, answer.body[:300])
                self.check_no_leak(caller, answer, target + str(body), answer.body[:600])
                if required == 404 and verb != "HEAD":
                    named = [made[kind] for kind in ("job", "checkpoint", "prediction", "dataset", "upload", "token")
                             if made[kind] in target] or [PROJECT]
                    self.same_answer(caller, verb, target, body, {**(row.headers or {}), **headers}, named, row.name)
        return first

    def test_lists_and_filters_do_not_show_other_projects(self):
        """Filters by the project, and by its objects: as if these did not exist."""
        named = {"project": PROJECT, "dataset": self.made["dataset"], "job": self.made["job"]}
        asked = 0
        for path, method, operation in self.operations:
            names = {one["name"] for one in operation.get("parameters", []) if one["in"] == "query"} & named.keys()
            if method != "GET" or "{" in path:
                continue
            for name in names:
                with self.subTest(endpoint=operation["operationId"], filter=name):
                    target = f"{path}?{name}={named[name]}"
                    answer = self.same_answer("other", "GET", target, None, None, [named[name]], target)
                    self.check_no_leak("other", answer, target, answer.body[:600])
                    asked += 1
        self.assertGreaterEqual(asked, 6)

    def test_pages_of_a_list_say_nothing_of_what_is_left_out(self):
        """To a token of two projects a list has as many pages of one as it has items, whatever lies between these."""
        token = self.make_token("viewer", OTHER, "wren")["token"]
        self.dataset(f"kestrel-gone-{next(self.numbers)}", PROJECT)
        for path, least in (("/v1/jobs", 1), ("/v1/datasets", 1), ("/v1/checkpoints", 1), ("/v1/queue", 0), ("/v1/predictions", 0)):
            everything = self.service.call("GET", f"{path}?limit=200", token=token).json["items"]
            self.assertGreaterEqual(len(everything), least, path)
            paged, cursor = [], ""
            for _ in everything or [None]:
                page = self.service.call("GET", f"{path}?limit=1{cursor}", token=token).json
                paged += page["items"]
                cursor = f"&cursor={page['next_cursor']}" if page["next_cursor"] else ""
            self.assertEqual((paged, cursor), (everything, ""), path)

    def test_an_object_of_another_project_cannot_be_used_in_a_body(self):
        job = {**points_job(), "project": OTHER, "name": "heron-job"}
        with_data = lambda **data: {**job, "data": {"dataset": "heron-points", **data}}  # noqa: E731
        made = self.made
        split = {"split": {"id": made["split"], "fold": 0}}
        bodies = {
            "data.dataset by id": ("/v1/jobs", with_data(dataset=made["dataset"]), [made["dataset"]]),
            "data.dataset by name": ("/v1/jobs", with_data(dataset="kestrel-points"), ["kestrel-points"]),
            "data.split.id": ("/v1/jobs", with_data(**split), [made["split"]]),
            "model.init.from, a checkpoint": ("/v1/jobs", {**with_data(), "model": {
                **job["model"], "init": {"from": made["checkpoint"]}}}, [made["checkpoint"]]),
            "model.init.from, an upload": ("/v1/jobs", {**with_data(), "model": {
                **job["model"], "init": {"from": made["upload"]}}}, [made["upload"]]),
            "model.from": ("/v1/jobs", {**with_data(), "model": {"arch": "imported", "from": made["upload"]}}, [made["upload"]]),
            "from.job": ("/v1/predictions", {"project": OTHER, "from": {"job": made["job"]},
                                             "data": {"dataset": "heron-points"}}, [made["job"]]),
            "from.checkpoint": ("/v1/predictions", {"project": OTHER, "from": {"checkpoint": made["checkpoint"]},
                                                    "data": {"dataset": "heron-points"}}, [made["checkpoint"]]),
            "from.checkpoint of a job": ("/v1/predictions", {"project": OTHER, "from": {
                "job": self.other_job, "checkpoint": made["checkpoint"]}, "data": {"dataset": "heron-points"}},
                [made["checkpoint"]]),
            "prediction's data.dataset": ("/v1/predictions", {"project": OTHER, "from": {"job": self.other_job},
                                                              "data": {"dataset": made["dataset"]}}, [made["dataset"]]),
            "source.path": ("/v1/datasets", {"name": "heron-stolen", "project": OTHER, "format": "csv",
                                             "source": {"path": "kestrel-set"}}, ["kestrel-set"]),
            "source.upload": ("/v1/datasets", {"name": "heron-stolen", "project": OTHER, "format": "csv",
                                               "source": {"upload": made["upload"]}}, [made["upload"]]),
        }
        for what, (path, body, named) in bodies.items():
            for query in ("", "?dry_run=true"):
                with self.subTest(body=what, query=query):
                    answer = self.same_answer("other", "POST", path + query, body, None, named, what)
                    self.assertEqual(answer.status, 422, answer.body)
                    self.check_no_leak("other", answer, json.dumps(body), answer.body)

    def test_a_root_of_the_project_is_its_own(self):
        made = self.service.post("/v1/datasets", {"name": "kestrel-own", "project": PROJECT, "format": "csv",
                                                  "source": {"path": "kestrel-set"}, "options": {"group_column": "family"}})
        state = wait_for(lambda: (now := self.service.get(f"/v1/datasets/{made['id']}")["state"]) != "checking" and now, "a check")
        self.assertEqual(state, "ready")

    def test_a_stream_ends_with_the_token_that_made_its_own(self):
        maker = self.make_token("admin", PROJECT)
        made = self.service.call("POST", "/v1/tokens", {"name": "made", "projects": [PROJECT]}, token=maker["token"]).json
        job = self.service.submit({**self.made["job_spec"], "name": "kestrel-long", "train": {
            **self.made["job_spec"]["train"], "epochs": 999999}})
        self.addCleanup(self.service.wait_end, job)
        self.addCleanup(self.service.post, f"/v1/jobs/{job}/kill", {})
        self.service.wait_state(job, "running")
        streams = []
        for path in (f"/v1/jobs/{job}/events", "/v1/events"):
            connection = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=60)
            self.addCleanup(connection.close)
            connection.request("GET", path, headers={
                "Accept": "text/event-stream", "Authorization": f"Bearer {made['token']}"})
            streams.append(connection.getresponse())
            self.assertEqual((streams[-1].status, streams[-1].readline()[:6]), (200, b"retry:"))
        self.assertEqual(self.service.call("DELETE", f"/v1/tokens/{maker['id']}").status, 204)
        end = time.monotonic() + 30
        for stream in streams:
            while stream.readline():
                self.assertLess(time.monotonic(), end, "the stream goes on")
        self.assertEqual(self.service.job(job)["state"], "running")

    def test_a_stream_ends_with_a_role(self):
        self.put_member(PROJECT, "leaver", "viewer")
        self.put_member(OTHER, "leaver", "viewer")
        token = self.member_token("leaver", "admin")
        connection = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=60)
        self.addCleanup(connection.close)
        connection.request("GET", "/v1/events", headers={"Accept": "text/event-stream", "Authorization": f"Bearer {token}"})
        stream = connection.getresponse()
        self.assertEqual((stream.status, stream.readline()[:6]), (200, b"retry:"))
        job = f"/v1/jobs/{self.made['job']}"
        self.assertEqual(self.service.call("GET", job, token=token).status, 200)
        self.assertEqual(self.service.call("DELETE", f"/v1/projects/{PROJECT}/members/leaver").status, 204)
        self.assertEqual(self.service.call("GET", job, token=token).status, 404)
        self.assertEqual(self.service.call("GET", f"/v1/jobs/{self.other_job}", token=token).status, 200)
        end = time.monotonic() + 30
        while stream.readline():
            self.assertLess(time.monotonic(), end, "the stream goes on")

    def test_other_addresses_are_the_same_endpoints(self):
        for path, name in ALIASES.items():
            for caller in CALLERS:
                with self.subTest(path=path, caller=caller):
                    answer = self.ask(caller, "GET", path)
                    self.assertEqual(answer.status, required_status(ENDPOINTS[name], "GET", caller, 200))
                    self.check_no_leak(caller, answer, path, answer.body[:300])

    def test_files_and_unknown_paths_know_no_caller(self):
        """The dashboard is the same for everybody; below an unknown path there is nothing for anybody."""
        page = self.ask("nobody", "GET", "/")
        linked = re.findall(r'(?:src|href)="(/?[\w./-]+)"', page.body.decode())
        files = ["/", "/docs/index.html", *sorted({"/" + link.lstrip("/") for link in linked} - {"/"})]
        self.assertGreaterEqual(len(files), 3, page.body)
        for path in files:
            bodies = {self.ask(caller, "GET", path).body for caller in CALLERS}
            self.assertEqual(len(bodies), 1, path)
            self.assertEqual(self.ask("nobody", "GET", path).status, 200, path)
        for path in ("/docs/", "/docs/nothing.html", "/v1", "/v1/nothing", "/admin-token", "/slipwayd.log", "/store",
                     "/..%2fadmin-token", f"/v1/jobs/{self.made['job']}/nothing"):
            answers = {(answer.status, re.sub(rb'"request_id":"[^"]*"', b"", answer.body))
                       for answer in (self.ask(caller, "GET", path) for caller in CALLERS)}
            self.assertEqual(len(answers), 1, path)
            self.assertIn(answers.pop()[0], (400, 404), path)

    def test_a_method_that_is_not_documented_is_none(self):
        for path, methods in self.document["paths"].items():
            # "bulk" in the place of an id is the id of nothing for the methods of a job.
            folder = path.rpartition("/")[0]
            of_an_id = [each for name, each in self.document["paths"].items() if re.fullmatch(re.escape(folder) + r"/\{\w+\}", name)]
            methods = set(methods).union(*of_an_id)
            for method in sorted({"GET", "POST", "PUT", "PATCH", "DELETE"} - {method.upper() for method in methods}):
                answer = self.ask("admin", method, self.path_of(path, self.made))
                self.assertEqual(answer.status, 405, (method, path, answer.body))

    # ---- the page ------------------------------------------------------------
    def state_of_objects(self):
        made = self.made
        paths = [f"/v1/datasets/{made['dataset']}", f"/v1/checkpoints/{made['checkpoint']}", f"/v1/uploads/{made['upload']}",
                 f"/v1/predictions/{made['prediction']}", f"/v1/datasets/{made['dataset']}/splits/{made['split']}"]
        kept = [self.service.get(path) for path in paths]
        tokens = {one["id"]: one.get("revoked_at") for one in self.service.get("/v1/tokens?limit=200")["items"]}
        return kept, tokens[made["token"]], self.service.get(f"/v1/jobs/{made['job']}")["name"]

    def page_table(self, table):
        lines = ["| endpoint | " + " | ".join(name.replace("_", " ") for name in CALLERS) + " |", "|---" * (len(CALLERS) + 1) + "|"]
        for path, method, operation in self.operations:
            got = table[operation["operationId"]]
            lines.append(f"| `{method} {path}` | " + " | ".join(str(got[caller]) for caller in CALLERS) + " |")
        return "\n".join(lines)

    def check_page(self, made):
        before, _, rest = PAGE.read_text().partition(MARKERS[0])
        kept, _, after = rest.partition(MARKERS[1])
        if os.environ.get("SLIPWAY_UPDATE"):
            pathlib.Path(PAGE).write_text(f"{before}{MARKERS[0]}\n{made}\n{MARKERS[1]}{after}")
        else:
            self.assertEqual(kept.strip(), made, "SLIPWAY_UPDATE=1 writes docs/security.md anew")


if __name__ == "__main__":
    unittest.main()
