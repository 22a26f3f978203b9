#!/usr/bin/env python3
"""Writes the corpus of a fuzz target: a good file or two, and files that are each bad in one way.

usage: tests/fuzz/make_corpus.py TARGET FOLDER

Files of found/TARGET, which a fuzzer has found, are copied along. What the target says of each file is in
expected/TARGET.txt (test_corpus.cpp). The writers are Python's own, so a reader is not judged by its sister.
"""
import gzip
import hashlib
import io
import json
import pathlib
import shutil
import struct
import sys
import tarfile
import zipfile
import zlib


def cut(content, count):
    """Without the last `count` bytes."""
    return content[:-count]


def changed(content, at, to):
    """With `to` in the place of as many bytes at `at`."""
    at %= len(content)
    return content[:at] + to + content[at + len(to):]


def gzipped(content):
    return gzip.compress(content, 9, mtime=0)


def two(first, second):
    """An input for a target that reads two files (input.h)."""
    return struct.pack("<H", len(first)) + first + second


# ---- images -----------------------------------------------------------------------------------------------------
# 8 x 8 pixels, written once with Pillow: baseline in colour, progressive in gray, and CMYK.
JPEG, PROGRESSIVE, CMYK = (
    (pathlib.Path(__file__).parent / "images" / f"{name}.jpg").read_bytes() for name in ("baseline", "progressive", "cmyk"))
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(width=4, height=4, colour=0, depth=8, rows=None):
    """Gray (0), RGB (2) or RGBA (6), each row unfiltered."""
    row = width * {0: 1, 2: 3, 6: 4}[colour] * depth // 8
    if rows is None:
        rows = b"".join(b"\0" + bytes((7 * (y * row + x)) % 251 for x in range(row)) for y in range(height))
    return (SIGNATURE + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def before_samples(*chunks):
    """A gray PNG with these chunks between its header and its samples."""
    whole = png()
    return whole[:33] + b"".join(chunks) + whole[33:]


# Inflates to 8 MB, as often as a file repeats it.
LONG_TEXT = zlib.compress(bytes(8 << 20), 9)
PROFILE = zlib.compress(struct.pack(">I", 8 << 20) + bytes(8 << 20), 9)


def image():
    yield "good.jpg", JPEG
    yield "good_cmyk.jpg", CMYK
    yield "good_gray.png", png()
    yield "good_jpeg_bytes_before_end.jpg", JPEG[:-2] + bytes(7) + JPEG[-2:]
    yield "good_progressive.jpg", PROGRESSIVE
    yield "good_png_gamma.png", before_samples(chunk(b"gAMA", struct.pack(">I", 100000)))
    yield "good_png_long_texts.png", before_samples(
        *[chunk(b"zTXt", b"a\0\0" + LONG_TEXT), chunk(b"iTXt", b"a\0\1\0\0\0" + LONG_TEXT), chunk(b"iCCP", b"a\0\0" + PROFILE)] * 3)
    yield "good_rgba_16_bits.png", png(3, 2, 6, 16)
    yield "bad_empty", b""
    yield "bad_gif", b"GIF89a\1\0\1\0\0\0\0;"
    yield "bad_jpeg_begins_only.jpg", JPEG[:3]
    yield "bad_jpeg_cut.jpg", JPEG[:-20]
    yield "bad_jpeg_no_end.jpg", JPEG[:-2]
    yield "bad_jpeg_no_tables.jpg", JPEG[:2] + JPEG[JPEG.index(b"\xff\xc0"):]
    yield "bad_jpeg_no_width.jpg", changed(JPEG, JPEG.index(b"\xff\xc0") + 7, b"\0\0")
    yield "bad_jpeg_two_headers.jpg", JPEG[:20] + JPEG
    yield "bad_progressive_scan.jpg", changed(PROGRESSIVE, -30, b"\xff\xda\0\3")
    yield "bad_png_begins_only.png", SIGNATURE
    yield "bad_png_checksum.png", changed(png(), 30, b"\xee")
    yield "bad_png_cut.png", cut(png(), 20)
    yield "bad_png_depth.png", SIGNATURE + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 3, 0, 0, 0, 0)) + chunk(b"IEND", b"")
    yield "bad_png_few_pixels.png", png(rows=bytes(7))
    yield "bad_png_header_second.png", SIGNATURE + chunk(b"abCd", struct.pack(">IIB", 4, 4, 8) + bytes(4)) + png(20000, 20000, rows=b"")[8:]
    yield "bad_png_huge.png", SIGNATURE + chunk(b"IHDR", struct.pack(">IIBBBBB", 1 << 31, 1 << 31, 8, 2, 0, 0, 0))
    yield "bad_png_no_height.png", SIGNATURE + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 0, 8, 0, 0, 0, 0))


# ---- tables -----------------------------------------------------------------------------------------------------
def idx_file(dims, content, kind=8):
    return bytes([0, 0, kind, len(dims)]) + struct.pack(f">{len(dims)}I", *dims) + content


