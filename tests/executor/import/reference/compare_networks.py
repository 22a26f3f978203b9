"""Imported networks beside torch: results, loss, gradients and running statistics of one training step.

usage: compare_networks.py BENCH [--set torchvision|timm] [--all] [--only NAME,...] [--junit FILE]
  BENCH    bench_imported_network
  --all    every network, not the smallest of each family
  --junit  results in the form of GoogleTest's XML files

Each network is built with random weights, exported with a free batch in training mode with all dropout at 0, and run
in f32 and f64 by torch. What is computed here may be as far from f64 as torch's f32 is, with room for another order of
sums: the bound is 10 times torch's own largest distance, at least 1e-5 of the largest value. Where a value lies so near the
kink of a relu that f32 decides otherwise than f64, a gradient is off by what one element counts: a network whose gradients
alone are beyond the bound is judged once more with softplus for its relus. Needs torch 2.9 or newer.
"""

import argparse
import copy
import pathlib
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as tree

import numpy
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "train" / "reference"))

import safetensors_file  # noqa: E402

ROOM = 10
SMALLEST = 1e-5


#: The smallest of each family, with the side of an image that it takes.
FAMILIES = {
    "alexnet": 96, "convnext_tiny": 64, "densenet121": 64, "efficientnet_b0": 64, "efficientnet_v2_s": 64, "googlenet": 64, "inception_v3": 96,
    "maxvit_t": 224, "mnasnet0_5": 64, "mobilenet_v2": 64, "mobilenet_v3_small": 64, "regnet_x_400mf": 64, "regnet_y_400mf": 64, "resnet18": 64,
    "resnet50": 64, "resnext50_32x4d": 64, "shufflenet_v2_x0_5": 64, "squeezenet1_1": 96, "swin_t": 64, "swin_v2_t": 64, "vgg11_bn": 64, "vit_b_16": 64}


def torchvision_networks(everything):
    import torchvision.models as models

    for name in models.list_models(module=models) if everything else FAMILIES:
        options, side = {"num_classes": 10}, FAMILIES.get(name, 64)
        if name.startswith("vit_"):
            options["image_size"] = side = 56 if name.endswith("14") else 64
        if name in ("inception_v3", "googlenet"):
            options |= {"aux_logits": False, "init_weights": False}
        yield name, lambda name=name, options=options: models.get_model(name, weights=None, **options), (3, side, side)


#: In the names of timm's small networks, the smallest first.
SMALL = ("test_", "femto", "atto", "pico", "nano", "micro", "xxs", "xx", "xs", "tiny", "_050", "_035", "005", "002", "050", "lite", "small", "_s", "18",
         "10", "mini", "_t", "26", "b0")


def timm_networks(everything):
    import timm

    modules = {}
    for name in timm.list_models():
        modules.setdefault(timm.models._registry._model_to_module[name], []).append(name)
    for _, names in sorted(modules.items()):
        smallest = min(names, key=lambda name: (next((i for i, word in enumerate(SMALL) if word in name), len(SMALL)), len(name)))
        for name in names if everything else [smallest]:
            yield name, lambda name=name: timm.create_model(name, num_classes=10), None


SETS = {"torchvision": torchvision_networks, "timm": timm_networks}


def without_draws(module):
    for part in module.modules():
        if isinstance(part, torch.nn.modules.dropout._DropoutNd):
            part.p = 0.0
        if hasattr(part, "stochastic_depth_prob"):
            part.stochastic_depth_prob = 0.0
        if type(part).__name__ == "StochasticDepth":
            part.p = 0.0
        if isinstance(part, torch.nn.MultiheadAttention):
            part.dropout = 0.0
        for name in ("attention_dropout", "dropout"):
            if isinstance(getattr(part, name, None), float):
                setattr(part, name, 0.0)
    return module


KINKED = (torch.nn.ReLU, torch.nn.ReLU6, torch.nn.Hardswish, torch.nn.Hardsigmoid, torch.nn.LeakyReLU)


def smoothed(module):
    for part in list(module.modules()):
        for name, child in list(vars(part).items()) + list(part.named_children()):
            if isinstance(child, KINKED):
                setattr(part, name, torch.nn.Softplus())
    return module


def trained(module, features, labels):
    module = copy.deepcopy(module)
    module.eval()
    with torch.no_grad():
        results = {"evaluated": module(features)}
    module.train()
    logits = module(features)
    loss = torch.nn.functional.cross_entropy(logits, labels)
    loss.backward()
    results |= {"trained": logits, "loss": loss}
    for name, parameter in module.named_parameters():
        if parameter.requires_grad and parameter.grad is not None:
            results["gradient." + name] = parameter.grad
    for name, buffer in module.named_buffers():
        if name.endswith(("running_mean", "running_var")):
            results["statistic." + name] = buffer
    return {name: value.detach().to(torch.float64).numpy() for name, value in results.items()}


