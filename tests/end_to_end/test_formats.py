"""Goal: a dataset of each format that comes in large files is checked and trained on, and a bad file is named."""
import hashlib
import io
import random
import struct
import tarfile
import unittest
import zipfile

from service import Service, png, points_job, wait_for, write_points


def cifar10_batch(count, seed=1):
    """Two classes, dark and bright: quick to learn."""
    generator = random.Random(seed)
    return b"".join(
        bytes([label]) + bytes(generator.randrange(100) + 150 * label for _ in range(3072))
        for label in (index % 2 for index in range(count)))


def crc(content):
    """Masked CRC-32C, bit by bit."""
    value = 0xFFFFFFFF
    for byte in content:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    value ^= 0xFFFFFFFF
    return struct.pack("<I", ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def framed(record):
    length = struct.pack("<Q", len(record))
    return length + crc(length) + record + crc(record)


def tagged(number, content):
    """A protobuf field with a length below 128."""
    assert len(content) < 128
    return bytes([number << 3 | 2, len(content)]) + content


def example(label, numbers):
    """tf.train.Example with a text and a list of floats."""
    features = (("kind", tagged(1, tagged(1, label))), ("x", tagged(2, tagged(1, struct.pack(f"<{len(numbers)}f", *numbers)))))
    return tagged(1, b"".join(tagged(1, tagged(1, name.encode()) + tagged(2, feature)) for name, feature in features))


def point_records(count, seed=1):
    generator = random.Random(seed)
    return b"".join(
        framed(example(b"yes" if index % 2 else b"no", [generator.gauss(300 * (index % 2), 100) for _ in range(4)]))
        for index in range(count))


def shard(count, without_label=None, seed=1):
    """A tar of dark and bright images beside their labels."""
    generator = random.Random(seed)
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for index in range(count):
            members = {"png": png(bytes(generator.randrange(100) + 150 * (index % 2) for _ in range(256)), 16)}
            if index != without_label:
                members["cls"] = b"bright" if index % 2 else b"dark"
            for ending, content in members.items():
                entry = tarfile.TarInfo(f"{index:05}.{ending}")
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))
    return file.getvalue()


