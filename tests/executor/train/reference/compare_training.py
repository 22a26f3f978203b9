#!/usr/bin/env python3
"""Trains a network with slipway-executor and the same one in torch, from the same weights on the same batches.

usage: compare_training.py EXECUTOR LOGITS ROW [--steps 20] [--figures FILE]
       compare_training.py --list

LOGITS is bench_network_logits. Needs torch, torchvision, PIL and numpy (Debian 12: python3-torch, python3-torchvision,
python3-pil). Torch's first weights go into the job by model.init.from, under the reference's names; residual networks are
torchvision's own classes, the others those of bench/torch_networks.py. Dropout is off. Compared are

  logits             of the last weights on a validation batch, by both, evaluating: with torch in float64, over the largest
  gradients          of step 1, with torch's in float64: an element's difference over the largest of its tensor. (What sgd with
                     momentum leaves in its buffer, its rate next to nothing.)
  losses             of all steps, with torch's float32
  validation loss    of each side's last weights
  statistics         of batch norm after all steps, over the largest of each tensor
  weights            after all steps: the distance of the two sides over the way they went

Beside each figure stands the same of torch's float32 against its float64: what float32 is good for. Learning rates are such
that this yardstick leaves room. A residual network multiplies rounding errors with each step, the more the fewer numbers a
channel's batch norm sees: docs/torch.md has figures. It learns much from small steps, too: with 1e-6 the loss moves by tenths.
"""
import argparse
import math
import pathlib
import subprocess
import sys
import tempfile
import typing

import torch
import torchvision
from torch.nn import functional

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[3] / "bench")]

import executor_runs  # noqa: E402
import safetensors_file  # noqa: E402
import text_batches  # noqa: E402
import torch_networks as networks  # noqa: E402
from figures import Figure, conclude, largest_share  # noqa: E402
from image_batches import CLASSES, Images  # noqa: E402
from scaled_residuals import scale_residuals  # noqa: E402

SIDE = 64
LOGIT_BOUND, GRADIENT_BOUND, LOSS_BOUND, STATISTIC_BOUND, WEIGHT_BOUND = 1e-5, 1e-4, 1e-4, 1e-4, 1e-2


class Row(typing.NamedTuple):
    """One training; optimizer and schedule as in a job."""
    arch: str
    optimizer: dict
    schedule: dict = {"name": "constant"}
    label_smoothing: float = 0.0
    cores: int = 1
    batch: int = 16
    length: int = 64                               # of a row of tokens
    vocabulary: int = text_batches.VOCABULARY      # of the network
    seed: int = 1
    residual_scale: float = 1.0                    # of a residual block's last norm, at first


def sgd(lr, **others):
    return {"name": "sgd", "lr": lr, "momentum": 0.9, **others}


def adam(lr, **others):
    # A larger eps than usual: what Adam divides by is noise in float32 where a gradient is nearly 0.
    return {"name": "adam", "lr": lr, "eps": 1e-5, **others}


def adamw(lr, **others):
    return {**adam(lr, **others), "name": "adamw"}


STEP = {"name": "step", "step_epochs": 2, "gamma": 0.5}
COSINE = {"name": "cosine", "warmup_steps": 5, "min_lr": 1e-8}

