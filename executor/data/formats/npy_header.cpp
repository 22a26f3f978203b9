#include "executor/data/formats/npy_header.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "executor/data/formats/csv_reader.h"
#include "executor/data/utf8.h"

// The header of an array is a Python dictionary literal of three known keys. It is read by a small
// parser of just that: no general Python, no nesting. The number of items is a product that is
// checked for overflow dimension by dimension.
// Source: NumPy Enhancement Proposal 1
namespace slipway {

namespace {

using Kind = NpyType::Kind;

constexpr std::size_t item_bytes_max = 1 << 16;    // of a text; those of numbers are in the table

struct NumberType {
    char letter;
    Kind kind;
    std::size_t bytes;
};

constexpr auto number_types = std::to_array<NumberType>({{'b', Kind::boolean, 1},
                                                         {'i', Kind::integer, 1},
                                                         {'i', Kind::integer, 2},
                                                         {'i', Kind::integer, 4},
                                                         {'i', Kind::integer, 8},
                                                         {'u', Kind::unsigned_integer, 1},
                                                         {'u', Kind::unsigned_integer, 2},
                                                         {'u', Kind::unsigned_integer, 4},
                                                         {'u', Kind::unsigned_integer, 8},
                                                         {'f', Kind::floating, 2},
                                                         {'f', Kind::floating, 4},
                                                         {'f', Kind::floating, 8}});

Error wrong(const std::string& message) {
    return Error{ErrorCode::data_loss, message};
}

/// Reads the literal from its front to its back.
class Literal {
public:
    explicit Literal(std::string_view text) : rest_(text) {}

    /// Whether the next character, blanks aside, is this one; it is passed over.
    bool take(char wanted) {
        pass_blanks();
        if (rest_.empty() || rest_.front() != wanted) return false;
        rest_.remove_prefix(1);
        return true;
    }
    bool take_word(std::string_view word) {
        pass_blanks();
        if (!rest_.starts_with(word)) return false;
        rest_.remove_prefix(word.size());
        return true;
    }
    bool begins_with(char character) {
        pass_blanks();
        return rest_.starts_with(character);
    }
    std::optional<std::string_view> text() {
        for (const char quote : {'\'', '"'}) {
            if (!take(quote)) continue;
            const std::size_t end = rest_.find(quote);
            if (end == std::string_view::npos) return std::nullopt;
            const std::string_view found = rest_.substr(0, end);
            rest_.remove_prefix(end + 1);
            return found;
        }
        return std::nullopt;
    }
    std::optional<std::int64_t> number() {
        pass_blanks();
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        if (error != std::errc()) return std::nullopt;
        rest_.remove_prefix(std::size_t(end - rest_.data()));
        take('L');    // as Python 2 writes a long number
        return value;
    }
    bool at_end() {
        pass_blanks();
        return rest_.empty();
    }

private:
    void pass_blanks() {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
    }
    std::string_view rest_;
};

std::optional<std::size_t> whole_number(std::string_view digits) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return value;
}

/// "<f4": the order of bytes, the kind, the bytes of an item (of a 'U' the characters).
Result<NpyType> parse_type(std::string_view text) {
    const Error unread =
        wrong(fmt::format("its items are of type {}, which is not read; save it as integers of 1 "
                          "to 8 bytes, float16, float32 or float64, or text (U or S)",
                          shown(std::string(text))));
    if (text == "|O" || text == "O") {
        return wrong(
            "it holds Python objects (dtype object), which are stored as pickle and never read; "
            "save it as numbers or as text of a fixed width, x.astype(float) or y.astype(str)");
    }
    if (text.size() < 3) return unread;
    const char order = text[0], letter = text[1];
    const std::optional<std::size_t> count = whole_number(text.substr(2));
    if (std::string_view("<>|").find(order) == std::string_view::npos || !count) return unread;
    NpyType type{.bytes = *count, .big_endian = order == '>'};
    if (letter == 'S' || letter == 'U') {
        type.kind = letter == 'S' ? Kind::bytes : Kind::unicode;
        if (*count < 1 || *count > item_bytes_max / 4) return unread;
        if (letter == 'U') type.bytes *= 4;
        return type;
    }
    for (const NumberType& known : number_types) {
        if (known.letter != letter || known.bytes != *count) continue;
        type.kind = known.kind;
        return type;
    }
    return unread;
}

std::optional<Dims> parse_shape(Literal& literal) {
    if (!literal.take('(')) return std::nullopt;
    Dims shape;
    constexpr std::size_t dims_max = 64;    // NumPy has at most 32
    while (!literal.take(')')) {
        const std::optional<std::int64_t> dim = literal.number();
        if (!dim || shape.size() == dims_max) return std::nullopt;
        shape.push_back(*dim);
        if (!literal.take(',') && !literal.begins_with(')')) return std::nullopt;
    }
    return shape;
}

Result<std::int64_t> count_items(const NpyHeader& header) {
    constexpr std::int64_t bytes_max = std::numeric_limits<std::int64_t>::max();
    std::int64_t items = 1;
    for (const std::int64_t dim : header.shape) {
        if (dim < 1) return wrong(fmt::format("it has a dimension of size {}", dim));
        if (dim > bytes_max / std::int64_t(header.type.bytes) / items)
            return wrong("its header declares more bytes than 63 bits can count");
        items *= dim;
    }
    return items;
}

template <class T>
T load(const std::byte* item, bool big_endian) {
    std::array<std::byte, sizeof(T)> bytes{};
    std::memcpy(bytes.data(), item, sizeof(T));
    if (big_endian != (std::endian::native == std::endian::big)) std::ranges::reverse(bytes);
    return std::bit_cast<T>(bytes);
}

double half(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value =
        std::ldexp(exponent == 0 ? fraction : fraction + 1024, std::max(exponent, 1) - 25);
    if (exponent == 31) {
        value = fraction == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
    }
    return (bits & 0x8000) != 0 ? -value : value;
}

void append_utf8(std::string& text, std::uint32_t character) {
    const auto tail = [&](int shift) { text += char(0x80 | (character >> shift & 0x3F)); };
    if (character < 0x80) {
        text += char(character);
    } else if (character < 0x800) {
        text += char(0xC0 | character >> 6);
        tail(0);
    } else if (character < 0x10000) {
        text += char(0xE0 | character >> 12);
        tail(6);
        tail(0);
    } else {
        text += char(0xF0 | character >> 18);
        tail(12);
        tail(6);
        tail(0);
    }
}

Result<std::string> text_of(const NpyType& type, const std::byte* item) {
    std::string text;
    if (type.kind == Kind::bytes) {
        text.assign(reinterpret_cast<const char*>(item), type.bytes);
    } else {
        for (std::size_t at = 0; at < type.bytes; at += 4) {
            const auto character = load<std::uint32_t>(item + at, type.big_endian);
            if (character > 0x10FFFF) return wrong("it is a text with a character above U+10FFFF");
            append_utf8(text, character);
        }
    }
    text.resize(text.find_last_not_of('\0') + 1);
    if (text.find('\0') != std::string::npos) return wrong("it is a text with a NUL character");
    if (!is_utf8(text)) return wrong(fmt::format("{} is not text in UTF-8", shown(text)));
    return text;
}

}    // namespace

