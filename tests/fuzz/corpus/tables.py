"""Datasets of numbers and tables: idx, csv, image_csv, cifar10."""
import struct

from corpus.edits import changed, cut, gzipped, two


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