def idx():
    images = idx_file([3, 2, 2], bytes(range(12)))
    labels = idx_file([3], bytes([0, 2, 1]))
    yield "good", two(images, labels)
    yield "good_gzipped", two(gzipped(images), gzipped(labels))
    yield "good_rows", two(idx_file([2, 5], bytes(10)), idx_file([2], bytes(2)))
    yield "bad_empty", two(b"", b"")
    yield "bad_gzip_checksum", two(changed(gzipped(images), -8, b"\0\0"), labels)
    yield "bad_gzip_cut", two(cut(gzipped(images), 9), labels)
    yield "bad_header_cut", two(images[:9], labels)
    yield "bad_images_cut", two(cut(images, 1), labels)
    yield "bad_images_go_on", two(images + b"\0", labels)
    yield "bad_images_of_rank_1", two(labels, labels)
    yield "bad_labels_fewer", two(images, idx_file([2], bytes(2)))
    yield "bad_labels_of_rank_2", two(images, idx_file([3, 1], bytes(3)))
    yield "bad_labels_cut", two(images, cut(labels, 2))
    yield "bad_magic", two(b"\1\2\3\4" + images, labels)
    yield "bad_promises_too_much", two(idx_file([1 << 31, 1 << 31, 1 << 31], b""), labels)
    yield "bad_rank_0", two(bytes([0, 0, 8, 0]), labels)
    yield "bad_size_0", two(idx_file([3, 0, 2], b""), labels)
    yield "bad_type_float", two(idx_file([3, 2, 2], bytes(48), kind=13), labels)


def csv():
    good = b"a,b,label\n1,2.5,cat\n-3e2,4,dog\n"
    yield "good", good
    yield "good_carriage_returns", good.replace(b"\n", b"\r")
    yield "good_gzipped", gzipped(good)
    yield "good_quoted", b'\xef\xbb\xbf"a ""b""","c\nd",label\r\n1,2,"caf\xc3\xa9, cr\xc3\xa8me"\r\n\r\n3,4,x'
    yield "bad_cell", b"a,label\n1,x\nlong,x\n"
    yield "bad_cell_of_long_words", "a,label\n1,x\n{},x\n".format("é" * 60).encode()
    yield "bad_column_twice", b"a,a,label\n1,2,x\n"
    yield "bad_column_long", b"a," + "é".encode() * 501 + b",label\n1,2,x\n"
    yield "bad_column_without_name", b"a,,label\n1,2,x\n"
    yield "bad_empty", b""
    yield "bad_fields_fewer", good + b"1,2\n"
    yield "bad_fields_more", good + b"1,2,3,4\n"
    yield "bad_gzip_cut", cut(gzipped(good), 10)
    yield "bad_header_alone", b"a,label\n"
    yield "bad_infinite", good + b"inf,1e99,cat\n"
    yield "bad_label_empty", good + b"1,2,\n"
    yield "bad_label_long", good + b"1,2," + b"n" * 1001 + b"\n"
    yield "bad_label_latin_1", good + b"1,2,caf\xe9\n"
    yield "bad_no_features", b"label\nx\n"
    yield "bad_no_label", b"a,b\n1,2\n"
    yield "bad_nul", good + b"1,2,c\0t\n"
    yield "bad_quote_followed", good + b'1,"2"3,cat\n'
    yield "bad_quote_open", good + b'1,"2,cat\n'


def image_csv():
    good = b"file,label,group\na.jpg,x,p1\nbelow/b.jpg,y,p2\n"
    yield "good", good
    yield "good_other_order", b"group,label,more,file\np1,x,,a.jpg\n"
    yield "bad_absolute", good + b"/etc/passwd,x,p1\n"
    yield "bad_dots", good + b"below/../../labels.csv,x,p1\n"
    yield "bad_fields_fewer", good + b"a.jpg,x\n"
    yield "bad_file_empty", good + b",x,p1\n"
    yield "bad_file_latin_1", good + b"\xe9.jpg,x,p1\n"
    yield "bad_file_missing", good + b"c.jpg,x,p1\n"
    yield "bad_file_name_long", good + b"n" * 5000 + b",x,p1\n"
    yield "bad_file_no_image", good + b"labels.csv,x,p1\n"
    yield "bad_file_twice", good + b"a.jpg,x,p1\n"
    yield "bad_folder", good + b"below,x,p1\n"
    yield "bad_group_empty", good + b"a.jpg,x,\n"
    yield "bad_group_long", good + b"other.jpg,x," + b"g" * 2000 + b"\n"
    yield "bad_header_alone", good[:17]
    yield "bad_label_empty", good + b"a.jpg,,p1\n"
    yield "bad_no_group", b"file,label\na.jpg,x\n"


def cifar10():
    batch = b"".join(bytes([label]) + bytes([20 * label]) * 3072 for label in (0, 9, 3))
    names = "\n".join(f"class {i}" for i in range(10)).encode()
    yield "good", two(b"", batch)
    yield "good_gzipped_names", two(names, gzipped(batch))
    yield "bad_cifar100", two(b"", bytes(3074))
    yield "bad_cut", two(b"", gzipped(cut(batch, 100)))
    yield "bad_empty", two(b"", b"")
    yield "bad_gzip_cut", two(b"", cut(gzipped(batch), 9))
    yield "bad_label", two(b"", gzipped(changed(batch, 3073, b"\xff")))
    yield "bad_name_twice", two(b"a\nb\na\n", gzipped(batch))
    yield "bad_names_few", two(b"a\nb\nc\n", gzipped(batch))
    yield "bad_gzip_inflates", two(b"", gzipped(bytes(3073 * 22000)))
    yield "bad_names_long", two(names + b"x" * 1001, gzipped(batch))
    yield "bad_names_nul", two(b"a\0b\nc\n", gzipped(batch))
    yield "bad_names_latin_1", two(names + b"\xe9", gzipped(batch))


# ---- records ----------------------------------------------------------------------------------------------------
def crc32c(content):
    crc = 0xFFFFFFFF
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def with_sum(content):
    crc = crc32c(content)
    return content + struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def record(content):
    return with_sum(struct.pack("<Q", len(content))) + with_sum(content)


