#!/usr/bin/env python3
"""Writes a dataset of 10,000 samples, reads it back with Python's own modules and prints what is in it.

usage: make_sets.py cifar10|numbers|images|messages|npz|numpy|webdataset FOLDER

One line for each sample, in the order of the files' names: PART CLASS HASH (independent_set.h).
`messages`: RECORD (hexadecimal) and what protobuf reads in it (test_example.cpp), or "refused".
Exit code 77: a module is missing.
"""
import gzip
import hashlib
import io
import pathlib
import random
import struct
import sys
import tarfile
import warnings
import zipfile
import zlib

SAMPLES = 10_000
GENERATOR = random.Random(20261121)


def digest(content):
    return hashlib.sha256(content).hexdigest()


def unpacked(file):
    content = file.read_bytes()
    return gzip.decompress(content) if file.suffix == ".gz" else content


def cifar10(folder):
    """Batches of unequal length, one of them gzipped, beside the file of names."""
    record = struct.Struct("<B3072s")
    names = [f"class_{letter}" for letter in "abcdefghij"]
    (folder / "batches.meta.txt").write_text("\n".join(names) + "\n\n")
    for name, count in (("data_batch_1.bin", 4_000), ("data_batch_2.bin.gz", 3_000), ("test_batch.bin", 3_000)):
        content = b"".join(record.pack(GENERATOR.randrange(10), GENERATOR.randbytes(3072)) for _ in range(count))
        (folder / name).write_bytes(gzip.compress(content, 1) if name.endswith(".gz") else content)
    for file in sorted(folder.glob("*.bin*")):
        part = "test" if file.name.startswith("test") else "train"
        for label, pixels in record.iter_unpack(unpacked(file)):
            print(part, names[label], digest(pixels))


# ---- archives of NumPy ------------------------------------------------------------------------------------------
def npy(kind, shape, content, version=1):
    """As numpy.lib.format writes it."""
    literal = repr({"descr": kind, "fortran_order": False, "shape": shape})
    literal += " " * (-(len(literal) + 11) % 64) + "\n"
    length = struct.pack("<H" if version == 1 else "<I", len(literal))
    return b"\x93NUMPY" + bytes([version, 0]) + length + literal.encode() + content


def npz(folder):
    """Gray images of bytes, with parts in the names of arrays and of files; stored, deflated and zip64."""
    count, names = SAMPLES // 4, ["ant", "bee", "caf\u00e9"]
    for file, parts, method in (("all.npz", ("test", "train"), zipfile.ZIP_STORED),
                                ("extra_train-1.npz", ("",), zipfile.ZIP_DEFLATED), ("extra_train-2.npz", ("",), zipfile.ZIP_DEFLATED)):
        with zipfile.ZipFile(folder / file, "w", method) as archive:
            for part in parts:
                pixels = npy("|u1", (count, 8, 8), GENERATOR.randbytes(count * 64), 1 if part else 2)
                labels = "".join(GENERATOR.choice(names).ljust(5, "\0") for _ in range(count)).encode("utf-32-be")
                for name, content in (("x", pixels), ("y", npy(">U5", (count, 1) if part else (count,), labels))):
                    with archive.open(f"{name}_{part}.npy" if part else f"{name}.npy", "w", force_zip64=True) as member:
                        member.write(content)
    for file in ("all.npz", "extra_train-1.npz", "extra_train-2.npz"):
        with zipfile.ZipFile(folder / file) as archive:
            for part in ("_train", "_test") if file == "all.npz" else ("",):
                pixels, labels = archive.read(f"x{part}.npy")[-count * 64:], archive.read(f"y{part}.npy")[-count * 20:]
                for index in range(count):
                    label = labels[index * 20:index * 20 + 20].decode("utf-32-be").rstrip("\0")
                    print(part[1:] or "extra_train", label, digest(pixels[index * 64:index * 64 + 64]))


def numpy(folder):
    """A table of each type of number, in either order of bytes, written and read by NumPy."""
    try:
        import numpy as np
    except ImportError:
        sys.exit(77)
    random_state = np.random.default_rng(20261121)
    kinds = ["?", "i1", "u1"] + [order + kind for order in "<>" for kind in ("i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8")]
    for place, kind in enumerate(kinds):
        x = (random_state.standard_normal((50, 3)) * (100 if "f" in kind else 30)).astype(kind)
        y = random_state.integers(-5 if place % 2 else 0, 5, 50)
        save = np.savez_compressed if place % 3 else np.savez
        save(folder / f"{chr(97 + place)}.npz", X=x, y=y.astype(["<i8", ">i4", "i1", "U3", "S3", ">U2"][place % 6]))
    for file in sorted(folder.glob("*.npz")):
        with np.load(file) as arrays:
            for row, label in zip(arrays["X"].astype("<f4"), arrays["y"]):
                print(file.stem, label.decode() if isinstance(label, bytes) else label, digest(row.tobytes()))


