#include <fmt/format.h>
#include <array>

#include <numeric>

#include "executor/import/operators/parts.h"
#include "executor/import/operators/rows.h"

namespace slipway::importer {

namespace {

/// Numbers that count from the end become numbers of rows.
Tensor row_numbers(const Tensor& indices, std::int64_t rows) {
    const Tensor whole = as_type(indices, DType::i32);
    const Tensor zero = broadcast(number_like(whole, 0), whole.dims());
    return select(compare(whole, zero, Comparison::lt), whole + number_like(whole, double(rows)),
                  whole);
}

Value lower_embedding(const Call& call) {
    return {embedding(call.tensor("weight"), as_type(call.tensor("indices"), DType::i32))};
}

/// Rows of any dimension by number: [a…, v, b…] by [dims…] gives [a…, dims…, b…].
Tensor rows_of(const Tensor& x, std::int64_t dimension, const Tensor& indices) {
    const Tensor numbers = row_numbers(indices, x.dims().at(std::size_t(dimension)));
    if (dimension == 0) return gather(x, numbers);
    // The dimension goes to the front, what is taken goes back to its place.
    Dims front(x.dims().size());
    std::iota(front.begin(), front.end(), 0);
    front.erase(front.begin() + dimension);
    front.insert(front.begin(), dimension);
    const Tensor taken = gather(transpose(x, front), numbers);
    const std::int64_t added = indices.shape().rank();
    Dims back;
    for (std::int64_t i = 0; i < dimension; ++i)
        back.push_back(added + i);
    for (std::int64_t i = 0; i < added; ++i)
        back.push_back(i);
    for (std::int64_t i = added + dimension; i < taken.shape().rank(); ++i)
        back.push_back(i);
    return transpose(taken, back);
}

Value lower_index_select(const Call& call) {
    const Tensor x = call.tensor("self");
    return {rows_of(x, call.dimension("dim", x.shape().rank()), call.tensor("index"))};
}

/// x[:, indices]: one tensor of numbers; or several that are neighbours, which number the elements
/// of their dimensions together.
Value lower_index(const Call& call) {
    const Tensor x = call.tensor("self");
    const auto* list = std::get_if<std::vector<Value>>(&call.argument("indices").value);
    if (list == nullptr) call.refuse("needs a list of indices");
    std::vector<Tensor> indices;
    std::int64_t first = -1;
    for (std::size_t i = 0; i < list->size(); ++i) {
        const Tensor* one = (*list)[i].tensor();
        if (one == nullptr) continue;
        if (one->dtype() == DType::pred)
            call.refuse("selects by flags: how many elements there are depends on the data");
        if (first < 0) first = std::int64_t(i);
        if (std::int64_t(i) != first + std::int64_t(indices.size()))
            call.refuse("is lowered where the indexed dimensions are neighbours");
        indices.push_back(*one);
    }
    if (indices.empty()) return {x};
    Dims dims = x.dims(), common;
    for (const Tensor& one : indices)
        common = common_dims(call, common, one.dims());
    // Several dimensions become one, whose numbers are counted row by row.
    Tensor place;
    std::int64_t rows = 1;
    for (std::size_t i = 0; i < indices.size(); ++i) {
        const std::int64_t extent = dims.at(std::size_t(first) + i);
        const Tensor number = expanded(call, row_numbers(indices[i], extent), common);
        place = place.empty() ? number : place * number_like(number, double(extent)) + number;
        rows *= extent;
    }
    dims.erase(dims.begin() + first, dims.begin() + first + std::ptrdiff_t(indices.size()));
    dims.insert(dims.begin() + first, rows);
    return {rows_of(reshape(x, dims), first, place)};
}

/// Windows of one dimension: [a…, v, b…] gives [a…, windows, b…, size].
Value lower_unfold(const Call& call) {
    const Tensor x = call.tensor("self");
    const std::int64_t dimension = call.dimension("dimension", x.shape().rank());
    const std::int64_t size = call.positive("size", 1), step = call.positive("step", 1);
    const std::int64_t extent = x.dims().at(std::size_t(dimension));
    if (size > extent) call.refuse("has windows that do not fit");
    const Shape places{DType::i32, {(extent - size) / step + 1, size}};
    const Tensor first = iota(places, 0);
    const Tensor windows =
        rows_of(x, dimension, first * number_like(first, double(step)) + iota(places, 1));
    Dims last;    // what rows_of put behind the windows goes to the end
    for (std::int64_t i = 0; i < windows.shape().rank(); ++i)
        if (i != dimension + 1) last.push_back(i);
    last.push_back(dimension + 1);
    return {transpose(windows, last)};
}

/// Patches as columns: [n, c, h, w] gives [n, c * size, places].
Value lower_im2col(const Call& call) {
    const Tensor x = as_floating(call.tensor("self"));
    if (x.dims().size() != 4) call.refuse("needs [n, c, h, w]");
    const Dims size = call.positives("kernel_size", 2, 1),
               dilation = call.positives("dilation", 2, 1),
               padding = call.integers("padding", 2, 0), stride = call.positives("stride", 2, 1);
    const Tensor wide = pad(x, 0,
                            {.low = {0, 0, padding.at(0), padding.at(1)},
                             .high = {0, 0, padding.at(0), padding.at(1)},
                             .interior = {0, 0, 0, 0}});
    Dims counts;
    for (std::size_t i = 0; i < 2; ++i) {
        const std::int64_t room = wide.dims().at(2 + i) - dilation.at(i) * (size.at(i) - 1) - 1;
        if (room < 0) call.refuse("has patches that do not fit");
        counts.push_back(room / stride.at(i) + 1);
    }
    std::vector<Tensor> taps;
    for (std::int64_t row = 0; row < size.at(0); ++row)
        for (std::int64_t column = 0; column < size.at(1); ++column) {
            const std::int64_t top = row * dilation.at(0), left = column * dilation.at(1);
            Tensor tap =
                part(wide, 2, top, top + (counts.at(0) - 1) * stride.at(0) + 1, stride.at(0));
            tap = part(tap, 3, left, left + (counts.at(1) - 1) * stride.at(1) + 1, stride.at(1));
            taps.push_back(
                reshape(tap, {x.dims().at(0), x.dims().at(1), 1, counts.at(0) * counts.at(1)}));
        }
    return {reshape(concatenate(taps, 2), {x.dims().at(0), x.dims().at(1) * size.at(0) * size.at(1),
                                           counts.at(0) * counts.at(1)})};
}

/// One element for each place of `index`: y[i][j] = x[i][index[i][j]] along `dim`. Each place of
/// the other dimensions has rows of its own in one table.
Value lower_gather(const Call& call) {
    const Tensor x = call.tensor("self");
    Tensor index = as_type(call.tensor("index"), DType::i32);
    const std::int64_t rank = x.shape().rank();
    const std::int64_t dimension = call.dimension("dim", rank);
    Tensor source = x;
    for (std::int64_t i = 0; i < rank; ++i)    // index may be shorter elsewhere
        if (i != dimension && index.dims().at(std::size_t(i)) != x.dims().at(std::size_t(i)))
            source = part(source, i, 0, index.dims().at(std::size_t(i)));
    source = exchanged(source, dimension, rank - 1);
    index = exchanged(index, dimension, rank - 1);
    const std::int64_t columns = source.dims().back();
    const std::int64_t lines = source.shape().element_count() / std::max<std::int64_t>(1, columns);
    const std::int64_t taken = index.dims().back();
    const Tensor flat = reshape(index, {lines, taken});
    const Tensor line = iota({DType::i32, {lines, taken}}, 0);
    const Tensor place = line * number_like(line, double(columns)) + flat;
    const Tensor result = gather(reshape(source, {lines * columns}), place);
    return {exchanged(reshape(result, index.dims()), dimension, rank - 1)};
}

constexpr auto indices_table = std::to_array<OperatorRow>({
    {"aten.embedding", lower_embedding},
    {"aten.gather", lower_gather},
    {"aten.im2col", lower_im2col},
    {"aten.index", lower_index},
    {"aten.index_select", lower_index_select},
    {"aten.unfold", lower_unfold},
});

}    // namespace

std::span<const OperatorRow> index_rows() {
    return indices_table;
}

}    // namespace slipway::importer
