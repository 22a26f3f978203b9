// Operators that arrange elements in new memory.
#include <fmt/format.h>
#include <array>

#include <algorithm>
#include <numeric>

#include "executor/import/operators/parts.h"
#include "executor/import/operators/rows.h"

namespace slipway::importer {

namespace {

/// All of the type that holds each of them.
std::vector<Tensor> of_one_type(std::vector<Tensor> tensors) {
    DType widest = DType::pred;
    for (const Tensor& tensor : tensors)
        if (is_floating(tensor.dtype()) || widest == DType::pred) widest = tensor.dtype();
    for (Tensor& tensor : tensors)
        tensor = as_type(tensor, widest);
    return tensors;
}

Value lower_cat(const Call& call) {
    std::vector<Tensor> parts = of_one_type(call.tensors("tensors"));
    // torch's old rule: an empty vector fits everything.
    std::erase_if(parts, [](const Tensor& one) { return one.dims() == Dims{0}; });
    if (parts.empty()) call.refuse("has nothing to concatenate");
    return {concatenate(parts, call.dimension("dim", parts[0].shape().rank(), 0))};
}

Value lower_stack(const Call& call) {
    std::vector<Tensor> parts = of_one_type(call.tensors("tensors"));
    if (parts.empty()) call.refuse("has nothing to stack");
    const std::int64_t dimension = call.dimension("dim", parts[0].shape().rank() + 1, 0);
    for (Tensor& one : parts)
        one = with_dimension(one, dimension);
    return {concatenate(parts, dimension)};
}

Value lower_flip(const Call& call) {
    const Tensor x = call.tensor("self");
    return {reverse(x, call.dimensions("dims", x.shape().rank()))};
}

Tensor rolled(const Tensor& x, std::int64_t dimension, std::int64_t shift) {
    const std::int64_t extent = x.dims().at(std::size_t(dimension));
    if (extent == 0) return x;
    const std::int64_t cut = ((extent - shift) % extent + extent) % extent;
    if (cut == 0) return x;
    return concatenate({part(x, dimension, cut, extent), part(x, dimension, 0, cut)}, dimension);
}

Value lower_roll(const Call& call) {
    Tensor x = call.tensor("self");
    const Dims shifts = call.integers("shifts"), dimensions = call.integers("dims", Dims{});
    if (dimensions.empty())
        return {
            reshape(rolled(reshape(x, {x.shape().element_count()}), 0, shifts.at(0)), x.dims())};
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
        const std::int64_t at =
            dimensions.at(i) < 0 ? dimensions.at(i) + x.shape().rank() : dimensions.at(i);
        x = rolled(x, at, shifts.at(i));
    }
    return {x};
}

Value lower_repeat(const Call& call) {
    const Tensor x = call.tensor("self");
    const Dims repeats = call.integers(call.has("repeats") ? "repeats" : "dims");
    if (repeats.size() < x.dims().size()) call.refuse("has fewer repeats than dimensions");
    // Each dimension becomes two: how often, and what.
    Dims source, spread;
    const std::size_t skipped = repeats.size() - x.dims().size();
    for (std::size_t i = 0; i < repeats.size(); ++i) {
        const std::int64_t extent = i < skipped ? 1 : x.dims().at(i - skipped);
        source.insert(source.end(), {1, extent});
        spread.insert(spread.end(), {repeats.at(i), extent});
    }
    checked_dims(call, spread);
    Dims result;
    for (std::size_t i = 0; i < spread.size(); i += 2)
        result.push_back(spread.at(i) * spread.at(i + 1));
    return {reshape(expanded(call, reshape(x, source), spread), result)};
}

Value lower_repeat_interleave(const Call& call) {
    Tensor x = call.tensor("self");
    if (!call.has("dim")) x = reshape(x, {x.shape().element_count()});
    return {repeated_elements(call, x, call.dimension("dim", x.shape().rank(), 0),
                              call.integer("repeats"))};
}

// ---- padding ----

/// The elements next to one end of a dimension, mirrored around its last one.
Tensor reflected(const Tensor& x, std::int64_t dimension, std::int64_t low, std::int64_t high) {
    const std::int64_t extent = x.dims().at(std::size_t(dimension));
    std::vector<Tensor> parts{x};
    if (low > 0) parts.insert(parts.begin(), reverse(part(x, dimension, 1, 1 + low), {dimension}));
    if (high > 0)
        parts.push_back(reverse(part(x, dimension, extent - 1 - high, extent - 1), {dimension}));
    return concatenate(parts, dimension);
}

Tensor repeated_ends(const Call& call, const Tensor& x, std::int64_t dimension, std::int64_t low,
                     std::int64_t high) {
    const std::int64_t extent = x.dims().at(std::size_t(dimension));
    const auto end = [&](std::int64_t at, std::int64_t count) {
        Dims dims = x.dims();
        dims.at(std::size_t(dimension)) = count;
        return expanded(call, part(x, dimension, at, at + 1), dims);
    };
    return concatenate({end(0, low), x, end(extent - 1, high)}, dimension);
}

/// Pairs from the last dimension on: low, high.
Value lower_pad(const Call& call) {
    Tensor x = call.tensor("self");
    const Dims pads = call.integers(call.has("pad") ? "pad" : "padding");
    const std::string mode = call.text("mode", "constant");
    const std::int64_t rank = x.shape().rank();
    if (pads.size() % 2 != 0 || std::int64_t(pads.size()) > 2 * rank)
        call.refuse("needs a pair of numbers for each of its last dimensions");
    PadAttributes padding{.low = Dims(std::size_t(rank), 0),
                          .high = Dims(std::size_t(rank), 0),
                          .interior = Dims(std::size_t(rank), 0)};
    for (std::size_t i = 0; i < pads.size() / 2; ++i) {
        const auto dimension = std::int64_t(rank - 1 - std::int64_t(i));
        const std::int64_t low = pads.at(2 * i), high = pads.at(2 * i + 1);
        const std::int64_t extent = x.dims().at(std::size_t(dimension));
        if (mode == "constant") {
            padding.low[std::size_t(dimension)] = low;
            padding.high[std::size_t(dimension)] = high;
        } else if (low < 0 || high < 0 || (mode == "reflect" && std::max(low, high) >= extent)) {
            call.refuse(fmt::format("cannot pad {} elements by {} and {}", extent, low, high));
        } else if (mode == "reflect") {
            x = reflected(x, dimension, low, high);
        } else if (mode == "replicate") {
            x = repeated_ends(call, x, dimension, low, high);
        } else if (mode == "circular") {
            x = concatenate(
                {part(x, dimension, extent - low, extent), x, part(x, dimension, 0, high)},
                dimension);
        } else {
            call.refuse(
                fmt::format("has the mode {}; constant, reflect, replicate and circular "
                            "are lowered",
                            mode));
        }
    }
    if (mode != "constant") return {x};
    return {pad(x, call.number("value", 0), padding)};
}

Value lower_meshgrid(const Call& call) {
    const std::vector<Tensor> axes = call.tensors("tensors");
    const bool is_xy = call.text("indexing", "ij") == "xy" && axes.size() > 1;
    Dims dims;
    for (const Tensor& axis : axes)
        dims.push_back(axis.shape().element_count());
    if (is_xy) std::swap(dims.at(0), dims.at(1));
    std::vector<Tensor> grids;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::size_t place = is_xy && i < 2 ? 1 - i : i;
        grids.push_back(broadcast_in_dim(reshape(axes[i], {axes[i].shape().element_count()}), dims,
                                         {std::int64_t(place)}));
    }
    return list_of(std::move(grids));
}

