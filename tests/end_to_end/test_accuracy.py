"""Goal: the promised accuracy, on real digits, the same on one core and on eight."""
import os
import shutil
import unittest

from service import DATA, Service


@unittest.skipUnless((DATA / "mnist10k").exists(), "the digits are not here")
class Accuracy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service()
        cls.addClassCleanup(cls.service.close)
        shutil.copytree(DATA / "mnist10k", cls.service.data / "mnist10k")
        os.chmod(cls.service.data / "mnist10k", 0o755)
        cls.service.start()
        cls.service.dataset("mnist10k", "idx")

    def train(self, cores, batch_size_per_core):
        job_id = self.service.submit({
            "name": f"digits on {cores}", "model": {"arch": "lenet"}, "task": {"type": "classification"},
            "data": {"dataset": "mnist10k", "split": {"val_fraction": 0.2, "seed": 0}},
            "train": {"epochs": 5, "batch_size_per_core": batch_size_per_core,
                      "optimizer": {"name": "sgd", "lr": 0.05, "momentum": 0.9}, "schedule": {"name": "cosine"}},
            "accelerator": {"cores": cores}, "monitor": {"log_every_steps": 1}})
        job = self.service.wait_end(job_id, 300)
        self.assertEqual(job["state"], "succeeded", job)
        accuracy = list(self.service.metric(job_id, "val_accuracy").values())[-1]
        print(f"{cores} cores: validation accuracy {accuracy:.4f}")
        return accuracy, self.service.metric(job_id, "train_loss")

    def test_lenet_learns_the_digits_alike_on_one_core_and_on_eight(self):
        one, loss_one = self.train(1, 64)
        eight, loss_eight = self.train(8, 8)
        self.assertGreaterEqual(one, 0.975)
        self.assertGreaterEqual(eight, 0.975)
        self.assertEqual(loss_one.keys(), loss_eight.keys())
        worst = max(abs(loss_eight[step] / loss_one[step] - 1) for step in loss_one)
        print(f"largest relative difference of the {len(loss_one)} losses: {worst:.2e}")
        self.assertLess(worst, 1e-4)


if __name__ == "__main__":
    unittest.main()