Result<NpyHeader> parse_npy_header(std::string_view literal) {
    const Error broken = wrong(
        "its header is not {'descr': ..., 'fortran_order': ..., 'shape': ...} as NumPy writes it");
    Literal rest(literal);
    std::optional<std::string_view> type;
    std::optional<bool> fortran;
    std::optional<Dims> shape;
    if (!rest.take('{')) return broken;
    while (!rest.take('}')) {
        const auto key = rest.text();
        if (!key || !rest.take(':')) return broken;
        if (*key == "descr" && !type) {
            if (rest.begins_with('[')) {
                return wrong("its items are records of several fields; save each as an array");
            }
            if (!(type = rest.text())) return broken;
        } else if (*key == "fortran_order" && !fortran) {
            if (rest.take_word("False"))
                fortran = false;
            else if (rest.take_word("True"))
                fortran = true;
            else
                return broken;
        } else if (*key == "shape" && !shape) {
            if (!(shape = parse_shape(rest))) return broken;
        } else {
            return broken;
        }
        if (!rest.take(',') && !rest.begins_with('}')) return broken;
    }
    if (!rest.at_end() || !type || !fortran || !shape) return broken;
    const Result<NpyType> known = parse_type(*type);
    if (!known) return known.error();
    if (*fortran && shape->size() > 1) {
        return wrong(
            "it is stored in Fortran order, which is not read; save numpy.ascontiguousarray of it");
    }
    NpyHeader header{*known, std::move(*shape), 1};
    const Result<std::int64_t> items = count_items(header);
    if (!items) return items.error();
    header.items = *items;
    return header;
}

double npy_number(const NpyType& type, const std::byte* item) {
    const bool big = type.big_endian;
    switch (type.kind) {
        case Kind::boolean:
            return *item != std::byte{0} ? 1 : 0;
        case Kind::integer:
            if (type.bytes == 1) return load<std::int8_t>(item, big);
            if (type.bytes == 2) return load<std::int16_t>(item, big);
            if (type.bytes == 4) return load<std::int32_t>(item, big);
            return double(load<std::int64_t>(item, big));
        case Kind::unsigned_integer:
            if (type.bytes == 1) return load<std::uint8_t>(item, big);
            if (type.bytes == 2) return load<std::uint16_t>(item, big);
            if (type.bytes == 4) return load<std::uint32_t>(item, big);
            return double(load<std::uint64_t>(item, big));
        default:
            if (type.bytes == 2) return half(load<std::uint16_t>(item, big));
            if (type.bytes == 4) return double(load<float>(item, big));
            return load<double>(item, big);
    }
}

Result<std::string> npy_label(const NpyType& type, const std::byte* item) {
    if (type.is_text()) return text_of(type, item);
    if (type.bytes < 8) return std::to_string(std::int64_t(npy_number(type, item)));
    return type.kind == Kind::integer ? std::to_string(load<std::int64_t>(item, type.big_endian))
                                      : std::to_string(load<std::uint64_t>(item, type.big_endian));
}

}    // namespace slipway