def varint(number):
    number &= (1 << 64) - 1
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def texts(*values):
    return field(1, b"".join(field(1, value) for value in values))


def floats(*values):
    return field(2, field(1, struct.pack(f"<{len(values)}f", *values)))


def ints(*values):
    return field(3, field(1, b"".join(varint(value) for value in values)))


def entry(name, values):
    return field(1, field(1, name) + field(2, values))


def example_of(**features):
    return field(1, b"".join(entry(name.encode(), values) for name, values in features.items()))


def tfrecord():
    numbers = example_of(label=ints(1), x=floats(0.5, 2))
    picture = example_of(label=texts(b"cat"), image=texts(png()))
    good = record(numbers) + record(numbers)
    yield "good", good
    yield "good_gzipped_images", gzipped(record(picture) * 2)
    yield "good_images", record(picture) + record(example_of(label=texts(b"dog"), image=texts(png())))
    yield "bad_checksum_of_data", changed(good, -1, b"\0")
    yield "bad_checksum_of_length", changed(good, len(record(numbers)) + 9, b"\0")
    yield "bad_cut_in_data", cut(good, 10)
    yield "bad_cut_in_length", cut(good, len(record(numbers)) - 5)
    yield "bad_empty", b""
    yield "bad_gzip_cut", cut(gzipped(good), 9)
    yield "bad_image", record(picture) + record(example_of(label=texts(b"cat"), image=texts(png()[:-20])))
    yield "bad_label_long", record(numbers) + record(example_of(label=texts(b"n" * 1001), x=floats(1, 2)))
    yield "bad_label_missing", record(numbers) + record(example_of(x=floats(1, 2)))
    yield "bad_length_huge", record(numbers) + with_sum(struct.pack("<Q", 1 << 63))
    yield "bad_length_promised", record(numbers) + with_sum(struct.pack("<Q", 500 << 20))
    yield "bad_not_finite", record(numbers) + record(example_of(label=ints(1), x=floats(1, float("nan"))))
    yield "bad_numbers_fewer", record(numbers) + record(example_of(label=ints(1), x=floats(1)))
    yield "bad_text", b"a,b,label\n1,2,3\n"


def example():
    yield "good_image", example_of(label=texts(b"cat"), image=texts(png()))
    yield "good_numbers", example_of(label=ints(1), x=floats(0.5, 2), y=ints(-1, 1 << 62))
    yield "good_unknown_fields", example_of(label=ints(1), x=floats(1)) + varint(9 << 3) + varint(7)
    yield "good_unpacked", field(1, entry(b"label", ints(1)) + entry(b"x", field(2, b"\x0d\0\0\x80\x3f" * 3)))
    yield "bad_cut", cut(example_of(label=ints(1), x=floats(0.5, 2)), 1)
    yield "bad_empty", b""
    yield "bad_field_0", b"\2\0"
    yield "bad_floats_of_3_bytes", example_of(label=ints(1), x=field(2, field(1, b"abc")))
    yield "bad_group", example_of(label=ints(1)) + b"\x4b\x4c"
    yield "bad_label_floats", example_of(label=floats(1), x=floats(1))
    yield "bad_label_latin_1", example_of(label=texts(b"caf\xe9"), x=floats(1))
    yield "bad_length_beyond", field(1, b"\x0a\xff\xff\xff\xff\x7f")
    yield "bad_name_latin_1", field(1, entry(b"caf\xe9", ints(1)))
    yield "bad_no_numbers", example_of(label=ints(1))
    yield "bad_two_labels", example_of(label=ints(1, 2), x=floats(1))
    yield "bad_varint_of_11_bytes", b"\xff" * 11
    yield "bad_wire_type_7", b"\x0f\0"


# ---- archives ---------------------------------------------------------------------------------------------------
def tar(members, kind=tarfile.REGTYPE, form=tarfile.USTAR_FORMAT):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=form) as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            if name == members[-1][0]:
                info.type, info.linkname = kind, "elsewhere" if kind in (tarfile.SYMTYPE, tarfile.LNKTYPE) else ""
                info.size = len(content) if kind == tarfile.REGTYPE else 0
            archive.addfile(info, io.BytesIO(content))
        end = archive.offset
    return stream.getvalue()[:end + 1024]    # two empty blocks are the end; Python fills up to 10 KiB


def renamed(archive, name):
    """With another name of the first member, and its header's checksum."""
    header = changed(archive[:512], 0, name)
    total = sum(header[:148] + b" " * 8 + header[156:])
    return changed(header, 148, b"%06o\0 " % total) + archive[512:]


