"""TFRecord files and the examples in them."""
import struct

from corpus.edits import changed, crc32c, cut, gzipped
from corpus.images import png


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
