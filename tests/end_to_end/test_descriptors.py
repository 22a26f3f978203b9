"""Goal: what the service starts has no descriptor of the service's, so that nothing of it outlives its end.

Method: the descriptors of each child are compared with the service's own, by the socket or pipe that they name; then the
service and its database are killed, and the next start must find the port free.
"""
import contextlib
import os
import pathlib
import signal
import unittest

from service import ENDLESS_EPOCHS, Service, points_job, wait_for, write_points


def descriptors(process):
    """What each descriptor names: "socket:[123]", "/dev/null"."""
    found = {}
    with contextlib.suppress(OSError):
        for entry in pathlib.Path(f"/proc/{process}/fd").iterdir():
            with contextlib.suppress(OSError):
                found[int(entry.name)] = os.readlink(entry)
    return found


def descendants(process):
    """Process id and name of each."""
    found, parents = {}, {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                line = (entry / "stat").read_text()
                parents[int(entry.name)] = int(line.rsplit(")", 1)[1].split()[1])
                found[int(entry.name)] = line[line.index("(") + 1:line.rindex(")")]
    below = {process}
    while more := {one for one, parent in parents.items() if parent in below} - below:
        below |= more
    return {one: found[one] for one in below - {process}}


class Descriptors(unittest.TestCase):
    def setUp(self):
        self.service = Service()
        self.addCleanup(self.service.close)
        write_points(self.service.data / "points")
        self.service.start()
        self.service.dataset("points", "csv", {"group_column": "family"})

    def shared(self):
        """Of each child what it has in common with the service, beside what an executor gets as its number 3 (a lock of its run folder,
        or the channel of a worker) and the frames, which both have opened."""
        service = self.service.process.pid
        ours = {name for name in descriptors(service).values() if name.startswith(("socket:", "pipe:", str(self.service.home)))}
        found, names = [], set()
        for child, name in descendants(service).items():
            names.add(name)
            found += [(name, number, what) for number, what in descriptors(child).items()
                      if what in ours and not (name.startswith("slipway-exec") and (number == 3 or what.endswith("/frames.ndjson")))]
        return found, names

    def kill_database(self, postmaster):
        """Returns when another one answers: /readyz is up to a second old, and says yes while it still recovers."""
        os.kill(postmaster, signal.SIGKILL)

        def answers():
            if self.service.postmaster() == postmaster:
                return False
            with contextlib.suppress(AssertionError, OSError, IndexError):
                return self.service.sql("select 1") and self.service.call("GET", "/readyz", token=None).status == 200
            return False
        wait_for(answers, "the database to be there again")

    def test_children_have_no_descriptor_of_the_service(self):
        job = self.service.submit(points_job(train={"epochs": ENDLESS_EPOCHS}))
        self.service.wait_said(job, "metric")
        shared, names = self.shared()
        self.assertEqual(shared, [])
        self.assertTrue(any(name.startswith("slipway-exec") for name in names), names)
        self.assertIn("postgres", names)
        # One that is started while connections are open and answers are under way.
        postmaster = self.service.postmaster()
        self.kill_database(postmaster)
        shared, names = self.shared()
        self.assertEqual(shared, [])
        self.assertIn("postgres", names)

    def test_a_start_after_both_were_killed_works_at_once(self):
        postmaster = self.service.postmaster()
        self.kill_database(postmaster)
        self.service.kill()
        with self.assertRaises(ConnectionRefusedError):
            self.service.call("GET", "/healthz", token=None)
        self.service.start()


if __name__ == "__main__":
    unittest.main()
