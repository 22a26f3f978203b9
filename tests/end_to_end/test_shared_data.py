"""Goal: executors of a host have one decoded copy of a dataset, and nothing else changes.
Method: real trials of one dataset under the real service with its confinement, with copies and with
--decoded-max-gib 0; a copy that is damaged, a maker that was killed, a limit of what copies may have."""
import hashlib
import os
import struct
import time
import unittest

from service import Service, wait_for

IMAGES = 4000    # 3 MB of pixels
SETTLED_AFTER_S = 3


def images(path):
    """Digits-like noise as idx files: each class a bright spot of its own."""
    path.mkdir()
    pixels = bytearray()
    for i in range(IMAGES):
        image = bytearray((i * 7 + j * 13) % 61 for j in range(784))
        image[(i % 10) * 70:(i % 10) * 70 + 40] = bytes([250]) * 40
        pixels += image
    (path / "train-images-idx3-ubyte").write_bytes(struct.pack(">iiii", 0x803, IMAGES, 28, 28) + pixels)
    (path / "train-labels-idx1-ubyte").write_bytes(struct.pack(">ii", 0x801, IMAGES) + bytes(i % 10 for i in range(IMAGES)))


def spec(seed, dataset="digits", **more):
    return {"model": {"arch": "lenet"}, "task": {"type": "classification"},
            "data": {"dataset": dataset, "image_size": 28, "split": {"val_fraction": 0.9, "seed": 0}},
            "train": {"epochs": 1, "batch_size_per_core": 32, "seed": seed, "optimizer": {"name": "sgd", "lr": 0.05}},
            "accelerator": {"cores": 1}, **more}


class SharedDataTest(unittest.TestCase):
    def service(self, *options):
        service = Service("--cores", "8", *options)
        self.addCleanup(service.close)
        images(service.data / "digits")
        changed_at = time.monotonic()
        service.start()
        service.dataset("digits", "idx")
        self.settle(changed_at)
        return service

    def settle(self, changed_at):
        """Files that were changed a moment ago are not shared."""
        time.sleep(max(0, changed_at + SETTLED_AFTER_S - time.monotonic()))

    def end(self, service, jobs):
        for job in jobs:
            self.assertEqual(service.wait_end(job, 180)["state"], "succeeded")

    def how_read(self, service, job):
        lines = [line for line in (event["body"].get("message", "") for event in service.events(job) if event["type"] == "log")
                 if line.startswith("the dataset was read")]
        self.assertEqual(len(lines), 1, lines)
        return lines[0]

    def digests(self, service, jobs):
        return [hashlib.sha256(service.newest_weights(job)).hexdigest() for job in jobs]

    def copies(self, service):
        return sorted(path for path in (service.home / "store" / "decoded").glob("*/*/*") if path.suffix != ".content")

    def test_eight_trials_at_once_read_the_dataset_once_with_the_bits_of_those_that_read_it_each(self):
        shared, alone = self.service(), self.service("--decoded-max-gib", "0")
        jobs = [shared.submit(spec(seed)) for seed in range(8)]
        self.end(shared, jobs)
        how = [self.how_read(shared, job) for job in jobs]
        self.assertEqual(len([line for line in how if "read now, for other jobs as well" in line]), 1, how)
        self.assertEqual(len([line for line in how if "read by an earlier job" in line]), 7, how)
        self.assertEqual(len(self.copies(shared)), 1)
        self.assertGreater(self.copies(shared)[0].stat().st_size, IMAGES * 784)

        few = [alone.submit(spec(seed)) for seed in (0, 1, 7)]
        self.end(alone, few)
        self.assertEqual(self.digests(alone, few), self.digests(shared, [jobs[0], jobs[1], jobs[7]]))
        for job, reference in zip((jobs[0], jobs[1], jobs[7]), few):
            for name in ("train_loss", "val_loss", "val_accuracy"):
                self.assertEqual(shared.metric(job, name), alone.metric(reference, name))
        self.assertEqual(self.copies(alone), [])
        self.assertNotIn("the dataset was read", str(alone.events(few[0])))

    def test_a_copy_that_is_damaged_half_made_or_removed_is_made_anew(self):
        service = self.service()
        first = service.submit(spec(3))
        self.end(service, [first])
        [copy] = self.copies(service)
        whole = copy.read_bytes()

        copy.write_bytes(whole[:200000] + b"?" + whole[200001:])
        again = service.submit(spec(3))
        self.end(service, [again])
        self.assertIn("in place of a damaged one", self.how_read(service, again))
        self.assertEqual(copy.read_bytes(), whole)

        # What a maker leaves that was killed.
        copy.rename(str(copy) + ".tmp")
        os.truncate(str(copy) + ".tmp", 100000)
        third = service.submit(spec(3))
        self.end(service, [third])
        self.assertIn("made now", self.how_read(service, third))
        self.assertEqual(self.copies(service), [copy])
        self.assertEqual(copy.read_bytes(), whole)

        # Another content of the same files is another dataset, and has to be made one.
        labels = service.data / "digits" / "train-labels-idx1-ubyte"
        text = labels.read_bytes()
        labels.write_bytes(text[:-1] + bytes([(text[-1] + 1) % 10]))
        self.settle(time.monotonic())
        refused = service.wait_end(service.submit(spec(3)))
        self.assertEqual((refused["state"], refused["reason"]["code"]), ("failed", "data_changed"))
        made = service.post("/v1/datasets", {"name": "changed", "format": "idx", "source": {"path": "digits"}})["id"]
        wait_for(lambda: service.get(f"/v1/datasets/{made}")["state"] == "ready", "the dataset to be checked")
        changed = service.submit(spec(3, "changed"))
        self.end(service, [changed])
        self.assertIn("made now", self.how_read(service, changed))
        # The refused job read the files before it could know: its copy is the third.
        self.assertEqual(len(self.copies(service)), 3)
        self.assertEqual(len(set(self.digests(service, [first, again, third]))), 1)
        curves = [[service.metric(job, name) for name in ("train_loss", "val_loss")] for job in (first, changed)]
        self.assertNotEqual(*curves)


if __name__ == "__main__":
    unittest.main()
