"""Goal: a data set of each format that comes in large files is checked and trained on, and a bad file is named."""
import random
import unittest

from service import Service


def cifar10_batch(count, seed=1):
    """Two classes, dark and bright: quick to learn."""
    generator = random.Random(seed)
    return b"".join(
        bytes([label]) + bytes(generator.randrange(100) + 150 * label for _ in range(3072))
        for label in (index % 2 for index in range(count)))


class Formats(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service()
        cls.addClassCleanup(cls.service.close)
        cls.service.start()

    def write(self, name, content):
        file = self.service.data / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)

    def learns(self, name, model):
        """A short job on the data set ends with nearly everything right on what it held back."""
        job = self.service.job(self.service.submit({
            "name": name, "model": model, "task": {"type": "classification"},
            "data": {"dataset": name, "split": {"val_fraction": 0.25, "seed": 0}},
            "train": {"epochs": 4, "batch_size_per_core": 8, "optimizer": {"name": "adam", "lr": 0.003}},
            "accelerator": {"cores": 1}}))
        ended = self.service.wait_end(job["id"])
        self.assertEqual(ended["state"], "succeeded", ended.get("reason"))
        self.assertGreater(max(self.service.metric(job["id"], "val_accuracy").values()), 0.9)

    def test_cifar10(self):
        self.write("cifar/data_batch_1.bin", cifar10_batch(120))
        self.write("cifar/batches.meta.txt", b"dark\nbright\n")
        found = self.service.dataset("cifar", "cifar10", {"image_size": 28})
        self.assertEqual(found["state"], "ready", found)
        self.learns("cifar", {"arch": "lenet"})

    def test_cifar10_cut_short(self):
        self.write("short/data_batch_1.bin", cifar10_batch(2) + b"\1\2\3")
        self.write("short/test_batch.bin", cifar10_batch(2))
        found = self.service.dataset("short", "cifar10")
        self.assertEqual(found["state"], "failed", found)
        (problem,) = found["problems"]
        self.assertEqual((problem["file"], problem["row"]), ("data_batch_1.bin", 3))
        self.assertIn("at byte 6146", problem["message"])


if __name__ == "__main__":
    unittest.main()
