"""Tokenizers the slow and obvious way: what the fast ones are compared with.

usage: reference_tokens.py words TEXT                      lengths in bytes of GPT-2's words
       reference_tokens.py wordpiece VOCAB TEXT lower|as_is  BERT's tokens, a line for each line
       reference_tokens.py bpe TOKENIZER_JSON TEXT         byte-level BPE's tokens of the whole text
       reference_tokens.py train TEXT SIZE                 merges as "left right result", one a line
       reference_tokens.py unigram MODEL TEXT              sentencepiece's tokens, a line for each line
       reference_tokens.py make_unigram TEXT SIZE MODEL    trains a model with sentencepiece

Exits with 77 when a module is missing.
"""
import collections
import json
import sys
import unicodedata

GPT2 = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""


def module(name):
    try:
        return __import__(name)
    except ImportError:
        print(f"python3-{name} is missing", file=sys.stderr)
        sys.exit(77)


def read(name):
    with open(name, encoding="utf-8", newline="") as file:
        return file.read()


def words_of(text):
    return module("regex").findall(GPT2, text)


# ---- BERT -------------------------------------------------------------------
def is_control(character):
    return character not in "\t\n\r" and unicodedata.category(character).startswith("C")


def is_punctuation(character):
    return character in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~" or unicodedata.category(character).startswith("P")


def is_chinese(character):
    return any(first <= ord(character) <= last for first, last in [
        (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
        (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)])


def basic_words(text, lower):
    clean = ""
    for character in text:
        if character in "\0\ufffd" or is_control(character):
            continue
        blank = character in " \t\n\r" or unicodedata.category(character) == "Zs"
        clean += " " if blank else f" {character} " if is_chinese(character) else character
    words = []
    for word in clean.split():
        if lower:
            decomposed = unicodedata.normalize("NFD", word.lower())
            word = "".join(c for c in decomposed if unicodedata.category(c) != "Mn")
        words += "".join(f" {c} " if is_punctuation(c) else c for c in word).split()
    return words


def wordpiece(word, numbers):
    if len(word) > 100:
        return [numbers["[UNK]"]]
    tokens, begin = [], 0
    while begin < len(word):
        for end in range(len(word), begin, -1):
            piece = ("##" if begin else "") + word[begin:end]
            if piece in numbers:
                break
        else:
            return [numbers["[UNK]"]]
        tokens.append(numbers[piece])
        begin = end
    return tokens


def bert(text, numbers, lower):
    for name in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"):
        if name in numbers and name in text:
            before, after = text.split(name, 1)
            return bert(before, numbers, lower) + [numbers[name]] + bert(after, numbers, lower)
    return [token for word in basic_words(text, lower) for token in wordpiece(word, numbers)]


# ---- byte-level BPE ----------------------------------------------------------
def letters():
    printing = [*range(33, 127), *range(161, 173), *range(174, 256)]
    table = {byte: chr(byte) for byte in printing}
    for byte in range(256):
        if byte not in table:
            table[byte] = chr(256 + len(table) - len(printing))
    return table


def merged(symbols, pair):
    out = []
    for symbol in symbols:
        if out and out[-1] is not None and (out[-1], symbol) == pair:
            out[-1:] = [out[-1] + symbol, None]    # None: what was just made is not made more of
        else:
            out.append(symbol)
    return [symbol for symbol in out if symbol is not None]


def bpe(word, ranks):
    table = letters()
    symbols = [table[byte] for byte in word.encode()]
    while True:
        pairs = [pair for pair in zip(symbols, symbols[1:]) if pair in ranks]
        if not pairs:
            return symbols
        symbols = merged(symbols, min(pairs, key=ranks.get))


def bpe_tokens(text, file):
    whole = json.loads(read(file))
    added = {token["content"]: token["id"] for token in whole["added_tokens"]}
    merges = [tuple(merge.split(" ")) if isinstance(merge, str) else tuple(merge) for merge in whole["model"]["merges"]]
    ranks = {merge: rank for rank, merge in enumerate(merges)}
    regex = module("regex")
    pieces = regex.split("(" + "|".join(regex.escape(name) for name in sorted(added, key=len, reverse=True)) + ")", text)
    tokens = []
    for piece in pieces:
        if piece in added:
            tokens.append(added[piece])
        else:
            tokens += [whole["model"]["vocab"][symbol] for word in words_of(piece) for symbol in bpe(word, ranks)]
    return tokens


def train(text, size):
    table = letters()
    # In GPT-2's order: printing characters first, then the others.
    numbers = {table[byte]: i for i, byte in enumerate(sorted(range(256), key=lambda byte: ord(table[byte])))}
    words = collections.Counter(tuple(table[byte] for byte in word.encode()) for word in words_of(text))
    while len(numbers) < size - 3:
        pairs = collections.Counter()
        for word, count in words.items():
            for pair in zip(word, word[1:]):
                pairs[pair] += count
        if not pairs:
            return
        best = min(pairs, key=lambda pair: (-pairs[pair], numbers[pair[0]], numbers[pair[1]]))
        if pairs[best] < 2:
            return
        result = numbers.setdefault("".join(best), len(numbers))
        print(numbers[best[0]], numbers[best[1]], result)
        words = retold(words, best)


def retold(words, pair):
    told = collections.Counter()
    for word, count in words.items():
        told[tuple(merged(word, pair))] += count
    return told


# ---- sentencepiece -------------------------------------------------------------
def unigram(model, text):
    processor = module("sentencepiece").SentencePieceProcessor(model_file=model)
    for line in text.split("\n"):
        print(*processor.encode(line))


def make_unigram(text, size, model):
    module("sentencepiece").SentencePieceTrainer.train(
        input=text, model_prefix=model, vocab_size=int(size), model_type="unigram", pad_id=3,
        control_symbols=["[CLS]", "[SEP]", "[MASK]"], minloglevel=2, num_threads=1)


def main(kind, *arguments):
    if kind == "words":
        print(*(len(word.encode()) for word in words_of(read(arguments[0]))))
    elif kind == "wordpiece":
        numbers = {line: number for number, line in enumerate(read(arguments[0]).split("\n"))}
        for line in read(arguments[1]).split("\n"):
            print(*bert(line, numbers, arguments[2] == "lower"))
    elif kind == "bpe":
        print(*bpe_tokens(read(arguments[1]), arguments[0]))
    elif kind == "train":
        train(read(arguments[0]), int(arguments[1]))
    elif kind == "unigram":
        unigram(arguments[0], read(arguments[1]))
    elif kind == "make_unigram":
        make_unigram(*arguments)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])
