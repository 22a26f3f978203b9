#include "server/http/chunked.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/http/head.h"

namespace slipway {

namespace {

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool is_control(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
}

}    // namespace

ChunkDecoder::Step ChunkDecoder::next(std::string_view input) {
    std::size_t at = 0;
    while (expect_ != Expect::nothing) {
        if (at == input.size()) return {State::more, at, {}};
        if (expect_ == Expect::data) {
            const auto length =
                static_cast<std::size_t>(std::min<std::uint64_t>(chunk_left_, input.size() - at));
            chunk_left_ -= length;
            body_bytes_ += length;
            if (chunk_left_ == 0) expect_ = Expect::data_return;
            return {State::more, at + length, input.substr(at, length)};
        }
        if (!take(input[at])) return {State::refused, at, {}};
        ++at;
    }
    return {State::done, at, {}};
}

bool ChunkDecoder::take(char c) {
    const auto must_be = [&](char wanted, Expect then) {
        if (c != wanted) return refuse(400, "bad_chunk", "a chunk's line must end with CR LF");
        expect_ = then;
        return true;
    };
    switch (expect_) {
        case Expect::size_first:
        case Expect::size:
            return take_size_digit(c);
        case Expect::extension:
            if (c == '\r') return must_be('\r', Expect::size_line_feed);
            if (is_control(c)) return refuse(400, "bad_chunk", "a chunk has a control byte");
            return count_extra();
        case Expect::size_line_feed:
            return must_be('\n', Expect::data) && take_line_end_of_size();
        case Expect::data_return:
            return must_be('\r', Expect::data_line_feed);
        case Expect::data_line_feed:
            return must_be('\n', Expect::size_first);
        case Expect::trailer:
            if (c == '\r') return must_be('\r', Expect::trailer_line_feed);
            if (is_control(c)) return refuse(400, "bad_trailer", "a trailer has a control byte");
            trailer_line_ += c;
            return count_extra();
        case Expect::trailer_line_feed:
            return must_be('\n', Expect::trailer) && take_trailer_line();
        case Expect::data:
        case Expect::nothing:
            break;
    }
    return false;
}

bool ChunkDecoder::take_size_digit(char c) {
    if (expect_ == Expect::size_first) {
        chunk_left_ = 0;
        size_digits_ = 0;
    }
    if (const int digit = hex_digit(c); digit >= 0) {
        if (++size_digits_ > 16) return refuse(400, "bad_chunk", "a chunk's size is too long");
        chunk_left_ = chunk_left_ * 16 + static_cast<std::uint64_t>(digit);
        expect_ = Expect::size;
        return true;
    }
    if (expect_ == Expect::size_first)
        return refuse(400, "bad_chunk", "a chunk must start with its size in hex digits");
    if (c == ';') {
        expect_ = Expect::extension;
        return count_extra();
    }
    if (c != '\r') return refuse(400, "bad_chunk", "a chunk's size must be followed by ; or CR LF");
    expect_ = Expect::size_line_feed;
    return true;
}

bool ChunkDecoder::take_line_end_of_size() {
    if (chunk_left_ == 0) {
        expect_ = Expect::trailer;
        return true;
    }
    if (chunk_left_ > body_bytes_max_ - body_bytes_)
        return refuse(413, "body_too_large",
                      fmt::format("the body is larger than {} bytes", body_bytes_max_));
    return true;
}

bool ChunkDecoder::take_trailer_line() {
    if (trailer_line_.empty()) {
        expect_ = Expect::nothing;
        return true;
    }
    if (!parse_field_line(trailer_line_))
        return refuse(400, "bad_trailer", "a trailer must be: name, colon, value");
    trailer_line_.clear();
    return true;
}

bool ChunkDecoder::count_extra() {
    if (++extra_bytes_ > extra_bytes_max_)
        return refuse(400, "chunk_extra_too_large",
                      fmt::format("chunk extensions and trailers are larger than {} bytes",
                                  extra_bytes_max_));
    return true;
}

bool ChunkDecoder::refuse(int status, std::string_view code, std::string detail) {
    refusal_ = {status, code, std::move(detail)};
    return false;
}

}    // namespace slipway
