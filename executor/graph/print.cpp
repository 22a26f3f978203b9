#include "executor/graph/print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <unordered_map>

#include "executor/graph/op_table.h"

namespace slipway {

namespace {

std::string_view to_string(Comparison direction) {
    constexpr std::string_view names[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    return names[std::size_t(direction)];
}

std::string_view to_string(Reduction reduction) {
    constexpr std::string_view names[] = {"add", "maximum", "minimum"};
    return names[std::size_t(reduction)];
}

/// Collects "name=value" words; numbers and lists that hold their default are left out.
class Words {
public:
    void add(std::string_view name, const Dims& dims) {
        if (!dims.empty()) word(name, fmt::format("[{}]", fmt::join(dims, ",")));
    }
    void add(std::string_view name, std::int64_t number, std::int64_t usual) {
        if (number != usual) word(name, fmt::to_string(number));
    }
    void word(std::string_view name, std::string_view value) {
        fmt::format_to(std::back_inserter(text_), "{}{}={}", text_.empty() ? "" : " ", name, value);
    }
    void add(const std::vector<WindowDimension>& window) {
        const auto list = [&](std::string_view name, std::int64_t WindowDimension::*field,
                              std::int64_t usual) {
            Dims values;
            bool is_usual = true;
            for (const WindowDimension& dimension : window) {
                values.push_back(dimension.*field);
                is_usual = is_usual && dimension.*field == usual;
            }
            if (!is_usual) add(name, values);
        };
        list("size", &WindowDimension::size, 0);
        list("stride", &WindowDimension::stride, 1);
        list("padding_low", &WindowDimension::padding_low, 0);
        list("padding_high", &WindowDimension::padding_high, 0);
        list("base_dilation", &WindowDimension::base_dilation, 1);
        list("window_dilation", &WindowDimension::window_dilation, 1);
    }
    void add(std::optional<DType> result) {
        if (result) word("result", slipway::to_string(*result));
    }
    std::string take() { return std::move(text_); }

private:
    std::string text_;
};

struct PrintAttributes {
    Words& words;

    void operator()(const NoAttributes&) const {}
    void operator()(const InputAttributes& a) const { words.word("name", a.name); }
    void operator()(const ConstantAttributes& a) const {
        words.word("value", fmt::to_string(a.value));
    }
    void operator()(const IotaAttributes& a) const { words.add("dimension", a.dimension, -1); }
    void operator()(const BroadcastAttributes& a) const { words.add("dimensions", a.dimensions); }
    void operator()(const TransposeAttributes& a) const { words.add("permutation", a.permutation); }
    void operator()(const SliceAttributes& a) const {
        words.add("start", a.start);
        words.add("limit", a.limit);
        words.add("strides", a.strides);
    }
    void operator()(const PadAttributes& a) const {
        words.add("low", a.low);
        words.add("high", a.high);
        words.add("interior", a.interior);
    }
    void operator()(const ConcatenateAttributes& a) const {
        words.add("dimension", a.dimension, -1);
    }
    void operator()(const ReverseAttributes& a) const { words.add("dimensions", a.dimensions); }
    void operator()(const CompareAttributes& a) const {
        words.word("direction", to_string(a.direction));
    }
    void operator()(const DotAttributes& a) const {
        words.add("lhs_batching", a.lhs_batching);
        words.add("rhs_batching", a.rhs_batching);
        words.add("lhs_contracting", a.lhs_contracting);
        words.add("rhs_contracting", a.rhs_contracting);
        words.add(a.result);
    }
    void operator()(const ConvolutionAttributes& a) const {
        words.add(a.window);
        words.add("input_layout", a.input_layout);
        words.add("kernel_layout", a.kernel_layout);
        words.add("output_layout", a.output_layout);
        words.add("feature_groups", a.feature_groups, 1);
        words.add("batch_groups", a.batch_groups, 1);
        words.add(a.result);
    }
    void operator()(const ReduceAttributes& a) const {
        words.word("reduction", to_string(a.reduction));
        words.add("dimensions", a.dimensions);
    }
    void operator()(const ReduceWindowAttributes& a) const {
        words.word("reduction", to_string(a.reduction));
        words.add(a.window);
    }
    void operator()(const SelectAndScatterAttributes& a) const { words.add(a.window); }
    void operator()(const AllReduceAttributes& a) const {
        words.word("reduction", to_string(a.reduction));
        if (a.exchange) words.word("exchange", to_string(*a.exchange));
    }
    void operator()(const DynamicSliceAttributes& a) const { words.add("sizes", a.sizes); }
    void operator()(const BatchNormAttributes& a) const {
        words.word("epsilon", fmt::to_string(a.epsilon));
        words.add("feature_dimension", a.feature_dimension, -1);
    }
    void operator()(const GetResultAttributes& a) const { words.add("index", a.index, -1); }
    void operator()(const CompositeAttributes& a) const {
        words.word("name", a.name);
        if (!a.numbers.empty())
            words.word("numbers", fmt::format("[{}]", fmt::join(a.numbers, ",")));
    }
};

}    // namespace

std::string print_attributes(const Attributes& attributes) {
    Words words;
    std::visit(PrintAttributes{words}, attributes);
    return words.take();
}

std::string print(const Graph& graph) {
    std::string text;
    auto out = std::back_inserter(text);
    std::unordered_map<const Node*, std::size_t> number;
    for (const Tensor& tensor : topological_order(graph)) {
        const Node& node = tensor.node();
        const std::size_t own = number.emplace(&node, number.size()).first->second;
        fmt::format_to(out, "%{} = {} {} {}", own, name_of(node.op), slipway::to_string(node.shape),
                       node.placement == Placement::per_core ? "per_core" : "replicated");
        for (const Tensor& operand : node.operands)
            fmt::format_to(out, " %{}", number.at(operand.get()));
        const std::string attributes = print_attributes(node.attributes);
        fmt::format_to(out, "{}{}\n", attributes.empty() ? "" : " ", attributes);
    }
    for (const Tensor& output : graph.outputs)
        fmt::format_to(out, "output %{}\n", number.at(output.get()));
    for (const Graph::Donation& donation : graph.donations)
        fmt::format_to(out, "donate output {} to %{}\n", donation.output,
                       number.at(graph.inputs.at(donation.input).get()));
    return text;
}

}    // namespace slipway
