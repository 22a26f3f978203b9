#include "executor/codegen/kernels/small_product.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "executor/codegen/kernels/vectors.h"

// Eight rows by two vectors of columns are summed in registers, over all terms; without AVX-512 six
// rows, of vectors half as wide: the compiler keeps wider vectors than the processor's in memory,
// which takes nine times as long. The right operand is read in place where its columns lie in whole
// vectors, else copied into a panel, turned around in squares where its terms lie one after the
// other. No blocking for caches: what is small fits.
// The library's routine is faster for large products, but makes machine code for every kind of
// product when the first one is asked for: 30 ms and 4 MB in each process, more than a network
// like LeNet ever needs (docs/decisions/0057). The order of sums is the routine's own for such
// sizes, so results kept their bits.
namespace slipway {

namespace {

constexpr std::int64_t lanes = register_bytes / sizeof(float);
constexpr int tile_rows = lanes == 16 ? 8 : 6;
constexpr std::int64_t panel_columns = 2 * lanes;
constexpr std::int64_t terms_at_once_max = 384;
// Some 60 microseconds: beyond, what the routine does better is worth its code.
constexpr std::int64_t steps_max = 1 << 22;
// Fewer are less than a tile, most of which would be nothing.
constexpr std::int64_t results_min = 64;

using Floats = Vector<float, lanes>;
using Square = std::array<Floats, lanes>;

template <int bit, std::size_t... lane>
Floats upper(const Floats& a, const Floats& b, std::index_sequence<lane...>) {
    return __builtin_shufflevector(a, b, ((lane & bit) != 0 ? lanes + (lane ^ bit) : lane)...);
}
template <int bit, std::size_t... lane>
Floats lower(const Floats& a, const Floats& b, std::index_sequence<lane...>) {
    return __builtin_shufflevector(a, b, ((lane & bit) != 0 ? lanes + lane : (lane | bit))...);
}

/// One step of turning a square around: rows whose numbers differ in one bit exchange blocks.
template <int bit>
void exchange_blocks(Square& square) {
    constexpr auto all = std::make_index_sequence<std::size_t(lanes)>();
    for (std::size_t row = 0; row < square.size(); ++row) {
        if ((row & bit) != 0) continue;
        const Floats a = square[row], b = square[row | bit];
        square[row] = upper<bit>(a, b, all);
        square[row | bit] = lower<bit>(a, b, all);
    }
}

/// Up to `count` numbers, then zeros.
Floats load_part(const float* from, std::int64_t count) {
    if (count >= lanes) return load<Floats>(from);
    Floats numbers{};
    for (std::int64_t i = 0; i < count; ++i)
        numbers[i] = from[i];
    return numbers;
}

void store_part(const Floats& numbers, float* to, std::int64_t count) {
    if (count >= lanes) return store(numbers, to);
    for (std::int64_t i = 0; i < count; ++i)
        to[i] = numbers[i];
}

/// The right operand's columns that one pass takes: rows of terms.
struct Panel {
    const float* from;
    std::int64_t step;    // from one term to the next
};

struct Sizes {
    std::int64_t rows, columns, terms, terms_at_once;
};

Sizes sizes_of(const SmallProduct& product) {
    const std::int64_t terms = product.lhs.dims[1];
    const std::int64_t blocks =
        std::max<std::int64_t>(1, (terms + terms_at_once_max - 1) / terms_at_once_max);
    return {.rows = product.result.dims[0],
            .columns = product.result.dims[1],
            .terms = terms,
            .terms_at_once = (terms + blocks - 1) / blocks};
}

/// Columns whose terms lie one after the other, as rows of terms.
void turn_around(const float* from, std::int64_t column_step, std::int64_t terms,
                 std::int64_t columns, float* to) {
    for (std::int64_t term = 0; term < terms; term += lanes) {
        const std::int64_t left = terms - term;
        for (std::int64_t column = 0; column < panel_columns; column += lanes) {
            Square square{};
            for (std::int64_t i = 0; i < std::min(lanes, columns - column); ++i) {
                const float* const line = from + (column + i) * column_step + term;
                square[i] = load_part(line, left);
            }
            if constexpr (lanes == 16) exchange_blocks<8>(square);
            exchange_blocks<4>(square);
            exchange_blocks<2>(square);
            exchange_blocks<1>(square);
            for (std::int64_t i = 0; i < std::min(lanes, left); ++i)
                store(square[i], to + (term + i) * panel_columns + column);
        }
    }
}

void copy(const float* from, std::int64_t term_step, std::int64_t terms, std::int64_t columns,
          float* to) {
    for (std::int64_t term = 0; term < terms; ++term)
        for (std::int64_t column = 0; column < panel_columns; column += lanes)
            store(load_part(from + term * term_step + column, columns - column),
                  to + term * panel_columns + column);
}

Panel panel_at(const SmallProduct& product, const Sizes& sizes, const float* right,
               std::int64_t first, std::vector<float>& memory) {
    const std::int64_t columns = std::min(panel_columns, sizes.columns - first);
    const Dims& steps = product.rhs.strides;
    const float* const from = right + first * steps[1];
    const bool lies_in_rows = steps[1] == 1;
    if (lies_in_rows && columns % lanes == 0) return {from, steps[0]};
    memory.resize(std::size_t(sizes.terms * panel_columns));
    if (lies_in_rows)
        copy(from, steps[0], sizes.terms, columns, memory.data());
    else
        turn_around(from, steps[1], sizes.terms, columns, memory.data());
    return {memory.data(), panel_columns};
}

/// `rows` rows of the result by `vectors` vectors of columns, of which the last may be cut.
template <int rows, int vectors>
void multiply_tile(const SmallProduct& product, const Sizes& sizes, const float* left,
                   const Panel& right, float* to, std::int64_t columns) {
    const std::int64_t row_step = product.lhs.strides[0], term_step = product.lhs.strides[1];
    const std::int64_t result_step = product.result.strides[0];
    Floats total[rows][vectors] = {};
    if (product.adds)
        for (int row = 0; row < rows; ++row)
            for (int v = 0; v < vectors; ++v)
                total[row][v] = load_part(to + row * result_step + v * lanes, columns - v * lanes);
    for (std::int64_t begin = 0; begin < sizes.terms; begin += sizes.terms_at_once) {
        const std::int64_t end = std::min(sizes.terms, begin + sizes.terms_at_once);
        Floats sums[rows][vectors] = {};
        for (std::int64_t term = begin; term < end; ++term) {
            Floats line[vectors];
            for (int v = 0; v < vectors; ++v)
                line[v] = load<Floats>(right.from + term * right.step + v * lanes);
            for (int row = 0; row < rows; ++row) {
                const Floats number = in_all_lanes<Floats>(left[row * row_step + term * term_step]);
                for (int v = 0; v < vectors; ++v)
                    sums[row][v] = multiply_add(number, line[v], sums[row][v]);
            }
        }
        const bool is_first = begin == 0 && !product.adds;
        for (int row = 0; row < rows; ++row)
            for (int v = 0; v < vectors; ++v)
                total[row][v] = is_first ? sums[row][v] : total[row][v] + sums[row][v];
    }
    for (int row = 0; row < rows; ++row)
        for (int v = 0; v < vectors; ++v)
            store_part(total[row][v], to + row * result_step + v * lanes, columns - v * lanes);
}

template <int rows, int vectors>
std::int64_t multiply_rows(const SmallProduct& product, const Sizes& sizes, const float* left,
                           const Panel& right, float* to, std::int64_t columns, std::int64_t row) {
    for (; row + rows <= sizes.rows; row += rows)
        multiply_tile<rows, vectors>(product, sizes, left + row * product.lhs.strides[0], right,
                                     to + row * product.result.strides[0], columns);
    return row;
}

template <int vectors>
void multiply_panel(const SmallProduct& product, const Sizes& sizes, const float* left,
                    const Panel& right, float* to, std::int64_t columns) {
    std::int64_t row = 0;
    row = multiply_rows<tile_rows, vectors>(product, sizes, left, right, to, columns, row);
    row = multiply_rows<4, vectors>(product, sizes, left, right, to, columns, row);
    multiply_rows<1, vectors>(product, sizes, left, right, to, columns, row);
}

}    // namespace

bool is_small_product(std::int64_t rows, std::int64_t columns, std::int64_t terms) {
    // By division: sizes of any product are asked for.
    return rows > 1 && columns > 1 && terms >= 1 && terms <= 2 * terms_at_once_max &&
           rows <= steps_max / columns && rows * columns >= results_min &&
           rows * columns <= steps_max / terms;
}

void SmallProduct::multiply(const float* left, const float* right, float* to) const {
    const Sizes sizes = sizes_of(*this);
    // A thread multiplies one product after the other: what the largest took stays, 96 KiB at most.
    thread_local std::vector<float> memory;
    left += lhs.offset;
    right += rhs.offset;
    to += result.offset;
    for (std::int64_t first = 0; first < sizes.columns; first += panel_columns) {
        const Panel panel = panel_at(*this, sizes, right, first, memory);
        const std::int64_t columns = std::min(panel_columns, sizes.columns - first);
        if (columns > lanes)
            multiply_panel<2>(*this, sizes, left, panel, to + first, columns);
        else
            multiply_panel<1>(*this, sizes, left, panel, to + first, columns);
    }
}

}    // namespace slipway
