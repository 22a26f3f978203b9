#!/usr/bin/env python3
"""Writes the corpus of a fuzz target: a good file or two, and files that are each bad in one way.

usage: tests/fuzz/make_corpus.py TARGET FOLDER

Each target has a function of its name in a file of corpus/. Files of found/TARGET, which a fuzzer has found, are copied along.
What the target says of each file is in expected/TARGET.txt (test_corpus.cpp). The writers are Python's own, so a reader is not
judged by its sister.
"""
import pathlib
import shutil
import sys

from corpus.archives import npz, unpack, webdataset
from corpus.checkpoints import checkpoint, manifest, pack, safetensors
from corpus.images import image
from corpus.programs import exported_program
from corpus.messages import agent_message, frame
from corpus.records import example, tfrecord
from corpus.requests import chunked, cookie, cursor, http_head
from corpus.specs import dataset, job_spec
from corpus.tables import cifar10, csv, idx, image_csv
from corpus.tokenizers import bpe, bpe_merges, kept_tokenizer, text, unigram, wordpiece

TARGETS = {function.__name__: function for function in (
    agent_message, bpe, bpe_merges, checkpoint, chunked, cifar10, cookie, csv, cursor, dataset, example, exported_program, frame, http_head, idx, image,
    image_csv, job_spec, kept_tokenizer, manifest, npz, pack, safetensors, text, tfrecord, unigram, unpack, webdataset, wordpiece)}


def main():
    target, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in TARGETS[target]():
        (folder / name).write_bytes(content)
    for found in sorted((pathlib.Path(__file__).parent / "found" / target).glob("*")):
        shutil.copyfile(found, folder / found.name)


if __name__ == "__main__":
    main()
