"""Goal: projects, members, tokens and quotas are managed in a browser by those who may, and the audit log is read.
Method: the real service; a script drives Chromium and prints what it found as JSON."""
import unittest

from service_for_browsers import Dashboard, NoComplaints


class Access(NoComplaints, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.board = Dashboard(cls)
        cls.found = cls.board.run("access")

    def test_mistakes_are_refused_in_words(self):
        self.assertIn("/name", self.found["project_refused"])
        self.assertIn("/cores", self.found["quota_refused"])

    def test_weight_quota_and_group_are_set(self):
        project = self.board.service.get("/v1/projects/vision")
        self.assertEqual((project["weight"], project["quota"]), (2, {"cores": 4, "class_max": "high"}))
        self.assertEqual(self.board.service.get("/v1/projects/vision/groups")["items"][0]["limit"], 3)

    def test_members_have_their_roles(self):
        members = self.board.service.get("/v1/projects/vision/members")["items"]
        self.assertEqual([(one["member"], one["role"]) for one in members], [("ann@example.org", "admin")])

    def test_the_secret_of_a_token_is_shown_once(self):
        self.assertRegex(self.found["secret"], "^slp_")
        self.assertFalse(self.found["secret_again"])
        self.assertIn('"member":"ann@example.org"', self.found["token_curl"])

    def test_a_revoked_token_is_worth_nothing(self):
        self.assertEqual(self.board.service.call("GET", "/v1/me", token=self.found["secret"]).status, 401)

    def test_the_audit_log_says_who_did_what(self):
        for words in ("put member", "create project", "put project quota", "create token"):
            self.assertIn(words, self.found["audit"])

    def test_lists_say_what_to_do_before_there_is_anything(self):
        nothing = self.found["nothing_yet"]
        self.assertIn("Nothing runs", nothing["overview"])
        self.assertIn("Submit the first one", nothing["jobs"])
        self.assertIn("No job waits", nothing["queue"])
        for page in ("sweeps", "cross-validations", "evaluations", "predictions"):
            self.assertIn("slipway ", nothing[page])

    def test_what_one_may_not_see_says_so(self):
        self.assertIn("Ask an admin", self.found["audit_refused"])

    def test_pages_offer_what_the_role_may(self):
        self.assertEqual(self.found["projects_of_ann"], ["vision"])
        for section in ("Tokens", "Audit"):
            self.assertNotIn(section, self.found["sections"])
        self.assertEqual(self.found["buttons_of_ann"], ["Set the limit"])


if __name__ == "__main__":
    unittest.main()