ROWS = {
    "resnet18_sgd": Row("resnet18", sgd(1e-6, weight_decay=1e-4), STEP, batch=32),
    "resnet18_8_cores": Row("resnet18", sgd(1e-6, weight_decay=1e-4), batch=64, cores=8, residual_scale=0.25, seed=4),
    "resnet18_adamw": Row("resnet18", adamw(1e-6, weight_decay=0.05), COSINE, label_smoothing=0.1, batch=32),
    "resnet34_sgd": Row("resnet34", sgd(1e-6, weight_decay=1e-4), COSINE, batch=32, residual_scale=0.25, seed=4),
    "resnet34_adam": Row("resnet34", adam(1e-6, clip_norm=1.0), STEP, batch=32, residual_scale=0.25, seed=4),
    "resnet50_sgd": Row("resnet50", sgd(1e-5, weight_decay=1e-4, clip_norm=1.0), STEP, batch=32, residual_scale=0.1, seed=4),
    "vit_tiny_sgd": Row("vit_tiny", sgd(0.01, weight_decay=1e-4), STEP),
    "vit_tiny_adamw": Row("vit_tiny", adamw(3e-4, weight_decay=0.05, clip_norm=1.0), COSINE, label_smoothing=0.1),
    "vit_tiny_8_cores": Row("vit_tiny", adam(3e-4), cores=8),
    "mixer_s16_sgd": Row("mixer_s16", sgd(0.01, weight_decay=1e-4, clip_norm=1.0), COSINE),
    "mixer_s16_adam": Row("mixer_s16", adam(1e-4, weight_decay=1e-4), STEP, label_smoothing=0.1),
    "bert_small_sgd": Row("bert_small", sgd(0.01, weight_decay=1e-4), batch=8),
    "bert_small_8_cores": Row("bert_small", sgd(0.01), batch=48, cores=8),    # 384 rows a core: weights are packed
    "bert_small_adamw": Row("bert_small", adamw(1e-4, weight_decay=0.01, clip_norm=1.0), COSINE, batch=8),
    "bert_tiny_8_cores": Row("bert_tiny", adam(1e-4), STEP, batch=8, cores=8),
    "gpt_tiny_sgd": Row("gpt_tiny", sgd(0.05, weight_decay=1e-4), STEP, batch=8),
    "gpt_tiny_8_cores": Row("gpt_tiny", adam(1e-4), batch=8, cores=8),
    "gpt2_adamw": Row("gpt2", adamw(1e-4, weight_decay=0.1, clip_norm=1.0), COSINE, batch=4, length=32, vocabulary=50257),
}

NETWORKS = {
    "resnet18": lambda row: torchvision.models.resnet18(num_classes=CLASSES),
    "resnet34": lambda row: torchvision.models.resnet34(num_classes=CLASSES),
    "resnet50": lambda row: torchvision.models.resnet50(num_classes=CLASSES),
    "vit_tiny": lambda row: networks.Vit(SIDE, 16, 12, 192, 3, CLASSES),
    "mixer_s16": lambda row: networks.Mixer(SIDE, 16, 8, 512, 256, 2048, CLASSES),
    "bert_tiny": lambda row: networks.Bert(2, 128, 2, row.vocabulary, 512, rate=0.0, padding=text_batches.PADDING),
    "bert_small": lambda row: networks.Bert(4, 512, 8, row.vocabulary, 2048, rate=0.0, padding=text_batches.PADDING),
    "gpt_tiny": lambda row: networks.Gpt2(4, 128, 4, row.vocabulary),
    "gpt2": lambda row: networks.Gpt2(12, 768, 12, row.vocabulary),
}
OPTIMIZERS = {
    "sgd": lambda p, o: torch.optim.SGD(p, o["lr"], o["momentum"], weight_decay=o.get("weight_decay", 0)),
    "adam": lambda p, o: torch.optim.Adam(p, o["lr"], eps=o["eps"], weight_decay=o.get("weight_decay", 0)),
    "adamw": lambda p, o: torch.optim.AdamW(p, o["lr"], eps=o["eps"], weight_decay=o.get("weight_decay", 0)),
}


def cosine(row, steps):
    """The factor of the rate, as `train.schedule` documents it."""
    warmup, lr, least = row.schedule["warmup_steps"], row.optimizer["lr"], row.schedule["min_lr"]
    return lambda t: (t + 1) / warmup if t < warmup else (
        least + (lr - least) / 2 * (1 + math.cos(math.pi * (t - warmup) / (steps - warmup)))) / lr


schedulers = torch.optim.lr_scheduler
SCHEDULES = {
    "constant": lambda optimizer, row, steps, per_epoch: schedulers.LambdaLR(optimizer, lambda t: 1.0),
    "step": lambda optimizer, row, steps, per_epoch: schedulers.StepLR(
        optimizer, row.schedule["step_epochs"] * per_epoch, row.schedule["gamma"]),
    "cosine": lambda optimizer, row, steps, per_epoch: schedulers.LambdaLR(optimizer, cosine(row, steps)),
}