/// [n, c * r * r, h, w] -> [n, c, h * r, w * r].
Value lower_pixel_shuffle(const Call& call) {
    const Tensor x = call.tensor("self");
    const std::int64_t factor = call.positive("upscale_factor", 1);
    const Dims& dims = x.dims();
    if (dims.size() != 4 || dims.at(1) % (factor * factor) != 0)
        call.refuse("needs [n, c, h, w] with channels that the square of its factor divides");
    const std::int64_t channels = dims.at(1) / (factor * factor);
    const Tensor apart = reshape(x, {dims.at(0), channels, factor, factor, dims.at(2), dims.at(3)});
    return {reshape(transpose(apart, {0, 1, 4, 2, 5, 3}),
                    {dims.at(0), channels, dims.at(2) * factor, dims.at(3) * factor})};
}

/// [n, c, h * r, w * r] -> [n, c * r * r, h, w].
Value lower_pixel_unshuffle(const Call& call) {
    const Tensor x = call.tensor("self");
    const std::int64_t factor = call.positive("downscale_factor", 1);
    const Dims& dims = x.dims();
    if (dims.size() != 4 || dims.at(2) % factor != 0 || dims.at(3) % factor != 0)
        call.refuse("needs [n, c, h, w] with sides that its factor divides");
    const Tensor apart = reshape(
        x, {dims.at(0), dims.at(1), dims.at(2) / factor, factor, dims.at(3) / factor, factor});
    return {reshape(
        transpose(apart, {0, 1, 3, 5, 2, 4}),
        {dims.at(0), dims.at(1) * factor * factor, dims.at(2) / factor, dims.at(3) / factor})};
}

Value lower_channel_shuffle(const Call& call) {
    const Tensor x = call.tensor("self");
    const std::int64_t groups = call.positive("groups", 1);
    const Dims& dims = x.dims();
    if (dims.size() < 2 || dims.at(1) % groups != 0) call.refuse("needs channels that divide");
    Dims apart = dims;
    apart[1] = groups;
    apart.insert(apart.begin() + 2, dims.at(1) / groups);
    return {reshape(exchanged(reshape(x, apart), 1, 2), dims)};
}

/// Nothing is traced for what a program only asserts.
Value lower_nothing(const Call&) {
    return {};
}

constexpr auto shapes_table = std::to_array<OperatorRow>({
    {"aten._assert_async", lower_nothing},
    {"aten._assert_scalar", lower_nothing},
    {"aten._assert_tensor_metadata", lower_nothing},
    {"aten.cat", lower_cat},
    {"aten.channel_shuffle", lower_channel_shuffle},
    {"aten.concat", lower_cat},
    {"aten.constant_pad_nd", lower_pad},
    {"aten.flip", lower_flip},
    {"aten.meshgrid", lower_meshgrid},
    {"aten.pad", lower_pad},
    {"aten.pixel_shuffle", lower_pixel_shuffle},
    {"aten.pixel_unshuffle", lower_pixel_unshuffle},
    {"aten.repeat", lower_repeat},
    {"aten.repeat_interleave.self_int", lower_repeat_interleave},
    {"aten.roll", lower_roll},
    {"aten.stack", lower_stack},
    {"aten.sym_constrain_range_for_size", lower_nothing},
    {"aten.tile", lower_repeat},
});

}    // namespace

std::span<const OperatorRow> shape_rows() {
    return shapes_table;
}

}    // namespace slipway::importer