# ---- PNG, with zlib alone ---------------------------------------------------------------------------------------
def png_chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def write_png(width, height, pixels):
    """RGB, 8 bits; every second row as its difference from the row above."""
    row = 3 * width
    lines = [pixels[begin:begin + row] for begin in range(0, len(pixels), row)]
    filtered = b"".join(
        b"\2" + bytes((a - b) & 255 for a, b in zip(line, lines[y - 1])) if y % 2 else b"\0" + line
        for y, line in enumerate(lines))
    return (b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            png_chunk(b"IDAT", zlib.compress(filtered, 1)) + png_chunk(b"IEND", b""))


def read_png(content):
    """Planes of red, green and blue of what write_png has written."""
    width, height = struct.unpack_from(">II", content, 16)
    size, = struct.unpack_from(">I", content, 33)
    filtered, row, lines = zlib.decompress(content[41:41 + size]), 3 * width + 1, [bytes(3 * width)]
    for begin in range(0, row * height, row):
        line = filtered[begin + 1:begin + row]
        lines.append(bytes((a + b) & 255 for a, b in zip(line, lines[-1])) if filtered[begin] == 2 else line)
    pixels = b"".join(lines[1:])
    return pixels[0::3] + pixels[1::3] + pixels[2::3]


def some_png():
    return write_png(5, 4, GENERATOR.randbytes(60))


# ---- TFRecord, with protobuf's own reader -----------------------------------------------------------------------
def example_class():
    """tf.train.Example (tensorflow/core/example), described by hand: no compiler is needed."""
    try:
        # Not at the top: the other sets need no module but Python's own.
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    except ImportError as error:
        print(f"make_sets.py: {error}", file=sys.stderr)
        sys.exit(77)
    kind = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="example.proto", package="tensorflow", syntax="proto3")

    def message(name, fields, at=file.message_type):
        made = at.add(name=name)
        for number, (field, type_, repeated, of) in enumerate(fields, 1):
            made.field.add(name=field, number=number, type=type_, type_name=of,
                           label=kind.LABEL_REPEATED if repeated else kind.LABEL_OPTIONAL)
        return made

    for name, type_ in (("BytesList", kind.TYPE_BYTES), ("FloatList", kind.TYPE_FLOAT), ("Int64List", kind.TYPE_INT64)):
        message(name, [("value", type_, True, None)])
    lists = [(f"{name}_list", kind.TYPE_MESSAGE, False, f".tensorflow.{name.title()}List") for name in ("bytes", "float", "int64")]
    feature = message("Feature", lists)
    feature.oneof_decl.add(name="kind")
    for field in feature.field:
        field.oneof_index = 0
    features = message("Features", [("feature", kind.TYPE_MESSAGE, True, ".tensorflow.Features.FeatureEntry")])
    entry = message("FeatureEntry", [("key", kind.TYPE_STRING, False, None),
                                     ("value", kind.TYPE_MESSAGE, False, ".tensorflow.Feature")], features.nested_type)
    entry.options.map_entry = True
    message("Example", [("features", kind.TYPE_MESSAGE, False, ".tensorflow.Features")])
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName("tensorflow.Example"))


def example_of(example, **features):
    made = example()
    for name, values in features.items():
        feature = made.features.feature[name.replace("__", "/")]
        lists = {bytes: feature.bytes_list, float: feature.float_list, int: feature.int64_list}
        lists[type(values[0])].value.extend(values)
    return made.SerializeToString()


def crc_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


CRC_TABLE = crc_table()


def masked_crc(content):
    value = 0xFFFFFFFF
    for byte in content:
        value = value >> 8 ^ CRC_TABLE[(value ^ byte) & 255]
    value ^= 0xFFFFFFFF
    return ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF


def framed(record):
    length = struct.pack("<Q", len(record))
    return length + struct.pack("<I", masked_crc(length)) + record + struct.pack("<I", masked_crc(record))


def records_of(content):
    at = 0
    while at < len(content):
        length, length_sum = struct.unpack_from("<QI", content, at)
        record = content[at + 12:at + 12 + length]
        assert masked_crc(content[at:at + 8]) == length_sum
        assert (masked_crc(record),) == struct.unpack_from("<I", content, at + 12 + length)
        at += 16 + length
        yield record


def write_records(folder, make):
    """Two plain files of a part and a gzipped one of another; yields (part, parsed record) as read back."""
    example = example_class()
    for name, count in (("train-00000-of-00002.tfrecord", 4_000), ("train-00001-of-00002.tfrecord", 3_000),
                        ("val.tfrecord.gz", 3_000)):
        content = b"".join(framed(make(example)) for _ in range(count))
        (folder / name).write_bytes(gzip.compress(content, 1) if name.endswith(".gz") else content)
    for file in sorted(folder.iterdir()):
        for record in records_of(unpacked(file)):
            yield file.name.split("-")[0].split(".")[0], example.FromString(record).features.feature


def numbers(folder):
    def make(example):
        values = [GENERATOR.gauss(0, 10) for _ in range(5)]
        return example_of(example, label=[GENERATOR.randrange(-3, 9)], x=values[:3], y=values[3:],
                          n=[GENERATOR.randrange(-2 ** 40, 2 ** 40), GENERATOR.randrange(100)], z=[b"not a number"])

    for part, feature in write_records(folder, make):
        row = [*feature["x"].float_list.value, *feature["n"].int64_list.value, *feature["y"].float_list.value]
        print(part, feature["label"].int64_list.value[0], digest(struct.pack("<7f", *row)))


