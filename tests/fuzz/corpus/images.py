"""PNG and JPEG files."""
import pathlib
import struct
import zlib

from corpus.edits import changed, cut

# 8 x 8 pixels, written once with Pillow: baseline in colour, progressive in gray, and CMYK.
JPEG, PROGRESSIVE, CMYK = (
    (pathlib.Path(__file__).parent.parent / "images" / f"{name}.jpg").read_bytes() for name in ("baseline", "progressive", "cmyk"))
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
