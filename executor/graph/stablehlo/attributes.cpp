#include "executor/graph/stablehlo/attributes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cmath>

#include "executor/graph/op_table.h"
#include "executor/graph/ops/dims.h"

namespace slipway::stablehlo {

namespace {

std::string_view element_type(DType dtype) {
    switch (dtype) {
        case DType::pred:
            return "i1";
        case DType::u8:
            return "ui8";
        case DType::u32:
            return "ui32";
        default:
            return to_string(dtype);
    }
}

std::string non_finite(double value, DType dtype) {
    if (dtype == DType::f64) return fmt::format("0x{:016X}", std::bit_cast<std::uint64_t>(value));
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    if (dtype == DType::f32) return fmt::format("0x{:08X}", bits);
    return fmt::format("0x{:04X}", bits >> 16);
}

/// MLIR wants a point in every floating number.
std::string floating(double value, DType dtype) {
    if (!std::isfinite(value)) return non_finite(value, dtype);
    std::string text = fmt::to_string(value);
    if (text.find('.') != std::string::npos) return text;
    text.insert(std::min(text.find('e'), text.size()), ".0");
    return text;
}

std::string number(std::int64_t value) {
    return fmt::format("{} : i64", value);
}

std::string bracketed(const Dims& dims) {
    return fmt::format("[{}]", fmt::join(dims, ", "));
}

Dims collect(const std::vector<WindowDimension>& window, std::int64_t WindowDimension::*field) {
    Dims values;
    for (const WindowDimension& dimension : window)
        values.push_back(dimension.*field);
    return values;
}

std::string padding_of(const std::vector<WindowDimension>& window) {
    std::vector<std::string> pairs;
    for (const WindowDimension& dimension : window)
        pairs.push_back(bracketed({dimension.padding_low, dimension.padding_high}));
    if (pairs.empty()) return "dense<> : tensor<0x2xi64>";
    return fmt::format("dense<[{}]> : tensor<{}x2xi64>", fmt::join(pairs, ", "), pairs.size());
}

/// "[b, f, 0, 1]": the role of each dimension.
std::string roles_of(const Dims& layout, std::string_view first, std::string_view second) {
    std::vector<std::string> roles(layout.size());
    for (std::size_t role = 0; role < layout.size(); ++role) {
        std::string& place = roles[std::size_t(layout[role])];
        if (role == 0) place = first;
        if (role == 1) place = second;
        if (role > 1) place = fmt::to_string(role - 2);
    }
    return fmt::format("[{}]", fmt::join(roles, ", "));
}

/// Members of a group are `step` apart, the first ones of groups `group_step`.
std::string replica_groups(int groups, int members, int group_step, int step) {
    std::vector<std::string> all;
    for (int group = 0; group < groups; ++group) {
        Dims cores;
        for (int member = 0; member < members; ++member)
            cores.push_back(group * group_step + member * step);
        all.push_back(bracketed(cores));
    }
    return fmt::format("replica_groups = dense<[{}]> : tensor<{}x{}xi64>", fmt::join(all, ", "),
                       groups, members);
}

std::string gather_attributes(const Node& node) {
    const Dims& table = node.operands[0].dims();
    const std::int64_t indices = node.operands[1].shape().rank();
    Dims offsets, sizes = table;
    for (std::int64_t i = indices; i < node.shape.rank(); ++i)
        offsets.push_back(i);
    sizes[0] = 1;
    return fmt::format(
        "dimension_numbers = #stablehlo.gather<offset_dims = {}, collapsed_slice_dims = [0], "
        "start_index_map = [0], index_vector_dim = {}>, slice_sizes = {}, "
        "indices_are_sorted = false",
        bracketed(offsets), indices, list(sizes));
}

std::string scatter_attributes(const Node& node) {
    const std::int64_t indices = node.operands[1].shape().rank();
    Dims windows;
    for (std::int64_t i = indices; i < node.operands[2].shape().rank(); ++i)
        windows.push_back(i);
    return fmt::format(
        "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = {}, "
        "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = {}>, "
        "indices_are_sorted = false, unique_indices = false",
        bracketed(windows), indices);
}

struct WriteAttributes {
    const Node& node;
    int cores;

