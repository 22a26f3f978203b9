"""Goal: a torch module is trained by one line, and predicts afterwards what the service predicts with its weights.
Method: the newest torch, where there is one: the stage peers of deploy/test; skipped elsewhere."""
import csv
import sys
import unittest

from service import SOURCE, serve_points

sys.path.insert(0, str(SOURCE / "api/python"))

import slipway  # noqa: E402

try:
    import torch
    HAS_TORCH = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 9)
except ModuleNotFoundError:
    HAS_TORCH = False

#: The outputs of both are f32, from the same weights by another order of sums.
TOLERANCE = 1e-5


@unittest.skipUnless(HAS_TORCH, "needs torch 2.9 or newer, which Debian does not have")
class TorchModules(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        serve_points(cls)
        cls.client = slipway.Client(f"http://127.0.0.1:{cls.service.port}", cls.service.token)

    def network(self):
        torch.manual_seed(1)
        return torch.nn.Sequential(torch.nn.Linear(4, 24), torch.nn.BatchNorm1d(24), torch.nn.SiLU(), torch.nn.Dropout(0.1), torch.nn.Linear(24, 2))

    def rows(self):
        with open(self.service.data / "points" / "points.csv") as file:
            return torch.tensor([[float(row[name]) for name in "abcd"] for row in csv.DictReader(file)])

    def test_a_module_is_trained_and_predicts_what_the_service_predicts(self):
        net = self.network()
        before = {name: value.clone() for name, value in net.state_dict().items()}
        job = slipway.train(net, torch.randn(2, 4), data="points", client=self.client, progress=False,
                            train={"epochs": 3, "batch_size_per_core": 16, "optimizer": {"name": "adam", "lr": 0.01}})
        self.assertEqual(job["state"], "succeeded")
        self.assertTrue(net.training, "the module is left as it was")
        self.assertTrue(all(not torch.equal(before[name], value) for name, value in net.state_dict().items()), "all of it has been trained")
        prediction = self.client.predict(job, "points")
        columns = self.client.prediction_columns(prediction)
        net.eval()
        with torch.no_grad():
            chances = torch.softmax(net(self.rows()), dim=1)
        for index, name in enumerate(("p_no", "p_yes")):
            found = torch.tensor([float(value) for value in columns[name]])
            self.assertLess(float((found - chances[:, index]).abs().max()), TOLERANCE)

    def test_a_pretrained_module_keeps_what_it_froze(self):
        net = self.network()
        net[0].requires_grad_(False)
        before = net[0].weight.clone()
        slipway.train(net, torch.randn(2, 4), data="points", client=self.client, progress=False, train={"epochs": 1}, cores=8)
        self.assertTrue(torch.equal(net[0].weight, before))

    def test_a_module_that_depends_on_the_data_says_so(self):
        class Counting(torch.nn.Module):
            def forward(self, x):
                return x[: int(x.sum().item())]

        with self.assertRaisesRegex(slipway.ExportFailed, "Counting"):
            slipway.train(Counting(), torch.randn(2, 4), data="points", client=self.client)

    def test_an_example_of_one_sample_is_refused(self):
        with self.assertRaisesRegex(slipway.ExportFailed, "at least two samples"):
            slipway.export(self.network(), torch.randn(1, 4), "/dev/null")


if __name__ == "__main__":
    unittest.main()
