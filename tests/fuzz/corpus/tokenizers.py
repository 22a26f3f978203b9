"""Texts, and the files of tokenizers."""
import json
import struct

from corpus.edits import cut, gzipped, two
from corpus.records import field, varint


def text():
    good = "Ein Satz.\nNoch einer: äöü €.\n".encode()
    yield "good", good
    yield "good_gzipped", gzipped(good)
    yield "bad_cut_in_a_character", good[:good.index("€".encode()) + 2]
    yield "bad_empty", b""
    yield "bad_gzip_cut", cut(gzipped(good), 9)
    yield "bad_latin_1", good + "äh".encode("latin-1")
    yield "bad_nul", good + b"\0"
    yield "bad_overlong", good + b"\xc0\xaf"
    yield "bad_surrogate", good + b"\xed\xa0\x80"
    yield "bad_utf_16", "Text\n".encode("utf-16")


def wordpiece():
    good = b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nto\nbe\n##o\nn\n##ot\n,\n"
    yield "good", good
    yield "good_crlf", good.replace(b"\n", b"\r\n")
    yield "good_without_last_end", cut(good, 1)
    yield "bad_empty", b""
    yield "bad_latin_1", good + b"\xe9\n"
    yield "bad_line_empty", good + b"\nx\n"
    yield "good_line_long", good + b"n" * 5000 + b"\n"
    yield "good_nul", good + b"a\0b\n"
    yield "bad_twice", good + b"to\n"
    yield "bad_unknown_missing", good.replace(b"[UNK]\n", b"")


BYTES = [chr(b) for b in [*range(33, 127), *range(161, 173), *range(174, 256)]]
BYTES += [chr(256 + n) for n in range(68)]    # GPT-2's letters for the other bytes
MERGES = ["t o", "b e", "to be"]


def vocabulary(*more):
    return {token: number for number, token in enumerate([*BYTES, "to", "be", "tobe", *more])}


def bpe():
    def tokenizer(tokens=None, merges=None, added=(), **more):
        model = {"type": "BPE", "vocab": vocabulary() if tokens is None else tokens,
                 "merges": MERGES if merges is None else merges}
        parts = {"version": "1.0", "added_tokens": list(added), "normalizer": None,
                 "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True},
                 "decoder": {"type": "ByteLevel"}, "model": model}
        return json.dumps({**parts, **more}, ensure_ascii=False).encode()

    def end(number):
        return {"id": number, "content": "<|endoftext|>", "special": True}
    yield "good", tokenizer()
    yield "good_added", tokenizer(vocabulary("<|endoftext|>"), added=[end(259)])
    yield "good_merges_as_pairs", tokenizer(merges=[merge.split() for merge in MERGES])
    yield "bad_added_in_the_middle", tokenizer(added=[end(4)])
    yield "bad_added_text", tokenizer(added=[{"id": "259", "content": 3}])
    yield "bad_cut", cut(tokenizer(), 9)
    yield "bad_empty", b""
    yield "bad_kind", tokenizer(model={"type": "WordPiece", "vocab": {}})
    yield "bad_list", b"[]"
    yield "bad_merge_of_one", tokenizer(merges=["to"])
    yield "bad_merge_unknown", tokenizer(merges=["to x", "x y"])
    yield "bad_merges_missing", tokenizer(model={"type": "BPE", "vocab": vocabulary()})
    yield "bad_normalizer", tokenizer(normalizer={"type": "NFC"})
    yield "bad_number_huge", tokenizer({**vocabulary(), "tob": 1 << 40})
    yield "bad_number_negative", tokenizer({**vocabulary(), "tob": -1})
    yield "bad_number_twice", tokenizer({**vocabulary(), "tob": 3})
    yield "bad_vocabulary_empty", tokenizer({})


def bpe_merges():
    words = json.dumps(vocabulary("<|endoftext|>")).encode()
    merges = "\n".join(["#version: 0.2", *MERGES, ""]).encode()
    yield "good", two(words, merges)
    yield "bad_empty", two(b"", b"")
    yield "bad_merge_of_one", two(words, merges + b"to\n")
    yield "bad_merge_of_three", two(words, merges + b"t o b\n")
    yield "bad_merge_unknown", two(words, merges + b"to x\n")
    yield "bad_merges_latin_1", two(words, merges + b"\xe9 t\n")
    yield "bad_vocabulary_cut", two(cut(words, 1), merges)
    yield "bad_vocabulary_list", two(b"[1]", merges)


def unigram():
    def piece(text, score, kind=None):
        content = field(1, text.encode()) + varint(2 << 3 | 5) + struct.pack("<f", score)
        return field(1, content + (varint(3 << 3) + varint(kind) if kind else b""))

    def model(*pieces, kind=1):
        trainer = field(2, varint(3 << 3) + varint(kind))
        return b"".join(pieces) + trainer + field(3, field(1, b"identity"))
    base = [piece("<unk>", 0, 2), piece("<s>", 0, 3), piece("</s>", 0, 3)]
    words = [piece("\u2581", -2), piece("to", -3), piece("be", -3.5), piece("o", -4)]
    good = model(*base, *words)
    yield "good", good
    yield "good_of_characters", model(*base, *words, kind=4)
    yield "bad_cut", cut(good, 5)
    yield "bad_empty", b""
    yield "bad_no_pieces", model()
    yield "bad_no_unknown", model(*words)
    yield "bad_normalizer", good + field(3, field(2, b"\xff" * 9))
    yield "bad_piece_empty", model(*base, piece("", -1), *words)
    yield "bad_piece_latin_1", model(*base, field(1, field(1, b"caf\xe9")), *words)
    yield "bad_piece_nul", model(*base, piece("\0>", -1), *words)
    yield "bad_piece_twice", model(*base, *words, piece("to", -1))
    yield "bad_score_nan", model(*base, *words, piece("x", float("nan")))
    yield "bad_text", b"to be or not to be"


def kept_tokenizer():
    def spec(**fields):
        return json.dumps(fields).encode()
    of_file = spec(type="character", file="characters.json")
    letters = json.dumps(["t", "o", "\u20ac"]).encode()
    yield "good", two(of_file, letters)
    yield "good_bytes", two(spec(type="byte"), b"")
    yield "bad_character_latin_1", two(of_file, b'["\xe9"]')
    yield "bad_character_long", two(of_file, b'["to"]')
    yield "bad_character_number", two(of_file, b'["t", 7]')
    yield "bad_character_twice", two(of_file, b'["t", "t"]')
    yield "bad_characters_cut", two(of_file, cut(letters, 1))
    yield "bad_empty", two(b"", b"")
    yield "bad_file_missing", two(spec(type="wordpiece", file="vocab.txt"), b"")
    yield "bad_file_upwards", two(spec(type="character", file="../characters.json"), letters)
    yield "bad_no_file", two(spec(type="wordpiece"), b"")
    yield "bad_type", two(spec(type="words"), b"")
    yield "bad_unknown_field", two(spec(type="byte", fast=True), b"")
    yield "bad_vocabulary_size", two(spec(type="bpe", vocab_size=-1), b"")