def distance(found, expected):
    scale = max(1e-6, float(numpy.abs(expected).max()))    # what is nothing but rounding has no scale of its own
    return float(numpy.abs(found.astype(numpy.float64) - expected).max()) / scale


def judge(ours, single, double):
    """The largest distances, of theirs and ours, and what goes beyond the bound."""
    worst, wrong = (0.0, 0.0, ""), []
    largest = {}
    for name in double:
        kind = name.split(".")[0]
        largest[kind] = max(largest.get(kind, 0), distance(single[name], double[name]))
    # A gradient that is nothing but rounding has no scale of its own: that of all gradients is its.
    scale = max((float(numpy.abs(value).max()) for name, value in double.items() if name.startswith("gradient.")), default=1)
    for name, expected in double.items():
        if name not in ours:
            if name.startswith("gradient.") and not numpy.any(expected):
                continue
            wrong.append(f"{name} is absent")
            continue
        theirs, here = distance(single[name], expected), distance(ours[name].reshape(expected.shape), expected)
        if name.startswith("gradient."):
            absolute = float(numpy.abs(ours[name].reshape(expected.shape) - expected).max()) / scale
            here = min(here, max(absolute, 1e-30)) if float(numpy.abs(expected).max()) < 1e-4 * scale else here
        if here > worst[1]:
            worst = (theirs, here, name)
        kind = "trained" if name == "loss" else name.split(".")[0]
        bound = max(ROOM * max(theirs, largest[kind]), SMALLEST)
        if not here <= bound:
            wrong.append(f"{name} {here:.1e} (torch {theirs:.1e})")
    return worst, wrong


def compare(bench, name, make, sample, folder):
    torch.manual_seed(0)
    module = without_draws(make()).train()
    sample = sample or module.pretrained_cfg["input_size"]
    features = torch.randn(4, *sample)
    labels = torch.arange(4) % 10
    path = folder / f"{name}.pt2"
    exported = torch.export.export(
        copy.deepcopy(module), (features,), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},))
    torch.export.save(exported, path)
    single = trained(module, features, labels)
    double = trained(copy.deepcopy(module).double(), features.double(), labels)
    safetensors_file.write(folder / "batch.safetensors", {"features": features, "labels": labels.to(torch.int32),
                                                          "outputs": torch.tensor(10, dtype=torch.int32)})
    done = subprocess.run([bench, path, folder / "batch.safetensors", folder / "out.safetensors"],
                          capture_output=True, text=True)
    path.unlink()
    if done.returncode:
        return None, [done.stderr.strip()[-600:]]
    return judge({name: value.numpy() for name, value in safetensors_file.read(folder / "out.safetensors").items()}, single, double)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("bench")
    options.add_argument("--set", default="torchvision", choices=SETS)
    options.add_argument("--only", default="")
    options.add_argument("--all", action="store_true")
    options.add_argument("--junit")
    given = options.parse_args()
    chosen = [name for name in given.only.split(",") if name]
    right = total = 0
    suite = tree.Element("testsuite")
    with tempfile.TemporaryDirectory() as scratch:
        for name, make, sample in SETS[given.set](given.all):
            if chosen and not any(one in name for one in chosen):
                continue
            total += 1
            begin = time.monotonic()
            try:
                worst, wrong = compare(given.bench, name, make, sample, pathlib.Path(scratch))
                if wrong and worst and all(one.startswith("gradient.") for one in wrong):
                    name += " with softplus"
                    worst, wrong = compare(given.bench, name.split()[0], lambda: smoothed(make()), sample, pathlib.Path(scratch))
            except Exception as error:    # torch cannot export or run it: named, not counted as right
                worst, wrong = None, [f"torch: {type(error).__name__}: {str(error)[:300]}"]
            right += not wrong
            case = tree.SubElement(suite, "testcase", classname="imported", name=name, status="run")
            if wrong:
                tree.SubElement(case, "failure", message=wrong[0])
            shown = f"torch {worst[0]:.1e} here {worst[1]:.1e} {worst[2]}" if worst else ""
            print(f"{'right' if not wrong else 'WRONG'} {name} {time.monotonic() - begin:.0f} s {shown}"
                  + "".join(f"\n      {one}" for one in wrong[:4]), flush=True)
    print(f"{right} of {total} networks are right")
    if given.junit:
        tree.ElementTree(suite).write(given.junit)
    return 0 if right == total else 1


if __name__ == "__main__":
    sys.exit(main())