def images(folder):
    def make(example):
        return example_of(example, image__encoded=[some_png()], image__class__label=[GENERATOR.randrange(1000)],
                          image__class__text=[GENERATOR.choice(("cat", "dog", "m\u00f6ve")).encode()],
                          image__format=[b"png"], image__height=[4])

    for part, feature in write_records(folder, make):
        print(part, feature["image/class/text"].bytes_list.value[0].decode(),
              digest(read_png(feature["image/encoded"].bytes_list.value[0])))


# ---- tar, with tarfile ------------------------------------------------------------------------------------------
def webdataset(folder):
    """Shards in each form that tarfile writes, with long and foreign names, other members and empty folders."""
    def member(tar, name, content):
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        tar.addfile(entry, io.BytesIO(content))

    shards = (("train-000.tar", tarfile.USTAR_FORMAT, "", 3_000, ""), ("train-001.tar", tarfile.GNU_FORMAT, "", 2_000, "long/" * 30),
              ("train-002.tar", tarfile.PAX_FORMAT, "", 2_000, "m\u00f6ve/"), ("val.tgz", tarfile.PAX_FORMAT, "gz", 3_000, "deep/"))
    for name, form, packing, count, prefix in shards:
        with tarfile.open(folder / name, f"w:{packing}", format=form, **({"compresslevel": 1} if packing else {})) as tar:
            entry = tarfile.TarInfo("an_empty_folder.jpg")
            entry.type = tarfile.DIRTYPE
            tar.addfile(entry)
            for index in range(count):
                parts = [("png", some_png()), ("cls", f"{GENERATOR.randrange(12)}\n".encode()), ("json", b"{}")]
                GENERATOR.shuffle(parts)
                for ending, content in parts:
                    member(tar, f"{prefix}{index:06}.{ending}", content)
                if index % 100 == 0:
                    member(tar, f"{prefix}.hidden.png", b"nothing")
    for file in sorted(folder.iterdir()):
        with tarfile.open(file) as tar:
            sample = {}
            for entry in tar:
                stem, _, ending = entry.name.rpartition("/")[2].partition(".")
                if not entry.isfile() or not stem:
                    continue
                sample[ending] = tar.extractfile(entry).read()
                if len(sample) == 3:
                    print(file.name.split("-")[0].split(".")[0], sample["cls"].decode().strip(), digest(read_png(sample["png"])))
                    sample = {}


def messages(_):
    """Good messages, and ones with bytes changed, left out or doubled."""
    example = example_class()
    from google.protobuf.message import DecodeError
    warnings.simplefilter("error")

    def random_message():
        features = {}
        for name in GENERATOR.sample(("a", "b", "image", "label", "long_name_of_a_feature"), GENERATOR.randrange(1, 4)):
            count = GENERATOR.randrange(1, 4)
            features[name] = GENERATOR.choice((
                lambda: [GENERATOR.randbytes(GENERATOR.randrange(4)) for _ in range(count)],
                lambda: [GENERATOR.gauss(0, 1) for _ in range(count)],
                lambda: [GENERATOR.randrange(-2 ** 63, 2 ** 63) >> GENERATOR.randrange(64) for _ in range(count)]))()
        return example_of(example, **features)

    def changed(record):
        at = GENERATOR.randrange(len(record))
        length = GENERATOR.randrange(1, 8)
        return GENERATOR.choice((
            lambda: record[:at] + bytes([GENERATOR.randrange(256)]) + record[at + 1:],
            lambda: record[:at] + bytes([record[at] ^ 1 << GENERATOR.randrange(8)]) + record[at + 1:],
            lambda: record[:at] + record[at + length:],
            lambda: record[:at] + record[at:at + length] + record[at:],
            lambda: record + random_message()))()

    def said(record):
        try:
            parsed = example.FromString(record)
        except (DecodeError, SystemError):    # its warning as an error: it stopped in the middle
            return "refused"
        text = ""
        for name, feature in sorted(parsed.features.feature.items(), key=lambda item: item[0].encode()):
            kind = feature.WhichOneof("kind")
            values = getattr(feature, kind).value if kind else []
            text += name.encode().hex() + "," + {"bytes_list": "bytes", "float_list": "float", "int64_list": "int64",
                                                 None: "no values"}[kind] + ":"
            if kind == "float_list":
                values = [struct.pack("<f", value) for value in values]
            text += "".join(f"{value if kind == 'int64_list' else value.hex()}," for value in values) + ";"
        return text

    for index in range(SAMPLES):
        record = random_message()
        for _ in range(index % 3):
            record = changed(record) or b"\n"
        print(record.hex(), said(record))


def main():
    kind, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir()
    {"cifar10": cifar10, "numbers": numbers, "images": images, "messages": messages, "npz": npz, "numpy": numpy,
     "webdataset": webdataset}[kind](folder)


if __name__ == "__main__":
    main()
