#!/usr/bin/env python3
"""Trains a language model on WikiText with slipway-executor and the same one in torch, from the same weights on the same
batches, and compares validation perplexities: within 2 %.

usage: compare_language.py EXECUTOR --text FOLDER [--arch bert_small] [--optimizer adam] [--lr 3e-4] [--steps 200]
                           [--batch 16] [--length 128] [--bytes N] [--validation-bytes N] [--figures FILE]

FOLDER is wikitext2's: valid.txt is learned from, test.txt validated on, N bytes of each. Needs torch and numpy (Debian 12:
python3-torch). The text is bytes, and masks are drawn anew for each epoch (masks.py). Dropout is off. How far it is, is
said all the while. Without --bytes the text has more than one epoch, so that slipway-executor, too, validates only once.
"""
import argparse
import math
import pathlib
import sys
import tempfile
import time

import torch

import executor_runs
import safetensors_file
import text_batches
from compare_training import NETWORKS, Row, Theirs, adam, adamw, file_of, job_of, sgd
from figures import Figure, conclude

PERPLEXITY_BOUND = 0.02
OPTIMIZERS = {"sgd": sgd, "adam": adam, "adamw": adamw}


def say(text):
    print(f"  {time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("executor")
    parser.add_argument("--text", type=pathlib.Path, required=True, help="a folder of wikitext2")
    parser.add_argument("--arch", default="bert_small", choices=[arch for arch in NETWORKS if arch.startswith(("bert", "gpt"))])
    parser.add_argument("--optimizer", default="adam", choices=OPTIMIZERS)
    parser.add_argument("--lr", type=float, default=3e-4)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--bytes", type=int, help="of the training text; without it enough for all steps")
    parser.add_argument("--validation-bytes", type=int, default=60_000)
    parser.add_argument("--figures", type=pathlib.Path, help="a file for the table of compare_all.py")
    asked = parser.parse_args()
    row = Row(asked.arch, OPTIMIZERS[asked.optimizer](asked.lr), batch=asked.batch, length=asked.length)
    train_bytes = asked.bytes or (asked.steps * asked.batch + 64) * asked.length    # lines are whole
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = text_batches.Texts(folder / "text", "masked_lm" if asked.arch.startswith("bert") else "causal_lm", asked.length,
                                  asked.batch, text_batches.lines(asked.text / "valid.txt", train_bytes),
                                  text_batches.lines(asked.text / "test.txt", asked.validation_bytes))
        say(f"{len(data.train.rows)} rows to learn from, {data.steps_per_epoch} steps an epoch; {len(data.val.rows)} to validate on")
        torch.manual_seed(1)
        first = {name: tensor.clone() for name, tensor in NETWORKS[asked.arch](row).state_dict().items()}
        safetensors_file.write(folder / "first.safetensors", file_of(row, first))
        ours = executor_runs.run(asked.executor, job_of(row, data, asked.steps, folder / "first.safetensors"), data,
                                 folder / "out", say=say)
        perplexity = ours.evaluated["val_perplexity"]
        say(f"slipway-executor: validation perplexity {perplexity:.4f}")
    theirs = Theirs(row, data, first, torch.float32)
    losses = theirs.train(asked.steps, lambda step, loss: step % 20 == 0 and say(f"torch at step {step}, loss {loss:.4f}"))
    torch_perplexity = math.exp(theirs.validation_loss())
    say(f"torch: validation perplexity {torch_perplexity:.4f}")
    curve = max(abs(loss - ours.losses[step]) for step, loss in enumerate(losses, 1))
    return conclude(f"{asked.arch} on WikiText, {asked.optimizer}, {asked.steps} steps of {asked.batch} x {asked.length} bytes: "
                    f"validation perplexity {perplexity:.3f}, torch's {torch_perplexity:.3f}; losses differ by up to {curve:.1e}",
                    [Figure("perplexity", abs(perplexity / torch_perplexity - 1), PERPLEXITY_BOUND)], asked.figures)


if __name__ == "__main__":
    sys.exit(main())
