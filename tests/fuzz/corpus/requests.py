"""Heads and bodies of HTTP, cookies and cursors."""
import hashlib

from corpus.edits import changed, cut, two


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