def npz(**arrays):
    """An archive as numpy.savez_compressed writes it, of (type, shape, content)."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (kind, shape, content) in arrays.items():
            literal = repr({"descr": kind, "fortran_order": False, "shape": shape}).encode() + b"\n"
            archive.writestr(f"{name}.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(literal)) + literal + content)
    return file.getvalue()


def image_arrays(count, labels=None, seed=1):
    """Dark and bright images of 28 x 28 bytes, as Keras' mnist.npz has them."""
    generator = random.Random(seed)
    pixels = bytes(generator.randrange(100) + 150 * (index % 2) for index in range(count) for _ in range(784))
    labels = count if labels is None else labels
    return npz(x_train=("|u1", (count, 28, 28), pixels), y_train=("|u1", (labels,), bytes(index % 2 for index in range(labels))))


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
        """A short job on the dataset ends with nearly everything right on what it held back."""
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

    def test_tfrecord(self):
        self.write("records/train-00000-of-00001.tfrecord", point_records(300))
        found = self.service.dataset("records", "tfrecord", {"label_column": "kind"})
        self.assertEqual(found["state"], "ready", found)
        self.learns("records", {"arch": "mlp", "width": 16, "depth": 1})

    def test_tfrecord_with_a_changed_byte(self):
        content = bytearray(point_records(3))
        size = len(point_records(1))
        content[size + 40] ^= 1
        self.write("changed/train.tfrecord", bytes(content))
        found = self.service.dataset("changed", "tfrecord", {"label_column": "kind"})
        self.assertEqual(found["state"], "failed", found)
        (problem,) = found["problems"]
        self.assertEqual((problem["file"], problem["row"]), ("train.tfrecord", 2))
        self.assertIn(f"at byte {size + 12} do not match their checksum", problem["message"])

    def upload(self, filename, content):
        made = self.service.post("/v1/uploads", {
            "size": len(content), "sha256": hashlib.sha256(content).hexdigest(), "filename": filename})
        sent = self.service.call("PATCH", f"/v1/uploads/{made['id']}", content,
                                 {"Content-Type": "application/octet-stream", "Upload-Offset": "0"})
        self.assertEqual(sent.status, 204, sent.body)
        self.service.post(f"/v1/uploads/{made['id']}/complete", {})
        return made["id"]

    def test_webdataset_uploaded_as_one_tar(self):
        made = self.service.post("/v1/datasets", {
            "name": "shards", "format": "webdataset", "source": {"upload": self.upload("train-0.tar", shard(120))},
            "options": {"image_size": 28}})
        found = wait_for(lambda: (now := self.service.get(f"/v1/datasets/{made['id']}"))["state"] != "checking" and now, "shards")
        self.assertEqual(found["state"], "ready", found)
        self.learns("shards", {"arch": "lenet"})

    def test_webdataset_without_a_label(self):
        self.write("unlabelled/train.tar", shard(5, without_label=3))
        found = self.service.dataset("unlabelled", "webdataset")
        self.assertEqual(found["state"], "failed", found)
        (problem,) = found["problems"]
        self.assertEqual((problem["file"], problem["row"], problem["field"]), ("train.tar", 4, "00003"))
        self.assertIn("no .cls", problem["message"])

    def test_npz_uploaded(self):
        made = self.service.post("/v1/datasets", {
            "name": "arrays", "format": "npz", "source": {"upload": self.upload("mnist.npz", image_arrays(120))},
            "options": {"class_names": ["dark", "bright"]}})
        found = wait_for(lambda: (now := self.service.get(f"/v1/datasets/{made['id']}"))["state"] != "checking" and now, "arrays")
        self.assertEqual(found["state"], "ready", found)
        self.assertEqual(found["report"]["parts"], [{"name": "train", "count": 120}])
        self.learns("arrays", {"arch": "lenet"})

    def test_npz_of_numbers_for_regression(self):
        generator = random.Random(3)
        rows = [(generator.gauss(300, 100), generator.gauss(0, 1)) for _ in range(200)]
        self.write("numbers/all.npz", npz(
            X=("<f8", (200, 2), b"".join(struct.pack("<2d", *row) for row in rows)),
            y=(">f4", (200,), b"".join(struct.pack(">f", (a - 300) / 100 + b) for a, b in rows))))
        found = self.service.dataset("numbers", "npz")
        self.assertEqual(found["state"], "ready", found)
        self.assertEqual([label["name"] for label in found["report"]["labels"]], ["y"])
        spec = {"name": "numbers", "model": {"arch": "mlp", "width": 16, "depth": 1}, "task": {"type": "regression"},
                "data": {"dataset": "numbers", "split": {"val_fraction": 0.25, "seed": 0}},
                "train": {"epochs": 20, "batch_size_per_core": 8, "optimizer": {"name": "adam", "lr": 0.01}},
                "accelerator": {"cores": 1}}
        job = self.service.submit(spec)
        ended = self.service.wait_end(job)
        self.assertEqual(ended["state"], "succeeded", ended.get("reason"))
        self.assertLess(min(self.service.metric(job, "val_loss").values()), 0.1)
        refused = self.service.call("POST", "/v1/jobs", {**spec, "task": {"type": "classification"}})
        self.assertEqual(refused.status, 422)
        self.assertIn("use multilabel or regression", refused.json["errors"][0]["message"])

    def test_npz_with_a_label_too_few(self):
        self.write("fewer/mnist.npz", image_arrays(20, labels=19))
        found = self.service.dataset("fewer", "npz")
        self.assertEqual(found["state"], "failed", found)
        (problem,) = found["problems"]
        self.assertEqual((problem["file"], problem["field"]), ("mnist.npz", "y_train"))
        self.assertIn("19 labels, and x_train has 20 samples", problem["message"])

    def test_text(self):
        self.write("books/train.txt", "Ein Gru\u00df\nan alle\n".encode() * 10)
        self.write("books/valid.txt", b"a line\n")
        self.write("books/vocab.txt", b"[UNK]\n")
        found = self.service.dataset("books", "text")
        self.assertEqual(found["state"], "ready", found)
        self.assertEqual(found["report"]["parts"], [{"name": "train", "count": 20}, {"name": "valid", "count": 1}])
        self.assertEqual(found["report"]["text"], {"bytes": 187, "characters": 177, "lines": 21})

    def test_text_uploaded_as_one_file_with_a_wrong_byte(self):
        made = self.service.post("/v1/datasets", {
            "name": "latin", "format": "text", "source": {"upload": self.upload("latin.txt", b"one\ntw\xf6\n")}})
        found = wait_for(lambda: (now := self.service.get(f"/v1/datasets/{made['id']}"))["state"] != "checking" and now, "latin")
        self.assertEqual(found["state"], "failed", found)
        (problem,) = found["problems"]
        self.assertEqual((problem["file"], problem["row"]), ("latin.txt", 2))
        self.assertIn("byte 6 of the file is 0xf6", problem["message"])

    def test_a_table_uploaded_as_one_file_keeps_its_name(self):
        rows = b"x,label\n" + b"".join(b"%d,%s\n" % (i, b"even" if i % 2 == 0 else b"odd") for i in range(20))
        for name, source in (("named", {}), ("renamed", {"filename": "train.csv"})):
            made = self.service.post("/v1/datasets", {
                "name": name, "format": "csv", "source": {"upload": self.upload("numbers.csv", rows), **source}})
            found = wait_for(lambda: (now := self.service.get(f"/v1/datasets/{made['id']}"))["state"] != "checking" and now, name)
            self.assertEqual(found["state"], "ready", found)
            self.assertEqual(found["source"]["filename"], source.get("filename", "numbers.csv"))


