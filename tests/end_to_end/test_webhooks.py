"""Goal: what was committed is told, whatever happens to the service or the receiver. Method: a real receiver, and kill -9."""
import base64
import collections
import hashlib
import hmac
import http.server
import json
import threading
import unittest

from service import Service, free_port, points_job, wait_for, write_points


class Receiver:
    """Keeps what is posted to it, with whether its signature is right."""

    def __init__(self, port, secret):
        self.messages = []
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                signed = f"{self.headers['Webhook-Id']}.{self.headers['Webhook-Timestamp']}.".encode() + body
                digest = hmac.new(base64.b64decode(secret.removeprefix("whsec_")), signed, hashlib.sha256).digest()
                genuine = self.headers["Webhook-Signature"] == "v1," + base64.b64encode(digest).decode()
                receiver.messages.append((json.loads(body), genuine))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Webhooks(unittest.TestCase):
    def test_a_service_that_is_killed_after_a_commit_tells_all_of_it(self):
        service = Service("--webhook-allow", "127.0.0.0/8")
        self.addCleanup(service.close)
        write_points(service.data / "points")
        service.start()
        service.dataset("points", "csv", {"group_column": "family"})
        port = free_port()
        hook = service.post("/v1/webhooks", {"url": f"http://127.0.0.1:{port}/", "events": ["job.created", "job.ended"]})
        held = points_job(limits={"start_after": "2040-01-01T00:00:00Z"})
        jobs = []
        for _ in range(3):    # nobody listens yet, and each time the service dies with the last commit
            for _ in range(5):
                jobs.append(service.submit(held))
                service.post(f"/v1/jobs/{jobs[-1]}/cancel", {})
            service.kill()
            service.start()
        receiver = Receiver(port, hook["secret"])
        self.addCleanup(receiver.close)
        wait_for(lambda: len({message["id"] for message, _ in receiver.messages}) == 2 * len(jobs), "every event", 150)
        self.assertTrue(all(genuine for _, genuine in receiver.messages))
        told = collections.defaultdict(set)
        for message, _ in receiver.messages:
            told[message["job"]["id"]].add(message["type"])
        self.assertEqual(told, {job: {"job.created", "job.ended"} for job in jobs})
        wait_for(lambda: not service.get(f"/v1/webhooks/{hook['id']}/deliveries?state=pending")["items"], "the log")


if __name__ == "__main__":
    unittest.main()