def webdataset():
    members = [("0.png", png()), ("0.cls", b"cat"), ("1.jpg", JPEG), ("1.cls", b"dog\n")]
    good = tar(members)
    yield "good", good
    yield "good_gzipped_pax", gzipped(tar(members + [("below/" + "long" * 40, b"of no sample")], form=tarfile.PAX_FORMAT))
    yield "bad_cut_in_header", good[:512 + 512 + 100]
    yield "bad_cut_in_member", good[:2048 + 512 + 300]
    yield "bad_empty", b""
    yield "bad_ends_alone", bytes(1024)
    yield "bad_gzip_cut", cut(gzipped(good), 9)
    yield "bad_header_checksum", changed(good, 1024, b"X")
    yield "bad_image", tar(members[:2] + [("1.png", png()[:-20]), ("1.cls", b"dog")])
    yield "bad_key_again", tar(members + [("0.jpg", JPEG)])
    yield "bad_label_empty", tar(members[:3] + [("1.cls", b" \n")])
    yield "bad_label_latin_1", tar(members[:3] + [("1.cls", b"caf\xe9")])
    yield "bad_label_long", tar(members[:3] + [("1.cls", b"x" * 5000)])
    yield "bad_label_missing", tar(members[:3])
    yield "bad_link", tar(members + [("2.png", b"")], tarfile.SYMTYPE)
    yield "bad_name_latin_1", renamed(good, b"caf\xe9.png")
    yield "bad_size_huge", good[:124] + b"\x80" + b"\0" * 3 + b"\x7f" + b"\xff" * 7 + good[136:]
    yield "bad_text", b"a,b,label\n1,2,3\n" * 40
    yield "bad_two_images", tar(members[:1] + [("0.jpg", JPEG), ("0.cls", b"x")])


def zipped(members, method=zipfile.ZIP_DEFLATED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return stream.getvalue()


def npy(kind, shape, content, literal="{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", version=1):
    text = literal.format(kind, shape).encode() + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text + content


def npz():
    def pair(x=npy("<f4", "(2, 2)", struct.pack("<4f", 1, 2, 3, 4)), y=npy("<i8", "(2,)", struct.pack("<2q", 0, 1)), method=zipfile.ZIP_DEFLATED):
        return zipped([("x.npy", x), ("y.npy", y)], method)

    def array(literal):
        return pair(npy("", "", b"", literal))

    images = npy("|u1", "(2, 1, 2, 3)", bytes(range(12)), version=3)
    yield "good", pair()
    yield "good_images_stored", pair(images, npy("<U3", "(2, 1)", "catdog".encode("utf-32-le")), zipfile.ZIP_STORED)
    yield "good_numbers", pair(y=npy(">f2", "(2, 3)", struct.pack(">6e", 1, 2, 3, 4, 5, 6)))
    yield "good_parts", zipped([("train_images.npy", images), ("train_labels.npy", npy("|b1", "(2,)", b"\0\1"))])
    yield "bad_array_alone", zipped([("x.npy", images)])
    yield "bad_crc", changed(pair(method=zipfile.ZIP_STORED), 110, b"\xff")
    yield "bad_cut", cut(pair(), 30)
    yield "bad_depth", pair(npy("|u1", "(2, 2, 2, 2)", bytes(16)))
    yield "bad_empty", b""
    yield "bad_encrypted", changed(pair(), 6, b"\1").replace(b"PK\1\2\x14\3\x14\0\0", b"PK\1\2\x14\3\x14\0\1")
    yield "bad_fortran", array("{{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2)}}")
    yield "bad_header_huge", pair(b"\x93NUMPY\2\0" + struct.pack("<I", 1 << 30) + b"{")
    yield "bad_header_list", array("['descr', '<f4']")
    yield "bad_header_open", array("{{'descr': '<f4")
    yield "bad_header_twice", array("{{'descr': '<f4', 'descr': '<f4', 'shape': (2, 2)}}")
    yield "bad_header_nested", array("{{'shape': " + "(" * 9000)
    yield "bad_infinite", pair(npy("<f4", "(2, 2)", struct.pack("<4f", 1, 2, 3, float("inf"))))
    yield "bad_item_huge", pair(y=npy("<U1000000000", "(2,)", b""))
    yield "bad_items_few", pair(npy("<f4", "(2, 200)", bytes(16)))
    yield "bad_items_many", pair(npy("<f4", "(2, 1)", bytes(16)))
    yield "bad_label_empty", pair(y=npy("|S2", "(2,)", b"a\0\0\0"))
    yield "bad_label_nul", pair(y=npy("|S3", "(2,)", b"a\0bcat"))
    yield "bad_label_surrogate", pair(y=npy("<U1", "(2,)", struct.pack("<2I", 0xD800, 65)))
    yield "bad_label_unicode", pair(y=npy("<U1", "(2,)", struct.pack("<2I", 0x110000, 65)))
    yield "bad_labels_few", pair(y=npy("<i8", "(1,)", bytes(8)))
    yield "bad_labels_nan", pair(y=npy("<f8", "(2,)", struct.pack("<2d", 1, float("nan"))))
    yield "bad_members_many", zipped([(f"{i}.npy", b"") for i in range(1001)], zipfile.ZIP_STORED)
    yield "bad_name_latin_1", pair().replace(b"x.npy", b"\xe9.npy")
    yield "bad_name_unknown", zipped([("points.npy", images), ("notes.txt", b"text")])
    yield "bad_object", pair(npy("|O", "(2, 2)", b"\x80\4N."))
    yield "bad_record", array("{{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}}")
    yield "bad_shape_63_bits", pair(npy("<f8", "(9223372036854775807, 9223372036854775807)", b""))
    yield "bad_shape_8_gib", pair(npy("<f8", "(2, 4000000000)", b""))
    yield "bad_shape_negative", pair(npy("<f8", "(-2, 2)", b""))
    yield "bad_size_central", pair(method=zipfile.ZIP_STORED).replace(b"V\0\0\0V\0\0\0", b"V\0\0\0\0\0\0\x7f")
    yield "bad_text", b"a,b,label\n1,2,3\n" * 40
    yield "bad_type", pair(npy("<c16", "(2, 2)", bytes(64)))
    yield "bad_version", pair(b"\x93NUMPY\4\0\2\0{}")


def unpack():
    files = [("data/a.txt", b"one"), ("data/below/b.txt", b"two" * 100)]
    good = zipped(files)
    yield "good.tar", tar(files)
    yield "good.tgz", gzipped(tar(files))
    yield "good.zip", good
    yield "good_alone.txt", b"not an archive"
    yield "good_stored.zip", zipped(files, zipfile.ZIP_STORED)
    yield "bad_absolute.zip", zipped([("/etc/passwd", b"x")])
    yield "good_backslash.zip", zipped([("a\\b", b"x")])
    yield "bad_bytes.zip", zipped([("zeros", bytes(3 << 19))])
    yield "bad_deep.tgz", gzipped(tar([("d/" * 33 + "x", b"")]))
    yield "bad_folders_of_few_files.tgz", gzipped(tar([(f"{i}/" + "d/" * 30 + "x", b"") for i in range(4)]))
    yield "bad_checksum.zip", changed(good, 14, b"\0\0\0\0").replace(zlib.crc32(b"one").to_bytes(4, "little"), bytes(4))
    yield "bad_cut.tar", tar(files)[:512 + 512 + 200]
    yield "bad_cut.tgz", cut(gzipped(tar(files)), 30)
    yield "bad_cut.zip", good[:60]
    yield "bad_device.tar", tar([("a", b"x"), ("dev", b"")], tarfile.CHRTYPE)
    yield "bad_empty.zip", zipped([])
    yield "bad_file_is_folder.zip", zipped([("a", b"x"), ("a/b", b"y")])
    yield "bad_hard_link.tar", tar([("a", b"x"), ("b", b"")], tarfile.LNKTYPE)
    yield "bad_link.tar", tar([("a", b"x"), ("b", b"")], tarfile.SYMTYPE)
    yield "bad_many.zip", zipped([(str(i), b"") for i in range(101)], zipfile.ZIP_STORED)
    yield "bad_name_long.zip", zipped([("n" * 300, b"x")])
    yield "bad_name_twice.tar", tar([("a", b"x"), ("b", b"y"), ("./a", b"z")])
    yield "bad_upwards.tar", tar([("a/../../b", b"x")])
    yield "bad_upwards.zip", zipped([("../b", b"x")])


# ---- texts ------------------------------------------------------------------------------------------------------
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


# ---- tokenizers -------------------------------------------------------------------------------------------------
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


# ---- weights and checkpoints ------------------------------------------------------------------------------------
def tensors(header, data=b"", length=None):
    head = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(head) if length is None else length) + head + data