def is_language(row):
    return row.arch.startswith(("bert", "gpt"))


def side_of(row):
    """Of the images in pixels: a residual network takes any."""
    return 32 if row.arch.startswith("resnet") else SIDE


def data_of(row, folder):
    """Four or eight steps an epoch, so that schedules by epochs move within 20 steps."""
    if not is_language(row):
        return Images(folder, side_of(row), row.batch, 4 * row.batch, 12)
    task = "masked_lm" if row.arch.startswith("bert") else "causal_lm"
    short = 37 * row.length // 64    # the last row of a part: padding is among what must not count
    return text_batches.Texts(folder, task, row.length, row.batch,
                              text_batches.invented(4 * row.batch * row.length + short, 1),
                              text_batches.invented(11 * row.length + short, 2))


def gradient_case(row, data, folder):
    """(row, data) of which the gradients are compared. Where rounding takes an activation across the corner of ReLU, its
    channel's gradient jumps, by a hundredth of the largest and more: torch's own float32 was 0.04 and 0.15 away from its float64
    with 32 images, 1e-5 in each of six draws of 16, where no activation was that near."""
    if not row.arch.startswith("resnet"):
        return row, data
    return row._replace(batch=16, cores=1), Images(folder, side_of(row), 16, 16, 12)


def file_of(row, first):
    """The tensors of a file of weights as its usual programs write them: what is tied twice, masks of older versions."""
    tensors = {name: tensor for name, tensor in first.items() if tensor.is_floating_point()}
    if row.arch.startswith("bert"):
        tensors["cls.predictions.decoder.weight"] = first["bert.embeddings.word_embeddings.weight"]
        tensors["cls.predictions.decoder.bias"] = first["cls.predictions.bias"]
    if row.arch == "gpt2":
        tensors["lm_head.weight"] = first["transformer.wte.weight"]
        for block in range(12):
            tensors[f"transformer.h.{block}.attn.bias"] = torch.ones(1024, 1024).tril()[None, None]
            tensors[f"transformer.h.{block}.attn.masked_bias"] = torch.tensor(-1e4)
    return tensors


def job_of(row, data, steps, first=None, optimizer=None, schedule=None):
    """The row as a job that begins with the weights of `first`, or with its own."""
    model = {"arch": row.arch} | ({"init": {"from": str(first)}} if first else {})
    model |= {"dropout": 0, "vocab_size": row.vocabulary} if is_language(row) else {"num_classes": CLASSES}
    task = data.job["task"] | ({"label_smoothing": row.label_smoothing} if row.label_smoothing else {})
    return {"model": model, "task": task, "data": data.job["data"],
            "train": {"steps": steps, "batch_size_per_core": row.batch // row.cores, "shuffle": False,
                      "seed": text_batches.SEED, "optimizer": optimizer or row.optimizer, "schedule": schedule or row.schedule},
            "accelerator": {"cores": row.cores}, "monitor": {"log_every_steps": 1}, "checkpoint": {"every_epochs": 0}}


def first_weights(row):
    """Torch's own, residuals scaled where the row says so."""
    torch.manual_seed(row.seed)
    first = {name: tensor.clone() for name, tensor in NETWORKS[row.arch](row).state_dict().items()}
    if row.residual_scale != 1:
        scale_residuals(row.arch, first, row.residual_scale)
    return first


def is_statistic(name):
    return "running" in name


