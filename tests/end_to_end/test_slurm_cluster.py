"""Goal: deploy/slurm/up gives a Slurm cluster to try things with, and deploy/slurm/down takes exactly that away.
Method: the real daemons, in a folder and on ports of their own."""
import signal
import subprocess
import unittest

from service import wait_for
from slurm_cluster import DOWN, UP, Cluster, is_alive


class SlurmClusters(unittest.TestCase):
    """One cluster of two hosts."""
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(hosts=2, cpus=4)
        cls.addClassCleanup(cls.cluster.close)

    def test_1_it_starts_and_runs_on_all_hosts(self):
        said = self.cluster.up()
        self.assertIn("Slurm is ready: 2 hosts of 4 CPUs", said)
        self.assertEqual(self.cluster.daemons(), ["munged", "slurmctld", "slurmd-node1", "slurmd-node2"])
        hosts = self.cluster.run("srun", "--mpi=none", "-N2", "sh", "-c", "echo $SLURMD_NODENAME").split()
        self.assertEqual(sorted(hosts), ["node1", "node2"])

    def test_2_once_more_changes_nothing(self):
        before = [self.cluster.pid(name) for name in self.cluster.daemons()]
        self.assertNotIn("Starting", self.cluster.up())
        self.assertEqual([self.cluster.pid(name) for name in self.cluster.daemons()], before)

    def test_3_other_settings_are_refused_while_it_runs(self):
        self.assertIn("first stop it: deploy/slurm/down", self.cluster.up("--cpus", "5", check=1))
        self.assertEqual(len(self.cluster.daemons()), 4)

    def test_4_a_daemon_that_was_killed_is_started_again(self):
        for name in ("slurmd-node1", "slurmctld", "munged"):
            self.cluster.kill(name)
        said = self.cluster.up()
        for name in ("slurmd-node1", "slurmctld", "munged"):
            self.assertIn(f"Starting {name}\n", said)
        self.assertNotIn("Starting slurmd-node2", said)
        self.assertEqual(self.cluster.run("srun", "--mpi=none", "-N2", "echo", "here").split(), ["here", "here"])

    def test_5_it_does_not_stop_under_jobs(self):
        self.cluster.run("sbatch", "--output=/dev/null", "--wrap", "sleep 600")
        self.assertRegex(self.cluster.down(check=1), r"\d+ jobs wait or run; wait for them, or cancel them with --jobs")
        wait_for(lambda: ("RUNNING", "wrap") in [(state, name) for _, state, name in self.cluster.queue()], "the job to run")

    def test_6_it_stops_its_own_daemons_alone(self):
        other = subprocess.Popen(["sleep", "600"])
        self.addCleanup(other.wait)
        self.addCleanup(other.send_signal, signal.SIGKILL)
        pids = [self.cluster.pid(name) for name in self.cluster.daemons()]
        # The number of a daemon that has ended may be another process's by now.
        (self.cluster.folder / "run" / "slurmd-node2.pid").write_text(f"{other.pid}\n")
        self.cluster.down("--jobs")
        self.assertIsNone(other.poll())
        left = [pid for pid in pids if is_alive(pid)]
        self.assertEqual(len(left), 1, left)
        (self.cluster.folder / "run" / "slurmd-node2.pid").write_text(f"{left[0]}\n")
        self.cluster.down()
        self.assertFalse(is_alive(left[0]))
        self.assertIn("No Slurm of deploy/slurm/up runs", self.cluster.down())

    def test_7_it_starts_again_with_what_it_knew(self):
        self.cluster.up()
        wait_for(lambda: "JobState=CANCELLED" in (self.cluster.folder / "log/jobs.log").read_text(), "the end of the job in the log")


class SlurmClusterArguments(unittest.TestCase):
    """Nothing is installed or started for them."""

    def test_wrong_values_are_named(self):
        for words, said in (([UP, "--hosts", "0"], "--hosts must be a number from 1 to 16, got 0"),
                            ([UP, "--hosts", "two"], "--hosts must be a number from 1 to 16, got two"),
                            ([UP, "--cpus", "1000"], "--cpus must be a number from 1 to 256, got 1000"),
                            ([UP, "--port", "80"], "--port must be a number from 1024"),
                            ([UP, "--folder", "/tmp/a b"], "--folder may have letters"),
                            ([UP, "--nodes", "2"], "unknown argument --nodes"),
                            ([DOWN, "--all"], "unknown argument --all")):
            done = subprocess.run(words, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 1, words)
            self.assertIn(said, done.stderr)

    def test_they_say_how_they_are_used(self):
        for program in (UP, DOWN):
            done = subprocess.run([program, "--help"], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0)
            self.assertIn("--folder", done.stdout)


if __name__ == "__main__":
    unittest.main()