    std::string operator()(const NoAttributes&) const {
        if (node.op == OpCode::gather) return gather_attributes(node);
        if (node.op == OpCode::scatter_add) return scatter_attributes(node);
        return {};
    }
    std::string operator()(const InputAttributes&) const { return {}; }
    std::string operator()(const ConstantAttributes& a) const {
        return "value = " + scalar(a.value, node.shape.dtype);
    }
    std::string operator()(const IotaAttributes& a) const {
        return "iota_dimension = " + number(a.dimension);
    }
    std::string operator()(const BroadcastAttributes& a) const {
        return "broadcast_dimensions = " + list(a.dimensions);
    }
    std::string operator()(const TransposeAttributes& a) const {
        return "permutation = " + list(a.permutation);
    }
    std::string operator()(const SliceAttributes& a) const {
        return fmt::format("start_indices = {}, limit_indices = {}, strides = {}", list(a.start),
                           list(a.limit), list(a.strides));
    }
    std::string operator()(const PadAttributes& a) const {
        return fmt::format("edge_padding_low = {}, edge_padding_high = {}, interior_padding = {}",
                           list(a.low), list(a.high), list(a.interior));
    }
    std::string operator()(const ConcatenateAttributes& a) const {
        return "dimension = " + number(a.dimension);
    }
    std::string operator()(const ReverseAttributes& a) const {
        return "dimensions = " + list(a.dimensions);
    }
    std::string operator()(const CompareAttributes& a) const {
        constexpr std::string_view names[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
        return fmt::format("comparison_direction = #stablehlo<comparison_direction {}>",
                           names[std::size_t(a.direction)]);
    }
    std::string operator()(const DotAttributes& a) const {
        return fmt::format(
            "dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = {}, "
            "rhs_batching_dimensions = {}, lhs_contracting_dimensions = {}, "
            "rhs_contracting_dimensions = {}>",
            bracketed(a.lhs_batching), bracketed(a.rhs_batching), bracketed(a.lhs_contracting),
            bracketed(a.rhs_contracting));
    }
    std::string operator()(const ConvolutionAttributes& a) const {
        return fmt::format(
            "window_strides = {}, padding = {}, lhs_dilation = {}, rhs_dilation = {}, "
            "dimension_numbers = #stablehlo.conv<{}x{}->{}>, feature_group_count = {}, "
            "batch_group_count = {}",
            list(collect(a.window, &WindowDimension::stride)), padding_of(a.window),
            list(collect(a.window, &WindowDimension::base_dilation)),
            list(collect(a.window, &WindowDimension::window_dilation)),
            roles_of(a.input_layout, "b", "f"), roles_of(a.kernel_layout, "o", "i"),
            roles_of(a.output_layout, "b", "f"), number(a.feature_groups), number(a.batch_groups));
    }
    std::string operator()(const ReduceAttributes& a) const {
        return "dimensions = " + list(a.dimensions);
    }
    std::string operator()(const ReduceWindowAttributes& a) const {
        return fmt::format(
            "window_dimensions = {}, window_strides = {}, base_dilations = {}, "
            "window_dilations = {}, padding = {}",
            list(collect(a.window, &WindowDimension::size)),
            list(collect(a.window, &WindowDimension::stride)),
            list(collect(a.window, &WindowDimension::base_dilation)),
            list(collect(a.window, &WindowDimension::window_dilation)), padding_of(a.window));
    }
    std::string operator()(const SelectAndScatterAttributes& a) const {
        return fmt::format("window_dimensions = {}, window_strides = {}, padding = {}",
                           list(collect(a.window, &WindowDimension::size)),
                           list(collect(a.window, &WindowDimension::stride)), padding_of(a.window));
    }
    std::string operator()(const AllReduceAttributes&) const {
        return replica_groups(1, cores, 0, 1);
    }
    std::string operator()(const DynamicSliceAttributes& a) const {
        return "slice_sizes = " + list(a.sizes);
    }
    std::string operator()(const BatchNormAttributes& a) const {
        return fmt::format("epsilon = {} : f32, feature_index = {}",
                           floating(a.epsilon, DType::f32), number(a.feature_dimension));
    }
    std::string operator()(const GetResultAttributes&) const { return {}; }
    std::string operator()(const CompositeAttributes& a) const {
        std::vector<std::string> numbers;
        for (const double value : a.numbers)
            numbers.push_back(floating(value, DType::f64) + " : f64");
        return fmt::format(
            "name = \"slipway.{}\", composite_attributes = {{numbers = [{}]}}, version = 1 : i32",
            a.name, fmt::join(numbers, ", "));
    }
};

}    // namespace

std::string type_of(const Shape& shape) {
    std::string text = "tensor<";
    for (const std::int64_t extent : shape.dims)
        text += fmt::format("{}x", extent);
    return text + std::string(element_type(shape.dtype)) + ">";
}

std::string scalar(double value, DType dtype) {
    std::string text = fmt::format("{:.0f}", value);
    if (is_floating(dtype)) text = floating(value, dtype);
    if (dtype == DType::pred) text = value != 0 ? "true" : "false";
    return fmt::format("dense<{}> : {}", text, type_of({dtype, {}}));
}

std::string list(const Dims& dims) {
    if (dims.empty()) return "array<i64>";
    return fmt::format("array<i64: {}>", fmt::join(dims, ", "));
}

std::string attributes_of(const Node& node, int cores) {
    return std::visit(WriteAttributes{node, cores}, node.attributes);
}

std::string groups_of_blocks(int cores, int block) {
    return replica_groups(cores / block, block, block, 1);
}

std::string groups_across_blocks(int cores, int block) {
    return replica_groups(block, cores / block, 1, block);
}

std::string name_of(const Node& node) {
    return node.op == OpCode::scatter_add ? "scatter" : std::string(slipway::name_of(node.op));
}

}    // namespace slipway::stablehlo
