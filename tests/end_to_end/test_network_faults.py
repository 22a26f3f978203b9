"""Goal: a slice whose network is slow, loses packets or is cut trains on with the same bits, or ends with the rank, the host and the phase.
Method: real executors, each in a network namespace with an address of its own; a switch between them that delays and drops packets."""
import re
import unittest

from network import Network, skip_unless_permitted
from service import wait_for
from test_members import LONG, MembersCase, job

CUT_LIMIT_S = 3
SAVING = {"every_steps": 2, "keep_last": 3}


class NetworkFaultsTestCase(MembersCase):
    @classmethod
    def setUpClass(cls):
        skip_unless_permitted()

    def network(self, count, **faults):
        network = Network(count, **faults)
        self.addCleanup(network.close)
        return network

    def weights_of_undisturbed(self, spec, count):
        whole = self.start("whole", spec, count)
        self.assert_succeeded(whole)
        return self.weights(whole)

    def trains(self, members, steps):
        wait_for(lambda: members.step() >= steps, f"{steps} steps", 60, 0.01)

    def test_a_host_that_is_cut_off_ends_the_attempt_by_name_and_the_next_one_has_the_same_bits(self):
        spec = {**job(epochs=20), "checkpoint": SAVING}
        undisturbed = self.weights_of_undisturbed(spec, 4)
        network = self.network(4, delay_s=0.01)
        members = self.start("cut", spec, 4, network=network, timeout_s=CUT_LIMIT_S)
        wait_for(lambda: list((members.folder / "checkpoints").glob("step_*[0-9]")), "a checkpoint", 60, 0.01)
        network.cut(2)
        members.wait(30)    # nobody is left
        for rank in range(4):
            self.assert_lost(members, rank, r"rank \d \(training-\d\).* (did not come to|was lost at) \w")
        # Where the cut met them: at a sum, or at the barrier of a checkpoint.
        said = [ending["message"] for ending in members.endings()]
        self.assertTrue(any(re.search(rf"rank 2 \(training-2\) did not come to \S.* within {CUT_LIMIT_S} s", each) for each in said), said)
        self.assertRegex(said[2], r"rank [013] \(training-[013]\).* did not come")
        network.mend(2)
        again = self.start("cut", spec, 4, network=network, attempt=2)
        self.assert_succeeded(again)
        self.assertIn("resumed at step", " ".join(frame["message"] for frame in again.frames(2) if frame["type"] == "log"))
        self.assertEqual(self.weights(again), undisturbed)

    def test_a_cut_that_is_mended_within_the_limit_is_waited_for(self):
        spec = {**job(epochs=4), "checkpoint": SAVING}
        undisturbed = self.weights_of_undisturbed(spec, 2)
        network = self.network(2, delay_s=0.01)
        members = self.start("mended", spec, 2, network=network)
        self.trains(members, 5)
        network.cut(1)
        before = wait_for(lambda: self.stands_still(members), "the training to wait", 30)
        network.mend(1)
        self.assert_succeeded(members)
        self.assertGreater(members.step(), before)
        self.assertEqual(self.weights(members), undisturbed)

    def stands_still(self, members):
        """The step that it has stood at for ten looks; none: it goes on."""
        step = members.step()
        looks = iter(range(10))
        wait_for(lambda: next(looks, None) is None, "ten looks", 10)
        return step if members.step() == step else None

    def test_late_and_lost_packets_change_no_bit(self):
        spec = {**job(epochs=1), "checkpoint": SAVING}
        undisturbed = self.weights_of_undisturbed(spec, 2)
        network = self.network(2, delay_s=0.05, lost_share=0.05)
        members = self.start("late", spec, 2, network=network)
        self.assert_succeeded(members)
        self.assertEqual(self.weights(members), undisturbed)

    def test_a_host_that_cannot_be_reached_is_named_before_training(self):
        network = self.network(2)
        network.cut(1)
        members = self.start("unreachable", job(**LONG), 2, network=network, timeout_s=2)
        members.wait(30)
        self.assert_lost(members, 0, r"rank 1 \(training-1\)")
        self.assert_lost(members, 1, r"rank 0 \(training-0\)|rank 1 \(training-1\) cannot be reached at its address")


if __name__ == "__main__":
    unittest.main()
