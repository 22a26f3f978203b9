"""Goal: a job begins with given weights, and says what it took of them, what it left and what it drew anew.
Method: weights of a first job, as its checkpoint and as an upload that has lost one tensor and has another too many."""
import json
import struct
import unittest

from service import points_job, serve_points, wait_for


def changed(weights, drop, add):
    """Of a safetensors file: the first weights of `drop` are gone, and there is a tensor named `add`."""
    (length,) = struct.unpack("<Q", weights[:8])
    header, tensors = json.loads(weights[8:8 + length]), weights[8 + length:]
    kept, blob = {}, b""
    for name, row in header.items():
        if name in ("__metadata__", drop):
            continue
        begin, end = row["data_offsets"]
        kept[name] = {**row, "data_offsets": [len(blob), len(blob) + end - begin]}
        blob += tensors[begin:end]
    kept[add] = {"dtype": "F32", "shape": [2], "data_offsets": [len(blob), len(blob) + 8]}
    head = json.dumps(kept).encode()
    return struct.pack("<Q", len(head)) + head + blob + bytes(8)


class GivenWeights(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        serve_points(cls, rows=200)
        cls.first = cls.service.submit(points_job())
        cls.service.wait_end(cls.first)

    def begin_with(self, weights, head=False, **init):
        """(the job at its end, what it says of the weights)"""
        model = {"init": {"from": weights, **init}, "head": {"replace": head}}
        job = self.service.submit(points_job(model=model, train={"epochs": 1, "optimizer": {"name": "sgd", "lr": 0.01}}))
        ended = self.service.wait_end(job)
        lines = [line["message"] for line in self.service.get(f"/v1/jobs/{job}/logs")["items"]]
        return ended, [line for line in lines if "tensors loaded" in line]

    def test_of_a_checkpoint_that_its_own_job_drops_before_the_start(self):
        """The long job saves only when it is asked to, so nothing here depends on how fast it trains."""
        one_core = {"accelerator": {"core_ids": [1]}}
        long = self.service.submit(points_job(
            train={"epochs": 1_000_000, "optimizer": {"name": "sgd", "lr": 0.01}},
            checkpoint={"every_epochs": 1_000_000, "keep_last": 1, "best": {"keep": 0}}, monitor={"log_every_steps": 1000}, **one_core))
        self.service.wait_state(long, "running")
        self.service.post(f"/v1/jobs/{long}/checkpoint", {})
        used = wait_for(lambda: self.service.get(f"/v1/jobs/{long}/checkpoints")["items"], "a checkpoint")[0]
        waiting = self.service.submit(points_job(model={"init": {"from": used["id"]}},
                                                 train={"epochs": 1, "optimizer": {"name": "sgd", "lr": 0.01}}, **one_core))
        self.service.post(f"/v1/jobs/{long}/checkpoint", {})
        wait_for(lambda: self.service.sql(f"select id from checkpoint where id = '{used['id']}' and unwanted"),
                 "retention to want it gone", 30)
        self.assertEqual(self.service.job(waiting)["state"], "queued")
        folder = self.service.home / "store" / "checkpoints" / long / used["name"]
        self.assertTrue((folder / "model.safetensors").exists())
        self.service.post(f"/v1/jobs/{long}/cancel", {})
        self.assertEqual(self.service.wait_end(long)["state"], "cancelled")
        ended = self.service.wait_end(waiting)
        self.assertEqual(ended["state"], "succeeded", ended.get("reason"))
        kept = [one["id"] for one in self.service.get(f"/v1/jobs/{long}/checkpoints")["items"]]
        self.assertEqual((len(kept), used["id"] in kept), (1, False))
        wait_for(lambda: not folder.exists(), "its folder to go", 30)

    def test_of_a_checkpoint_with_the_head_drawn_anew(self):
        checkpoint = self.service.get(f"/v1/jobs/{self.first}/checkpoints")["items"][0]["id"]
        ended, (line,) = self.begin_with(checkpoint, head=True)
        self.assertEqual(ended["state"], "succeeded")
        self.assertRegex(line, r"^4 tensors loaded from \S+; head replaced: layers\.2\.weight, layers\.2\.bias$")

    def test_of_an_upload_that_fits_in_part(self):
        upload = self.service.upload(changed(self.service.newest_weights(self.first), "layers.1.bias", "other.weight"),
                                     "weights.safetensors")
        refused, lines = self.begin_with(upload)
        self.assertEqual((refused["state"], refused["reason"]["code"], lines), ("failed", "spec_error", []))
        self.assertIn("it lacks layers.1.bias f32[32]; it has also other.weight f32[2]", refused["reason"]["message"])
        ended, (line,) = self.begin_with(upload, strict=False)
        self.assertEqual(ended["state"], "succeeded")
        self.assertRegex(line, r"^5 tensors loaded from \S+; missing, drawn anew: layers\.1\.bias f32\[32\]; "
                               r"skipped: other\.weight f32\[2\]$")


if __name__ == "__main__":
    unittest.main()
