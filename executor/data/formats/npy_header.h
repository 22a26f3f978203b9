#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/base/result.h"
#include "executor/tensor/shape.h"

namespace slipway {

/// What the items of a .npy array are.
struct NpyType {
    enum class Kind { boolean, integer, unsigned_integer, floating, bytes, unicode };

    Kind kind = Kind::floating;
    std::size_t bytes = 0;    ///< of one item, at least 1
    bool big_endian = false;

    bool is_text() const { return kind == Kind::bytes || kind == Kind::unicode; }
    bool is_float() const { return kind == Kind::floating; }
    bool is_byte() const { return kind == Kind::unsigned_integer && bytes == 1; }
    bool operator==(const NpyType&) const = default;
};

/// What the header of a .npy file says: a literal of Python,
/// {'descr': '<f4', 'fortran_order': False, 'shape': (60000, 28, 28), }.
struct NpyHeader {
    NpyType type;
    Dims shape;
    std::int64_t items = 1;    ///< product of the shape; `items` times the item's bytes fit 63 bits
};

/// Reads the literal alone; see numpy.lib.format for the grammar.
/// errors  data_loss in words about the array: no such literal, an array of Python objects or of
///         another type that is not read, Fortran order, a size of 0 or a size beyond 63 bits
Result<NpyHeader> parse_npy_header(std::string_view literal);

/// The number that an item is; `type` is no text. Integers beyond 2^53 are rounded.
double npy_number(const NpyType& type, const std::byte* item);
/// An integer (or boolean) in decimal digits; a text in UTF-8 without the NUL characters at its
/// end.
/// errors  data_loss for a text that is not UTF-8 or has a NUL character inside
Result<std::string> npy_label(const NpyType& type, const std::byte* item);

}    // namespace slipway