def safetensors():
    def one(dtype="F32", shape=(2, 2), offsets=(0, 16), **more):
        return {"a": {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets), **more}}
    good = tensors({"__metadata__": {"by": "hand"}, **one()}, bytes(16))
    yield "good", good
    yield "good_none", tensors({})
    yield "good_scalar_and_nothing", tensors({**one("I64", [], [0, 8]), "b": one("U8", [0, 5], [8, 8])["a"]}, bytes(8))
    yield "bad_bool", tensors(one("BOOL", [2], [0, 2]), b"\0\2")
    yield "bad_bytes_fewer", cut(good, 1)
    yield "bad_bytes_more", good + b"\0"
    yield "bad_count", tensors(one(shape=[3]), bytes(16))
    yield "bad_count_overflows", tensors(one(shape=[1 << 62, 4, 1 << 62]), bytes(16))
    yield "bad_deep", tensors(b"[" * 3000)
    yield "bad_empty", b""
    yield "bad_field", tensors(one(more=1), bytes(16))
    yield "bad_fraction", tensors(one(shape=[2.5]), bytes(16))
    yield "bad_json", tensors(b'{"a": ', bytes(16))
    yield "bad_key_twice", tensors(json.dumps(one()).encode()[:-1] + b", " + json.dumps(one()).encode()[1:], bytes(16))
    yield "bad_length_beyond", tensors({}, length=1000)
    yield "bad_length_huge", tensors({}, length=1 << 63)
    yield "bad_length_short", b"\2\0\0"
    yield "bad_list", tensors([])
    yield "bad_missing", tensors({"a": {"dtype": "F32", "shape": [4]}}, bytes(16))
    yield "bad_name_latin_1", tensors(json.dumps(one()).encode().replace(b'"a"', b'"\xe9"'), bytes(16))
    yield "bad_nul_and_more", tensors(json.dumps(one()).encode() + b'\0, "b": what a reader of bytes would see}', bytes(16))
    yield "bad_nul_padding", tensors(json.dumps(one()).encode() + b"\0\0", bytes(16))
    yield "bad_negative", tensors(one(shape=[-2, -2]), bytes(16))
    yield "bad_offsets_backwards", tensors(one(offsets=[16, 0]), bytes(16))
    yield "bad_overlap", tensors({**one(), "b": one()["a"]}, bytes(16))
    yield "bad_type", tensors(one("F8"), bytes(16))