class Versions(unittest.TestCase):
    """data.version: a job runs on the files that it names, or not at all."""
    @classmethod
    def setUpClass(cls):
        cls.service = Service()
        cls.addClassCleanup(cls.service.close)
        cls.service.start()

    def points(self, rows):
        write_points(self.service.data / "points", rows)

    def spec(self, version):
        return points_job(train={"epochs": 1, "optimizer": {"name": "sgd", "lr": 0.01}}, data={"version": version})

    def test_other_files_are_refused_when_it_is_posted_and_when_it_starts(self):
        self.points(100)
        made = self.service.dataset("points", "csv", {"group_column": "family"})
        version = made["content_hash"]
        job = self.service.submit(self.spec(version[:7 + 12]))
        self.assertEqual(self.service.job(job)["spec"]["data"]["version"], version)
        self.assertEqual(self.service.wait_end(job)["state"], "succeeded")

        other = "sha256:" + "0" * 64
        refused = self.service.call("POST", "/v1/jobs", self.spec(other))
        self.assertEqual(refused.status, 422)
        (problem,) = refused.json["errors"]
        self.assertEqual(problem["pointer"], "/data/version")
        self.assertIn(version, problem["message"])
        self.assertIn(other, problem["message"])

        self.points(120)    # behind the service's back
        ended = self.service.wait_end(self.service.submit(self.spec(version)))
        self.assertEqual((ended["state"], ended["reason"]["code"]), ("failed", "data_changed"))
        self.assertIn(version, ended["reason"]["message"])
        ended = self.service.wait_end(self.service.submit(points_job(train={"epochs": 1})))
        self.assertEqual((ended["state"], ended["reason"]["code"]), ("failed", "data_changed"), "without a version, too")
        self.points(100)
        ended = self.service.wait_end(self.service.submit(points_job(train={"epochs": 1})))
        self.assertEqual(ended["state"], "succeeded", "the files are those that were checked")

    def test_of_a_text(self):
        folder = self.service.data / "lines"
        folder.mkdir()
        (folder / "train.txt").write_text("a line of text\n" * 40)
        version = self.service.dataset("lines", "text")["content_hash"]
        job = {"name": "lines", "model": {"arch": "gpt_tiny"}, "task": {"type": "causal_lm"},
               "data": {"dataset": "lines", "version": version, "max_length": 16},
               "train": {"steps": 1, "batch_size_per_core": 2, "optimizer": {"name": "sgd", "lr": 0.01}}}
        ended = self.service.wait_end(self.service.submit(job))
        self.assertEqual(ended["state"], "succeeded", ended.get("reason"))
        (folder / "train.txt").write_text("another line of text\n" * 40)
        ended = self.service.wait_end(self.service.submit(job))
        self.assertEqual((ended["state"], ended["reason"]["code"]), ("failed", "data_changed"))


if __name__ == "__main__":
    unittest.main()
