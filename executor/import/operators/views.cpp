// Views show the elements of their operand in another arrangement. A write to a view is a write to
// its operand: the function beside each row gives the operand with the view's part replaced.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <array>

#include <algorithm>
#include <numeric>

#include "executor/import/operators/parts.h"
#include "executor/import/operators/rows.h"

namespace slipway::importer {

namespace {

Tensor reshaped_back(const Call&, const Tensor& operand, const Tensor& value) {
    return reshape(value, operand.dims());
}

Value lower_identity(const Call& call) {
    return {call.tensor(call.has("self") ? "self" : "input")};
}

Value lower_detach(const Call& call) {
    return {stop_gradient(call.tensor("self"))};
}

Value lower_reshape(const Call& call) {
    const Tensor x = call.tensor("self");
    const Dims dims = call.integers(call.has("shape") ? "shape" : "size");
    return {reshape(x, filled_dims(call, dims, x.shape().element_count()))};
}

Value lower_reshape_as(const Call& call) {
    return {reshape(call.tensor("self"), call.tensor("other").dims())};
}

Value lower_flatten(const Call& call) {
    const Tensor x = call.tensor("self");
    const std::int64_t rank = x.shape().rank();
    if (rank == 0) return {reshape(x, {1})};
    const std::int64_t first = call.dimension("start_dim", rank, 0);
    const std::int64_t last = call.dimension("end_dim", rank, -1);
    if (last < first) call.refuse("ends before it begins");
    Dims dims(x.dims().begin(), x.dims().begin() + first);
    std::int64_t extent = 1;
    for (std::int64_t i = first; i <= last; ++i)
        extent *= x.dims().at(std::size_t(i));
    dims.push_back(extent);
    dims.insert(dims.end(), x.dims().begin() + last + 1, x.dims().end());
    return {reshape(x, dims)};
}

Value lower_unflatten(const Call& call) {
    const Tensor x = call.tensor("self");
    const std::int64_t at = call.dimension("dim", x.shape().rank());
    const Dims sizes = filled_dims(call, call.integers("sizes"), x.dims().at(std::size_t(at)));
    Dims dims = x.dims();
    dims.erase(dims.begin() + at);
    dims.insert(dims.begin() + at, sizes.begin(), sizes.end());
    return {reshape(x, dims)};
}

Value lower_unsqueeze(const Call& call) {
    const Tensor x = call.tensor("self");
    return {with_dimension(x, call.dimension("dim", x.shape().rank() + 1))};
}

Value lower_squeeze(const Call& call) {
    const Tensor x = call.tensor("self");
    const Dims chosen = call.dimensions("dim", x.shape().rank());
    Dims dims;
    for (std::int64_t i = 0; i < x.shape().rank(); ++i) {
        const bool is_chosen = std::ranges::find(chosen, i) != chosen.end();
        if (!is_chosen || x.dims().at(std::size_t(i)) != 1)
            dims.push_back(x.dims().at(std::size_t(i)));
    }
    return {reshape(x, dims)};
}

// ---- permutations ----

Dims permutation_of(const Call& call, std::int64_t rank) {
    Dims permutation = call.integers("dims");
    for (std::int64_t& dimension : permutation)
        if (dimension < 0) dimension += rank;
    return permutation;
}

Value lower_permute(const Call& call) {
    const Tensor x = call.tensor("self");
    return {transpose(x, permutation_of(call, x.shape().rank()))};
}

Tensor permuted_back(const Call& call, const Tensor& operand, const Tensor& value) {
    const Dims permutation = permutation_of(call, operand.shape().rank());
    Dims inverse(permutation.size());
    for (std::size_t i = 0; i < permutation.size(); ++i)
        inverse[std::size_t(permutation.at(i))] = std::int64_t(i);
    return transpose(value, inverse);
}

struct Pair {
    std::int64_t one, other;
};

Pair pair_of(const Call& call, std::int64_t rank) {
    if (call.has("dim0")) return {call.dimension("dim0", rank), call.dimension("dim1", rank)};
    if (call.has("axis0")) return {call.dimension("axis0", rank), call.dimension("axis1", rank)};
    return {std::max<std::int64_t>(0, rank - 2), std::max<std::int64_t>(0, rank - 1)};
}

Value lower_transpose(const Call& call) {
    const Tensor x = call.tensor("self");
    const Pair pair = pair_of(call, x.shape().rank());
    return {exchanged(x, pair.one, pair.other)};
}

Tensor transposed_back(const Call& call, const Tensor& operand, const Tensor& value) {
    const Pair pair = pair_of(call, operand.shape().rank());
    return exchanged(value, pair.one, pair.other);
}

// ---- expansion ----

Value lower_expand(const Call& call) {
    const Tensor x = call.tensor("self");
    Dims dims = call.integers("size");
    const std::size_t skipped = dims.size() - std::min(dims.size(), x.dims().size());
    for (std::size_t i = skipped; i < dims.size(); ++i)
        if (dims.at(i) == -1) dims.at(i) = x.dims().at(i - skipped);
    return {expanded(call, x, dims)};
}

Value lower_expand_as(const Call& call) {
    return {expanded(call, call.tensor("self"), call.tensor("other").dims())};
}

// ---- parts ----

struct Range {
    std::int64_t dimension, start, end, step;
};

Range range_of(const Call& call, const Tensor& x) {
    const std::int64_t dimension = call.dimension("dim", x.shape().rank(), 0);
    const std::int64_t extent = x.dims().at(std::size_t(dimension));
    const auto inside = [&](std::int64_t place) {
        return std::clamp<std::int64_t>(place < 0 ? place + extent : place, 0, extent);
    };
    return {dimension, inside(call.integer("start", 0)), inside(call.integer("end", extent)),
            call.integer("step", 1)};
}

/// `operand` with the part that begins at `start` replaced.
Tensor with_part(const Tensor& operand, const Tensor& value, std::int64_t dimension,
                 std::int64_t start) {
    std::vector<Tensor> starts(operand.dims().size(), constant(0, DType::i32));
    starts[std::size_t(dimension)] = constant(double(start), DType::i32);
    return dynamic_update_slice(operand, value, starts);
}

Value lower_slice(const Call& call) {
    const Tensor x = call.tensor("self");
    const Range range = range_of(call, x);
    return {part(x, range.dimension, range.start, range.end, range.step)};
}

Tensor write_slice(const Call& call, const Tensor& operand, const Tensor& value) {
    const Range range = range_of(call, operand);
    if (range.step != 1) call.refuse("cannot be written to: its step is not 1");
    return with_part(operand, value, range.dimension, range.start);
}

struct Selected {
    std::int64_t dimension, index;
};

Selected selected(const Call& call, const Tensor& x) {
    const std::int64_t dimension = call.dimension("dim", x.shape().rank());
    const std::int64_t extent = x.dims().at(std::size_t(dimension));
    const std::int64_t index = call.integer("index");
    const std::int64_t place = index < 0 ? index + extent : index;
    if (place < 0 || place >= extent)
        call.refuse(fmt::format("index {} is not one of {}", index, extent));
    return {dimension, place};
}

Value lower_select(const Call& call) {
    const Tensor x = call.tensor("self");
    const Selected at = selected(call, x);
    return {without_dimension(part(x, at.dimension, at.index, at.index + 1), at.dimension)};
}

Tensor write_select(const Call& call, const Tensor& operand, const Tensor& value) {
    const Selected at = selected(call, operand);
    return with_part(operand, with_dimension(value, at.dimension), at.dimension, at.index);
}

Value lower_narrow(const Call& call) {
    const Tensor x = call.tensor("self");
    const std::int64_t dimension = call.dimension("dim", x.shape().rank());
    const std::int64_t start = call.integer("start");
    return {part(x, dimension, start, start + call.integer("length"))};
}

/// Cut at these places of one dimension.
Value cut(const Tensor& x, std::int64_t dimension, const Dims& sizes) {
    std::vector<Tensor> parts;
    std::int64_t start = 0;
    for (const std::int64_t size : sizes) {
        parts.push_back(part(x, dimension, start, start + size));
        start += size;
    }
    return list_of(std::move(parts));
}

/// Parts of this size, the last one smaller where it does not divide.
Dims equal_sizes(std::int64_t extent, std::int64_t size) {
    Dims sizes;
    for (std::int64_t start = 0; start < extent; start += size)
        sizes.push_back(std::min(size, extent - start));
    return sizes;
}

Value lower_split(const Call& call) {
    const Tensor x = call.tensor("self");
    const std::int64_t dimension = call.dimension("dim", x.shape().rank(), 0);
    const char* name = call.has("split_sizes") ? "split_sizes" : "split_size";
    const Dims given = call.integers(name);
    const bool is_one = !std::holds_alternative<std::vector<Value>>(call.argument(name).value);
    if (is_one && given[0] < 1) call.refuse("split_size must be at least 1");
    return cut(x, dimension,
               is_one ? equal_sizes(x.dims().at(std::size_t(dimension)), given[0]) : given);
}

Value lower_chunk(const Call& call) {
    const Tensor x = call.tensor("self");
    const std::int64_t dimension = call.dimension("dim", x.shape().rank(), 0);
    const std::int64_t chunks = call.integer("chunks");
    const std::int64_t extent = x.dims().at(std::size_t(dimension));
    if (chunks < 1) call.refuse("chunks must be at least 1");
    return cut(x, dimension, equal_sizes(extent, (extent + chunks - 1) / chunks));
}

Value lower_unbind(const Call& call) {
    const Tensor x = call.tensor("self");
    const std::int64_t dimension = call.dimension("dim", x.shape().rank(), 0);
    std::vector<Tensor> parts;
    for (std::int64_t i = 0; i < x.dims().at(std::size_t(dimension)); ++i)
        parts.push_back(without_dimension(part(x, dimension, i, i + 1), dimension));
    return list_of(std::move(parts));
}

/// A change of type is no view: a write to it leaves the operand alone. Without a change torch
/// returns the operand itself.
Value lower_to(const Call& call) {
    const Tensor x = call.tensor("self");
    return {as_type(x, type_argument(call, "dtype", x.dtype()))};
}

Value lower_type_as(const Call& call) {
    return {as_type(call.tensor("self"), call.tensor("other").dtype())};
}

constexpr auto views_table = std::to_array<OperatorRow>({
    {"aten._unsafe_view", lower_reshape},
    {"aten.alias", lower_identity, reshaped_back, true},
    {"aten.chunk", lower_chunk, nullptr, true},
    {"aten.clone", lower_identity},
    {"aten.contiguous", lower_identity},
    {"aten.detach", lower_detach, reshaped_back, true},
    {"aten.expand", lower_expand, nullptr, true},
    {"aten.expand_as", lower_expand_as, nullptr, true},
    {"aten.flatten", lower_flatten, reshaped_back, true},
    {"aten.lift_fresh_copy", lower_identity},
    {"aten.narrow", lower_narrow, nullptr, true},
    {"aten.permute", lower_permute, permuted_back, true},
    {"aten.reshape", lower_reshape, reshaped_back, true},
    {"aten.reshape_as", lower_reshape_as, reshaped_back, true},
    {"aten.select", lower_select, write_select, true},
    {"aten.slice", lower_slice, write_slice, true},
    {"aten.split", lower_split, nullptr, true},
    {"aten.split_with_sizes", lower_split, nullptr, true},
    {"aten.squeeze", lower_squeeze, reshaped_back, true},
    {"aten.swapaxes", lower_transpose, transposed_back, true},
    {"aten.t", lower_transpose, transposed_back, true},
    {"aten.to", lower_to},
    {"aten.transpose", lower_transpose, transposed_back, true},
    {"aten.type_as", lower_type_as},
    {"aten.unbind", lower_unbind, nullptr, true},
    {"aten.unflatten", lower_unflatten, reshaped_back, true},
    {"aten.unsqueeze", lower_unsqueeze, reshaped_back, true},
    {"aten.view", lower_reshape, reshaped_back, true},
    {"aten.view_as", lower_reshape_as, reshaped_back, true},
});

}    // namespace

std::span<const OperatorRow> view_rows() {
    return views_table;
}

}    // namespace slipway::importer