def checkpoint():
    def listed(name, content):
        return {"name": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    nothing = b"\2\0\0\0\0\0\0\0{}"
    files = [listed("model.safetensors", nothing), listed("optimizer.safetensors", nothing)]
    state = {"step": 1, "epoch": 0, "samples": 8, "seed": 7, "sampler": {"epoch": 0, "batch": 1},
             "schedule": {"name": "constant", "learning_rate": 0.1}, "details": {}}

    def content(**changes):
        return json.dumps({"format_version": 1, "files": files, "state": state, **changes}).encode()

    def stated(**changes):
        return content(state={**state, **changes})
    yield "good", content()
    yield "good_more", content(files=files + [listed("tokenizer_spec.json", b"{}")])
    yield "bad_bytes", content(files=[{**files[0], "bytes": 11}, files[1]])
    yield "bad_checksum", content(files=[{**files[0], "sha256": "0" * 64}, files[1]])
    yield "bad_cut", cut(content(), 1)
    yield "bad_deep", b"[" * 2000 + b"]" * 2000
    yield "bad_details_list", stated(details=[1])
    yield "bad_details_number", stated(details=1)
    yield "bad_empty", b""
    yield "bad_file_itself", content(files=files + [listed("state.json", b"{}")])
    yield "bad_file_missing", content(files=files + [listed("vocab.txt", b"")])
    yield "bad_file_twice", content(files=files + files)
    yield "bad_file_upwards", content(files=files + [listed("../step_1/model.safetensors", nothing)])
    yield "bad_files_none", content(files=[])
    yield "bad_list", b"[]"
    yield "bad_missing", b"{}"
    yield "bad_sampler", stated(sampler=3)
    yield "bad_step_negative", stated(step=-1)
    yield "bad_step_text", stated(step="1")
    yield "bad_version", content(format_version=2)


def manifest():
    good = {"version": 1, "request": {"method": "kfold", "folds": 2, "seed": 0},
            "dataset": {"content_hash": "sha256:" + "0" * 64, "sample_list_hash": "sha256:" + "1" * 64, "samples": 3},
            "folds": 2, "training": "others", "validation": [[0, 1, 0]]}

    def said(**changes):
        return json.dumps({**good, **changes}).encode()
    yield "good", said()
    yield "good_nowhere", said(validation=[[0, 1, -1]])
    yield "bad_count", said(dataset={**good["dataset"], "samples": 4})
    yield "bad_cut", cut(said(), 1)
    yield "bad_empty", b""
    yield "bad_fold_beyond", said(validation=[[0, 1, 2]])
    yield "bad_fold_huge", said(validation=[[0, 1, 1 << 32]])
    yield "bad_fold_negative", said(validation=[[0, 1, -2]])
    yield "bad_folds_negative", said(folds=-2)
    yield "bad_folds_none", said(folds=0)
    yield "bad_hash_number", said(dataset={**good["dataset"], "content_hash": 1})
    yield "bad_list", b"[]"
    yield "bad_request", said(request={"method": "chance"})
    yield "bad_samples_negative", said(dataset={**good["dataset"], "samples": -3})
    yield "bad_training", said(training="all")
    yield "bad_uneven", said(validation=[[0, 0, 0], [1, 1, 1], [1, 1, 1]])
    yield "bad_validation", said(validation=[])
    yield "bad_version", said(version=2)


def pack():
    def images(entries, pixels, problems=b"[]", **head):
        head = {"magic": b"slippack", "version": 1, "count": len(entries), "text": len(problems)} | head
        return (head["magic"] + struct.pack("<QQQ", head["version"], head["count"], head["text"]) + bytes(64) +
                b"".join(struct.pack("<QQQQII", *one) for one in entries) + pixels + problems)
    pixels = bytes(range(12))
    one = (96 + 40, 3, 2, 2, crc32c(pixels), 0)
    complaint = json.dumps([{"sample": 0, "file": "a.png", "row": 0, "field": "", "message": "cut"}]).encode()
    yield "good", images([one], pixels)
    yield "good_none", images([], b"")
    yield "good_problem", images([(136, 0, 0, 0, 0, 1)], b"", complaint)
    yield "bad_cut", cut(images([one], pixels), 5)
    yield "bad_empty", b""
    yield "bad_magic", images([one], pixels, magic=b"slippick")
    yield "bad_many", images([one], pixels, count=1 << 61)
    yield "bad_offset", images([(1 << 63, *one[1:])], pixels)
    yield "bad_overflow", images([(136, 1 << 32, 1 << 32, 1 << 32, 0, 0)], pixels)
    yield "bad_problems", images([one], pixels, b"[{}]")
    yield "bad_problems_beyond", images([one], pixels, text=1 << 62)
    yield "bad_side", images([(136, 3, 2, 3, *one[4:])], pixels)
    yield "bad_state", images([(*one[:5], 9)], pixels)
    yield "bad_sum", images([(*one[:4], 7, 0)], pixels)
    yield "bad_version", images([one], pixels, version=2)


def job_spec():
    good = {"name": "n", "model": {"arch": "lenet"}, "task": {"type": "classification"},
            "data": {"dataset": "glyphs", "split": {"val_fraction": 0.2, "group_by": "family"}},
            "train": {"epochs": 2, "optimizer": {"name": "adam", "lr": 0.001}}, "accelerator": {"cores": 8}}

    def job(**changes):
        return json.dumps({**good, **changes}).encode()
    yield "good", job()
    block = {"type": "residual", "name": "b", "layers": [{"type": "linear", "out_features": 8}, {"type": "gelu"}],
             "shortcut": [{"type": "linear", "out_features": 8, "bias": False}]}
    layers = [{"type": "flatten", "name": "flat"}, block, {"type": "concat", "inputs": ["b", "flat"]}, {"type": "linear"}]
    yield "good_declared", job(model={"arch": "layers", "layers": layers, "tie": [["b.layers.0.weight", "3.weight"]]})
    yield "good_layers", job(model={"arch": "mlp", "hidden": [8, 4]})
    yield "bad_declared_input", job(model={"arch": "layers", "layers": [{"type": "add", "inputs": ["a", "0"]}, *layers]})
    yield "bad_declared_type", job(model={"arch": "layers", "layers": [{"type": "conv", "layers": layers}]})
    yield "bad_cores", job(accelerator={"cores": [9]})
    yield "bad_cut", cut(job(), 1)
    yield "bad_deep", b'{"a":' * 40 + b"1" + b"}" * 40
    yield "bad_empty", b""
    yield "bad_fraction", job(train={"epochs": 2.5, "optimizer": {"name": "adam", "lr": -1}})
    yield "bad_huge", job(train={"epochs": 10**30, "optimizer": {"name": "adam", "lr": 1}})
    yield "bad_infinite", job().replace(b"0.001", b"1e999")
    yield "bad_key_twice", job()[:-1] + b', "name": "m"}'
    yield "bad_latin_1", job().replace(b'"n"', b'"\xe9"')
    yield "bad_list", b"[]"
    yield "bad_missing", b"{}"
    yield "bad_more", job() + b"{}"
    yield "bad_null", job(model=None)
    yield "bad_surrogate", job().replace(b'"n"', b'"\\ud800"')
    yield "bad_type", job(name=7, train="fast")
    yield "bad_unknown", job(trian={})


def dataset():
    good = {"name": "d", "format": "csv", "source": {"path": "d"}, "options": {"label_column": "kind", "feature_columns": ["a"]}}

    def body(**changes):
        return json.dumps({**good, **changes}).encode()
    yield "good", body()
    yield "good_upload", body(source={"upload": "upl_" + "0" * 26})
    yield "bad_both_sources", body(source={"path": "d", "upload": "upl_" + "0" * 26})
    yield "bad_column_twice", body(options={"feature_columns": ["a", "a"]})
    yield "bad_cut", cut(body(), 1)
    yield "bad_empty", b""
    yield "bad_format", body(format="parquet")
    yield "bad_name", body(name="../d")
    yield "bad_option_of_another", body(options={"image_column": "i"})
    yield "bad_option_type", body(options={"label_column": 7})
    yield "good_path_upwards", body(source={"path": "../../etc"})
    yield "bad_source", body(source=None)
    yield "bad_std", body(options={"mean": [0.5], "std": [0]})


# ---- requests -------------------------------------------------------------------------------------------------------
def http_head():
    def head(line=b"GET /v1/jobs?state=running HTTP/1.1", headers=b"Host: localhost:8470\r\n"):
        return line + b"\r\n" + headers + b"\r\n"
    length = b"Host: a\r\nContent-Length: 5\r\n"
    chunks = b"Host: a\r\nTransfer-Encoding: chunked\r\n"
    yield "good", head()
    yield "good_absolute", head(b"GET http://b:80/a%20b?c=d+e HTTP/1.1")
    yield "good_asterisk", head(b"OPTIONS * HTTP/1.1")
    yield "good_chunked", head(b"POST /v1/jobs HTTP/1.1", chunks)
    yield "good_http_1_0", head(b"GET / HTTP/1.0", b"")
    yield "good_http_1_2", head(b"POST / HTTP/1.2", chunks)
    yield "good_length", head(b"PATCH /v1/uploads/u HTTP/1.1", length + b"Expect: 100-continue\r\nConnection: close\r\n")
    yield "good_many_headers", head(headers=b"Host: a\r\n" + b"X: y\r\n" * 63)
    yield "good_next_request", head() + head()
    yield "good_utf8", head(b"GET /%c3%bc HTTP/1.1", b"Host: [::1]:\r\nX: \xc3\xbc\r\n")
    yield "bad_control_byte", head(headers=b"Host: a\r\nX: \0\r\n")
    yield "bad_cut", cut(head(), 1)
    yield "bad_dots", head(b"GET /a/%2e%2E/b HTTP/1.1")
    yield "bad_empty", b""
    yield "bad_escape", head(b"GET /%zz HTTP/1.1")
    yield "bad_folded", head(headers=b"Host: a\r\nX: y\r\n z\r\n")
    yield "bad_header", head(headers=b"Host : a\r\n")
    yield "bad_host", head(headers=b"Host: a/b\r\n")
    yield "bad_lines", head().replace(b"\r\n", b"\n")
    yield "bad_long_header", head(headers=b"Host: a\r\nX: " + b"y" * 17000 + b"\r\n")
    yield "bad_long_target", head(b"GET /" + b"a" * 8200 + b" HTTP/1.1")
    yield "bad_method", head(b"BREW / HTTP/1.1")
    yield "bad_too_many_headers", head(headers=b"Host: a\r\n" + b"X: y\r\n" * 64)
    yield "bad_two_hosts", head(headers=b"Host: a\r\nHost: b\r\n")
    yield "bad_two_lengths", head(b"POST / HTTP/1.1", chunks + b"Content-Length: 5\r\n")
    yield "bad_version", head(b"GET / HTTP/2.0")


def chunked():
    yield "good", b"5\r\nhello\r\n0\r\n\r\n"
    yield "good_extension", b"5;a=b\r\nhello\r\n0;c\r\n\r\n"
    yield "good_next_request", b"A\r\n0123456789\r\n0\r\n\r\nGET / HTTP/1.1\r\n"
    yield "good_trailer", b"1\r\nx\r\n0\r\nX-Trailer: a\r\n\r\n"
    yield "bad_cut", b"5\r\nhello\r\n0\r\n\r"
    yield "bad_data", b"5\r\nhello!\r\n0\r\n\r\n"
    yield "bad_empty", b""
    yield "bad_large", b"10001\r\n"
    yield "bad_lines", b"5\nhello\n0\n\n"
    yield "bad_long_extension", b"1;" + b"e" * 1024 + b"\r\nx\r\n0\r\n\r\n"
    yield "bad_size", b"0x5\r\nhello\r\n0\r\n\r\n"
    yield "bad_trailer", b"0\r\nnothing\r\n\r\n"
    yield "bad_wrapping_size", b"ffffffffffffffff\r\nhello\r\n"


def cookie():
    secret = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFG"
    yield "good", two(b"slipway=" + secret, b"")
    yield "good_behind_others", two(b"a=b; slipway=x;slipway=" + secret + b"; c", b"__Host-slipway=" + secret)
    yield "good_secure", two(b"", b"\t__Host-slipway=" + secret + b" ;")
    yield "bad_empty", b""
    yield "bad_name", two(b"Slipway=" + secret, b"__host-slipway=" + secret)
    yield "bad_quoted", two(b'slipway="' + secret + b'"', b"")
    yield "bad_secret", two(b"slipway=" + changed(secret, 7, b"-"), b"slipway=" + secret + b"x")
    yield "bad_separators", two(b";;;=;==; slipway", b"slipway==" + secret)


def cursor():
    def written(place=b"job_1\n2026-11-20T20:37:00Z", scope=b"jobs"):
        return (hashlib.sha256(scope).hexdigest()[:12].encode() + place).hex().encode()
    yield "good", written()
    yield "good_by_id", written(b"job_1\n")
    yield "good_none", b""
    yield "bad_capitals", written().upper()
    yield "bad_cut", cut(written(), 1)
    yield "bad_no_hex", b"job_1"
    yield "bad_no_key", written(b"job_1")
    yield "bad_nul", written(b"job\0\n")
    yield "bad_scope", written(scope=b"datasets")
    yield "bad_utf8", written(b"job\xff\n\xc0\xaf")


def agent_message():
    hello = {"type": "hello", "fence": "7-1", "after": 12}
    yield "good_heartbeat", b'{"type":"heartbeat"}'
    yield "good_hello", json.dumps(hello).encode()
    yield "good_stop", b'{"type":"stop","reason":"cancel"}'
    yield "bad_after_huge", json.dumps({**hello, "after": 2**64 - 1}).encode()
    yield "bad_after_negative", json.dumps({**hello, "after": -(2**63)}).encode()
    yield "bad_after_real", json.dumps({**hello, "after": 1e300}).encode()
    yield "bad_deep", b"[" * 2000
    yield "bad_fence_number", json.dumps({**hello, "fence": 7}).encode()
    yield "bad_list", json.dumps([hello]).encode()
    yield "bad_reason_list", b'{"type":"stop","reason":["cancel"]}'
    yield "bad_twice", b'{"type":"heartbeat","type":"stop","reason":"kill"}'
    yield "bad_utf8", b'{"type":"stop","reason":"\xff"}'


def frame():
    def line(**changes):
        return json.dumps({"n": 7, "type": "metric", "time": "2026-11-20T20:37:00Z", **changes}).encode()
    files = [{"name": "model.safetensors", "bytes": 300, "sha256": "0" * 64}]
    checkpoint = {"type": "checkpoint", "name": "step-10", "step": 10, "epoch": 1, "kinds": ["last"], "files": files}
    yield "good_checkpoint", line(**checkpoint, metric={"name": "val_loss", "value": 0.5})
    yield "good_done", line(type="done", outcome="succeeded", result={"steps": 10})
    yield "good_metric", line(step=10, epoch=1, values={"train_loss": 0.25})
    yield "good_progress", line(type="progress", step=10, steps_total=20)
    yield "good_state", line(type="state", state="running")
    yield "bad_bytes", line(**{**checkpoint, "files": [{"name": "a", "bytes": 2**63 - 1, "sha256": "ab"}, {"name": "b", "bytes": 2**63 - 1, "sha256": "ab"}]})
    yield "bad_bytes_sum", line(**{**checkpoint, "files": [{"name": "a", "bytes": 2**53, "sha256": "ab"}, {"name": "b", "bytes": 2**53, "sha256": "ab"}]})
    yield "bad_depth", b'{"n":7,"type":"log","x":' + b"[" * 5000 + b"]" * 5000 + b"}"
    yield "bad_empty", b""
    yield "bad_file_name", line(**{**checkpoint, "files": [{"name": "../a", "bytes": 1, "sha256": "ab"}]})
    yield "bad_kinds", line(**{**checkpoint, "kinds": 3})
    yield "bad_name", line(**{**checkpoint, "name": "../../etc"})
    yield "bad_negative", line(step=-1, values={"train_loss": 0.25})
    yield "bad_number", line(n=2**64 - 1, step=1, values={})
    yield "bad_number_text", line(n="7", step=1, values={})
    yield "bad_outcome", line(type="done", outcome="won", code=7)
    yield "bad_repeated_key", b'{"n":7,"n":8,"type":"log"}'
    yield "bad_step", line(step=1e300, values={"train_loss": 0.25})
    yield "bad_step_text", line(step="1", values={"train_loss": 0.25})
    yield "bad_type", line(type="hello\x1b[2J")
    yield "bad_utf8", b'{"n":7,"type":"log","message":"\xff"}'


TARGETS = {function.__name__: function for function in (
    agent_message, bpe, bpe_merges, checkpoint, chunked, cifar10, cookie, csv, cursor, dataset, example, frame, http_head, idx, image,
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