class Theirs:
    """The network in torch in one precision, as of these weights."""

    def __init__(self, row, data, weights, dtype):
        self.row, self.data, self.dtype = row, data, dtype
        self.network = NETWORKS[row.arch](row).to(dtype)
        self.network.load_state_dict(weights, strict=True)
        self.network.train()

    def logits(self, features):
        return self.network(features.to(self.dtype) if features.is_floating_point() else features)

    def summed(self, batch, smoothing=0.0):
        """The loss summed over the labels that count."""
        logits = self.logits(batch[0])
        return functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), batch[1].reshape(-1), reduction="sum",
                                        label_smoothing=smoothing)

    def backward(self, batch):
        """The mean loss of a step and its gradients. Batch norm sees each core's share by itself; the statistics that it
        moves are the mean of the cores'."""
        features, labels = batch
        counted, total = (labels >= 0).sum(), 0.0
        statistics = {name: buffer for name, buffer in self.network.named_buffers() if is_statistic(name)}
        before = {name: buffer.clone() for name, buffer in statistics.items()}
        after = {name: torch.zeros_like(buffer) for name, buffer in before.items()}
        shares = self.row.cores if statistics else 1
        for core in range(shares):
            for name, buffer in statistics.items():
                buffer.copy_(before[name])
            loss = self.summed((features[core::shares], labels[core::shares]), self.row.label_smoothing) / counted
            loss.backward()
            total += loss.item()
            for name, buffer in statistics.items():
                after[name] += buffer / shares
        for name, buffer in statistics.items():
            buffer.copy_(after[name])
        return total

    def gradients(self):
        self.network.zero_grad()
        self.backward(self.data.batch(0))
        return {name: parameter.grad for name, parameter in self.network.named_parameters()}

    def make_optimizer(self):
        return OPTIMIZERS[self.row.optimizer["name"]](self.network.parameters(), self.row.optimizer)

    def train(self, steps, say=lambda step, loss: None):
        """The losses of the steps; `say` hears each."""
        optimizer = self.make_optimizer()
        schedule = SCHEDULES[self.row.schedule["name"]](optimizer, self.row, steps, self.data.steps_per_epoch)
        losses = []
        for step in range(steps):
            optimizer.zero_grad()
            losses.append(self.backward(self.data.batch(step)))
            if "clip_norm" in self.row.optimizer:
                torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.row.optimizer["clip_norm"])
            optimizer.step()
            schedule.step()
            say(step + 1, losses[-1])
        return losses

    @torch.no_grad()
    def validation_loss(self):
        self.network.eval()
        batches = self.data.validation()
        return sum(self.summed(batch).item() for batch in batches) / sum((labels >= 0).sum().item() for _, labels in batches)

    @torch.no_grad()
    def evaluated_logits(self):
        """Of the first validation batch, in which no row is short."""
        self.network.eval()
        return self.logits(self.data.validation()[0][0])


def our_logits(program, row, data, job, weights, folder):
    features = data.validation()[0][0]
    safetensors_file.write(folder / "features.safetensors", {"features": features if features.is_floating_point() else features.int()})
    padding = [str(text_batches.PADDING)] if row.arch.startswith("bert") else []
    subprocess.run([program, folder / job, weights, folder / "features.safetensors", folder / "logits.safetensors", *padding],
                   check=True)
    return safetensors_file.read(folder / "logits.safetensors")["logits"]


def worst_gradient(found, exact):
    """Each over the largest of its tensor, or over a ten thousandth of the network's largest when that is more. A gradient that
    is 0 but for float64's rounding, as of the keys' biases, which move no probability, and of a mixer's last biases of tokens, which
    the norms take away, is nothing but rounding in float32, and measured over the network's largest."""
    largest = max(gradient.abs().max().item() for gradient in exact.values())

    def floor(gradient):
        return largest * (1 if gradient.abs().max().item() < 1e-9 * largest else 1e-4)
    return max(largest_share(found[name], gradient, floor(gradient)) for name, gradient in exact.items())


def worst_loss(one, other):
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


def worst_statistic(one, other):
    return max((largest_share(one[name], value) for name, value in other.items() if is_statistic(name)), default=None)


def distance(one, other, first):
    """Over how far `other` went from `first`, of all parameters together."""
    names = [name for name, tensor in first.items() if tensor.is_floating_point() and not is_statistic(name)]

    def norm(a, b):
        return math.sqrt(sum(((a[name].double() - b[name].double()) ** 2).sum().item() for name in names))
    return norm(one, other) / norm(other, first)


