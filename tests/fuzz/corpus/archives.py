"""Tar and zip archives: webdataset, npz, and what an upload unpacks."""
import io
import struct
import tarfile
import zipfile
import zlib

from corpus.edits import changed, cut, gzipped
from corpus.images import JPEG, png


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
