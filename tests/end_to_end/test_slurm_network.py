"""Goal: attempts run on nodes that share nothing with slipwayd but files, and end with the same bits whatever breaks between them.
Method: the real service and a real cluster, each node in a network, a process space and a host name of its own; cuts, kills, unauthenticated connections."""
import contextlib
import json
import os
import pathlib
import re
import socket
import subprocess
import unittest

import slurm_network
import slurm_service
from network import entered
from service import BIN, ENDLESS_EPOCHS, points_job, wait_for, write_points

LONG = {"train": {"epochs": 150}, "checkpoint": {"every_epochs": 4, "keep_last": 2}, "monitor": {"log_every_steps": 20}}
SLICE_EPOCHS = 2
CUT_S = 14    # longer than an executor of this machine may be silent
PENDING_CONNECTIONS = 1000
PENDING_MIB_MAX = 40


class SlurmNetworkTestCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        slurm_network.start(cls, ("--virtual-hosts", "2", "--host-name", "pod"))
        write_points(cls.service.data / "points", rows=4000)
        subprocess.run([BIN / "slipway-glyphs", "--out", cls.service.data / "glyphs", "--samples", "400"], check=True,
                       stdout=subprocess.DEVNULL)
        cls.service.start()
        cls.service.dataset("points", "csv", {"group_column": "family"})
        cls.service.dataset("glyphs", "image_csv")
        cls.bits = {}

    def tearDown(self):
        self.cluster.wait_empty()
        self.assertEqual(self.service.executors(), [])

    # ---- help -------------------------------------------------------------------
    def log(self):
        return (self.service.home / "slipwayd.log").read_text()

    def connections(self, job_id):
        """Addresses of the nodes that have connected for this job."""
        found = re.findall(r"a node has connected.* name=(\S+) from=(\S+)", self.log())
        return [address for name, address in found if name.startswith(job_id)]

    def attempts(self, job_id):
        return self.service.get(f"/v1/jobs/{job_id}/attempts")["items"]

    def long_job(self, name, epochs=LONG["train"]["epochs"]):
        job_id = self.service.submit(points_job(name=name, **{**LONG, "train": {"epochs": epochs}}))
        slurm_service.mid_job(self.service, job_id)
        return job_id

    def undisturbed(self):
        """Weights of the long job, of a run that nothing has happened to."""
        if "long" not in self.bits:
            job_id = self.service.submit(points_job(name="undisturbed", **LONG))
            self.assertEqual(self.service.wait_end(job_id)["state"], "succeeded")
            self.bits["long"] = self.service.newest_weights(job_id)
        return self.bits["long"]

    def assert_ends_like_undisturbed(self, job_id):
        ended = self.service.wait_end(job_id, 240)
        self.assertEqual(ended["state"], "succeeded", ended.get("reason"))
        self.assertEqual(len(self.attempts(job_id)), 1)
        self.assertEqual(self.service.newest_weights(job_id), self.undisturbed())

    def steps_after_the_next(self, job_id):
        """Those that are stored once there is one more than now."""
        steps = lambda: sorted(self.service.metric(job_id, "train_loss"))
        last = max(steps(), default=0)
        wait_for(lambda: max(steps(), default=0) > last, "the job to report on", 60)
        return steps()

    def assert_one_attempt_until_cancelled(self, job_id):
        self.service.post(f"/v1/jobs/{job_id}/cancel", {})
        self.assertEqual(self.service.wait_end(job_id)["state"], "cancelled")
        self.assertEqual(len(self.attempts(job_id)), 1)

    def order(self, job_id):
        """What the node of this job was told."""
        for file in (self.service.home / "slurm").glob("*.order"):
            with contextlib.suppress(FileNotFoundError):
                order = json.loads(file.read_text())
                if job_id in order["folder"]:
                    return order
        return None

    def port(self):
        return json.loads((self.service.home / "slurm" / "listener.json").read_text())["port"]

    def node_of(self, job_id):
        """1, 2, …"""
        number = slurm_service.slurm_number(self.cluster, job_id)
        return int(re.search(r" NodeList=node(\d)", self.cluster.run("scontrol", "show", "job", number))[1])

    # ---- before the first job ---------------------------------------------------
    def test_the_doctor_knows_which_address_the_nodes_reach(self):
        def said(*words):
            done = subprocess.run([BIN / "slipwayd", "doctor", "--home", self.service.home, "--launcher", "slurm", *words],
                                  capture_output=True, text=True, timeout=60)
            return [line for line in done.stdout.splitlines() if " slurm address " in line][0]
        address = self.cluster.address(0)
        self.assertRegex(said("--slurm-address", address, "--slurm-port", str(self.port())), f"^ok .*{address} port .*slipwayd is running")
        self.assertRegex(said("--slurm-address", "127.0.0.1"), "^NO .*from this machine only, and node node1 is another one")
        self.assertRegex(said(), "^NO .*node node1 and 1 more are other machines: give --slurm-address")

    # ---- a node that lacks something --------------------------------------------
    @contextlib.contextmanager
    def without_home(self, node):
        """An empty folder in the place of the home folder, on this node alone."""
        # umount reads /proc/self, which is of the processes of the node.
        inside = ["nsenter", "--target", str(self.cluster.first_process(node)), "--mount", "--pid"]
        subprocess.run([*inside, "mount", "-t", "tmpfs", "tmpfs", self.service.home], check=True)
        try:
            yield
        finally:
            subprocess.run([*inside, "umount", "-l", self.service.home], check=True)
            # It leaves the node out for ten minutes, as long as it runs.
            self.service.kill()
            self.service.start()

    def test_a_node_without_the_home_folder_is_named_and_left_out(self):
        with self.without_home(1):
            said = subprocess.run([BIN / "slipwayd", "node", "check", "--home", self.service.home, "--launcher", "slurm"],
                                  capture_output=True, text=True, timeout=120)
            self.assertEqual(said.returncode, 1, said.stdout + said.stderr)
            first, second = said.stdout.split("node node2")
            self.assertRegex(first, "(?m)^NO +store ")
            self.assertNotIn("NO ", second)
            self.assertRegex(second, "(?m)^ok +service +" + self.cluster.address(0))

            job_id = self.service.submit(slurm_service.slice_job("no home", 16, SLICE_EPOCHS))
            first = wait_for(lambda: (ended := [one for one in self.attempts(job_id) if one["exit_kind"]]) and ended, "an attempt to end", 60)[0]
            self.service.post(f"/v1/jobs/{job_id}/cancel", {})
            self.service.wait_end(job_id)
            self.assertEqual(first["exit_kind"], "not_started", first)
            self.assertIn("on node node1", first["message"])
            self.assertNotIn("node2", first["message"])

            job_id = self.service.submit(points_job(name="no home", **LONG))
            ended = self.service.wait_end(job_id)
            self.assertEqual(ended["state"], "succeeded", ended.get("reason"))
            self.assertEqual(ended["restarts"], 0)
            *failed, last = self.attempts(job_id)
            self.assertLessEqual(len(failed), 3)
            for attempt in failed:
                self.assertEqual(attempt["exit_kind"], "not_started", attempt)
                self.assertRegex(attempt["message"], "on node node1.*home folder")
            self.assertEqual(last["exit_kind"], "succeeded")

    # ---- jobs -------------------------------------------------------------------
    def test_a_job_on_another_machine_succeeds_and_can_be_stopped(self):
        job_id = self.service.submit(points_job(name="one core", **LONG))
        node = self.node_of(job_id)
        slurm_service.mid_job(self.service, job_id)
        self.assertEqual(self.connections(job_id), [self.cluster.address(node)])
        self.service.post(f"/v1/jobs/{job_id}/pause", {})    # asks the executor, which saves
        self.service.wait_state(job_id, "paused")
        self.service.post(f"/v1/jobs/{job_id}/resume", {})
        ended = self.service.wait_end(job_id)
        self.assertEqual(ended["state"], "succeeded", ended.get("reason"))
        self.assertEqual([attempt["exit_kind"] for attempt in self.attempts(job_id)], ["orphaned", "succeeded"])    # it saved and left
        self.assertEqual(self.service.newest_weights(job_id), self.undisturbed())

    def test_a_killed_executor_is_known_by_its_signal(self):
        job_id = self.long_job("killed")
        slurm_service.kill(self.service.executors(job_id)[0])
        ended = self.service.wait_end(job_id)
        self.assertEqual(ended["state"], "succeeded", ended.get("reason"))
        first = self.attempts(job_id)[0]
        self.assertEqual(first["exit_kind"], "crashed", first)
        self.assertIn("signal 9", first["message"])

    def test_a_slice_on_two_machines_gives_the_weights_of_one_process(self):
        job_id = self.service.submit(slurm_service.slice_job("two machines", 16, SLICE_EPOCHS))
        ended = self.service.wait_end(job_id, 240)
        self.assertEqual(ended["state"], "succeeded", ended.get("reason"))
        self.assertEqual(self.service.newest_weights(job_id), slurm_service.one_process(self.service, 16, SLICE_EPOCHS))
        self.assertEqual(sorted(set(self.connections(job_id))), [self.cluster.address(1), self.cluster.address(2)])
        # Gradients went over the network of the nodes.
        for rank, part in ((0, "1"), (1, "1.1")):
            offer = (self.service.home / "runs" / job_id / part / "rendezvous" / str(rank)).read_text()
            self.assertIn(socket.inet_aton(self.cluster.address(1)).hex()[:6], offer)

    # ---- faults -----------------------------------------------------------------
    def test_a_link_that_is_cut_and_mended_loses_nothing(self):
        job_id = self.long_job("cut", ENDLESS_EPOCHS)
        node = self.node_of(job_id)
        self.cluster.network.cut(node)
        with contextlib.ExitStack() as cleanup:
            cleanup.callback(self.cluster.network.mend, node)
            looks = iter(range(CUT_S))
            wait_for(lambda: next(looks, None) is None, "the cut to last", 2 * CUT_S, 1)
            self.assertEqual(self.service.job(job_id)["state"], "running")
            self.assertEqual(len(self.connections(job_id)), 1)
        wait_for(lambda: len(self.connections(job_id)) == 2, "the node to connect again", 30)
        steps = self.steps_after_the_next(job_id)
        self.assertEqual(steps, list(range(steps[0], steps[-1] + 1, LONG["monitor"]["log_every_steps"])))
        self.assert_one_attempt_until_cancelled(job_id)

    def test_a_killed_service_is_found_by_the_nodes_at_its_new_port(self):
        job_id = self.long_job("service killed")
        before = self.port()
        self.service.kill()
        self.service.start()
        self.assertNotEqual(self.port(), before)
        self.assert_ends_like_undisturbed(job_id)
        self.assertEqual(len(self.connections(job_id)), 2)

    def test_a_killed_service_takes_a_slice_over(self):
        job_id = self.service.submit(slurm_service.slice_job("slice, service killed", 16, SLICE_EPOCHS))
        slurm_service.mid_job(self.service, job_id)
        self.service.kill()
        self.service.start()
        ended = self.service.wait_end(job_id, 240)
        self.assertEqual(ended["state"], "succeeded", ended.get("reason"))
        self.assertEqual(len(self.attempts(job_id)), 1)
        self.assertEqual(self.service.newest_weights(job_id), slurm_service.one_process(self.service, 16, SLICE_EPOCHS))

    def test_a_killed_slurmctld_ends_nothing(self):
        job_id = self.long_job("slurmctld killed", ENDLESS_EPOCHS)
        self.cluster.wait_saved(slurm_service.slurm_number(self.cluster, job_id))
        self.cluster.end("slurmctld")
        with contextlib.ExitStack() as cleanup:
            cleanup.callback(self.cluster.start_controller)
            self.steps_after_the_next(job_id)
        self.assert_one_attempt_until_cancelled(job_id)

    # ---- unauthenticated connections -------------------------------------------
    def test_a_wrong_secret_is_refused_and_named(self):
        job_id = self.long_job("wrong secret", ENDLESS_EPOCHS)
        identity = self.order(job_id)["link"]["identity"]
        for name, said in ((identity, rf"does not prove the key.* name={job_id}/1 from=10\.77\.0\.3"),
                           ("nobody", "do not name a program that runs here")):
            done = subprocess.run([*self.cluster.on(2), "openssl", "s_client", "-tls1_3", "-ciphersuites", "TLS_AES_128_GCM_SHA256",
                                   "-psk", "00" * 32, "-psk_identity", name, "-connect", f"{self.cluster.address(0)}:{self.port()}"],
                                  input="", capture_output=True, text=True, timeout=20)
            self.assertNotEqual(done.returncode, 0, done.stdout)
            self.assertNotIn("hello", done.stdout)
            wait_for(lambda pattern=said: re.search(pattern, self.log()), f"{said} in the log", 30)
        self.assertEqual(len(self.connections(job_id)), 1)
        self.steps_after_the_next(job_id)
        self.assert_one_attempt_until_cancelled(job_id)

    def resident_mib(self):
        status = pathlib.Path(f"/proc/{self.service.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024

    def test_a_thousand_unauthenticated_connections_take_nothing(self):
        job_id = self.long_job("unauthenticated", ENDLESS_EPOCHS)
        before = self.resident_mib()
        files = pathlib.Path(f"/proc/{self.service.process.pid}/fd")
        open_before = len(list(files.iterdir()))
        port, address = self.port(), self.cluster.address(0)
        with contextlib.ExitStack() as open_sockets, entered(self.cluster.network.namespaces[2]):
            for number in range(PENDING_CONNECTIONS):
                pending = open_sockets.enter_context(socket.create_connection((address, port), 10))
                with contextlib.suppress(OSError):
                    pending.sendall(os.urandom(1 + number % 3000) if number % 2 else b"\x16\x03\x01\x02\x00\x01")
            self.assertLess(len(list(files.iterdir())) - open_before, 300)
        self.assertLess(self.resident_mib() - before, PENDING_MIB_MAX)
        wait_for(lambda: len(list(files.iterdir())) - open_before < 30, "the pending connections to be closed", 20)
        self.assertIn("connections were refused", self.log())
        self.steps_after_the_next(job_id)
        self.assert_one_attempt_until_cancelled(job_id)

    # ---- what is kept -----------------------------------------------------------
    def test_no_secret_can_be_read_by_others(self):
        job_id = self.long_job("secrets", ENDLESS_EPOCHS)
        number = slurm_service.slurm_number(self.cluster, job_id)
        secret = self.order(job_id)["link"]["secret"]
        said = self.cluster.run("scontrol", "show", "job", "-d", number) + self.cluster.run("scontrol", "write", "batch_script", number, "-")
        for entry in pathlib.Path("/proc").iterdir():
            for name in ("cmdline", "environ"):
                with contextlib.suppress(OSError):
                    said += (entry / name).read_text(errors="replace") if entry.name.isdigit() else ""
        self.assertGreater(len(secret), 60)
        self.assertNotIn(secret, said + self.log())
        for file in (self.service.home / "slurm").rglob("*"):
            self.assertEqual(file.stat().st_mode & 0o077, 0, file)
        self.service.post(f"/v1/jobs/{job_id}/cancel", {})
        self.assertEqual(self.service.wait_end(job_id)["state"], "cancelled")


if __name__ == "__main__":
    unittest.main()