def compare(executor, logits_program, row, steps, folder, say):
    data = data_of(row, folder / "data")
    first = first_weights(row)
    safetensors_file.write(folder / "first.safetensors", file_of(row, first))
    cache = ("--cache", str(folder / "cache"))

    def ours(name, row, data, count, *others):
        job = job_of(row, data, count, folder / "first.safetensors", *others)
        return executor_runs.run(executor, job, data, folder / name, cache, say)

    small = gradient_case(row, data, folder / "few")
    one = ours("one", *small, 1, {"name": "sgd", "lr": 1e-9, "momentum": 0.9}, {"name": "constant"})
    all_steps = ours("all", row, data, steps)
    say("ours is done")
    states = safetensors_file.read(one.last / "optimizer.safetensors")
    gradients = {name.removesuffix(".momentum_buffer"): tensor for name, tensor in states.items()}
    weights = safetensors_file.read(all_steps.last / "model.safetensors")
    logits = our_logits(logits_program, row, data, "all.json", all_steps.last, folder)

    exact, rounded = (Theirs(row, data, weights, dtype).evaluated_logits() for dtype in (torch.float64, torch.float32))
    figures = [Figure("logits", largest_share(logits, exact), LOGIT_BOUND, largest_share(rounded, exact))]
    exact, rounded = (Theirs(*small, first, dtype).gradients() for dtype in (torch.float64, torch.float32))
    figures.append(Figure("gradients", worst_gradient(gradients, exact), GRADIENT_BOUND, worst_gradient(rounded, exact)))
    say("logits and gradients are compared")
    theirs = Theirs(row, data, first, torch.float32)
    losses, theirs_weights, validation = theirs.train(steps), theirs.network.state_dict(), theirs.validation_loss()
    say("torch's float32 is done")
    theirs = Theirs(row, data, first, torch.float64)
    exact_losses, exact_weights = theirs.train(steps), theirs.network.state_dict()
    our_losses = [all_steps.losses[step] for step in range(1, steps + 1)]
    figures += [Figure("losses", worst_loss(our_losses, losses), LOSS_BOUND, worst_loss(losses, exact_losses)),
                Figure("validation loss", abs(all_steps.evaluated["val_loss"] - validation), LOSS_BOUND,
                       abs(validation - theirs.validation_loss()))]
    if any(map(is_statistic, first)):
        figures.append(Figure("statistics", worst_statistic(weights, theirs_weights), STATISTIC_BOUND,
                              worst_statistic(theirs_weights, exact_weights)))
        for name, count in weights.items():
            if name.endswith("num_batches_tracked"):
                assert count == theirs_weights[name] // row.cores, f"{name}: {count} and {theirs_weights[name]}"
    figures.append(Figure("weights", distance(weights, theirs_weights, first), WEIGHT_BOUND,
                          distance(theirs_weights, exact_weights, first)))
    return figures


def title_of(row, steps):
    parts = [row.arch, row.optimizer["name"], row.schedule["name"]]
    parts += [name for name in ("momentum", "weight_decay", "clip_norm") if name in row.optimizer]
    parts += ["label_smoothing"] if row.label_smoothing else []
    return f"{', '.join(parts)}, {row.cores} core{'s' if row.cores > 1 else ''}, {steps} steps"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("executor", nargs="?")
    parser.add_argument("logits", nargs="?")
    parser.add_argument("row", nargs="?", choices=ROWS)
    parser.add_argument("--list", action="store_true", help="prints the rows")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--figures", type=pathlib.Path, help="a file for the table of compare_all.py")
    asked = parser.parse_args()
    if asked.list:
        print("\n".join(ROWS))
        return 0
    if not asked.row:
        parser.error("EXECUTOR, LOGITS and ROW are needed")
    row = ROWS[asked.row]
    with tempfile.TemporaryDirectory() as folder:
        figures = compare(asked.executor, asked.logits, row, asked.steps, pathlib.Path(folder),
                          lambda text: print(f"  {asked.row}: {text}", file=sys.stderr, flush=True))
    return conclude(title_of(row, asked.steps), figures, asked.figures)


if __name__ == "__main__":
    sys.exit(main())
