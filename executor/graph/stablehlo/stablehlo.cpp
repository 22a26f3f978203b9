#include "executor/graph/stablehlo/stablehlo.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <iterator>
#include <limits>
#include <unordered_map>

#include "executor/graph/op_table.h"
#include "executor/graph/ops.h"
#include "executor/graph/stablehlo/attributes.h"
#include "executor/graph/stablehlo/erf_as_polynomial.h"

// Written in MLIR's generic form, which every version of the tools reads, with one function for the
// step. A composite is a stablehlo.composite whose decomposition is a function of its own, made
// from the table's rule. Values per core become the replicas of one module, so a sum over cores is
// an all_reduce with one group.
namespace slipway {

namespace {

using stablehlo::type_of;

/// The lowest or highest value, 0 for sums: what a reduction begins with.
std::string first_value(Reduction reduction, DType dtype) {
    if (reduction == Reduction::add) return stablehlo::scalar(0, dtype);
    const double sign = reduction == Reduction::maximum ? -1 : 1;
    const double infinity = std::numeric_limits<double>::infinity();
    if (is_floating(dtype)) return stablehlo::scalar(sign * infinity, dtype);
    struct Range {
        DType dtype;
        std::string_view lowest, highest;
    };
    constexpr std::array ranges{Range{DType::u8, "0", "255"}, Range{DType::u32, "0", "4294967295"},
                                Range{DType::i32, "-2147483648", "2147483647"},
                                Range{DType::i64, "-9223372036854775808", "9223372036854775807"}};
    for (const Range& range : ranges)
        if (range.dtype == dtype)
            return fmt::format("dense<{}> : {}", sign < 0 ? range.lowest : range.highest,
                               type_of({dtype, {}}));
    return {};
}

std::string_view combining_op(Reduction reduction) {
    constexpr std::string_view names[] = {"add", "maximum", "minimum"};
    return names[std::size_t(reduction)];
}

/// ({ ^bb0(%a, %b): return op(%a, %b) }).
std::string region(std::string_view op, DType dtype, std::string_view attributes = "") {
    const std::string type = type_of({dtype, {}});
    const std::string result = attributes.empty() ? type : type_of({DType::pred, {}});
    return fmt::format(
        "({{\n^bb0(%a: {0}, %b: {0}):\n%c = \"stablehlo.{1}\"(%a, %b) {{{3}}} : ({0}, {0}) -> {2}\n"
        "\"stablehlo.return\"(%c) : ({2}) -> ()\n}})",
        type, op, result, attributes);
}

/// Functions of the module; each composite adds one.
class Module {
public:
    explicit Module(int cores) : cores_(cores) {}

    void add_function(std::string_view name, std::string_view visibility,
                      std::span<const Tensor> arguments, std::span<const Tensor> results);
    std::string take() const {
        return fmt::format(
            "\"builtin.module\"() ({{\n{}}}) {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = "
            "{} "
            ": i32}} : () -> ()\n",
            text_, cores_);
    }
    /// A function of the composite's decomposition; its name.
    std::string add_decomposition(const Node& node);
    int cores() const { return cores_; }

private:
    int cores_;
    int decompositions_ = 0;
    std::string text_;
};

std::string types_of(std::span<const Tensor> tensors) {
    std::vector<std::string> types;
    for (const Tensor& tensor : tensors)
        types.push_back(type_of(tensor.shape()));
    return fmt::format("{}", fmt::join(types, ", "));
}

/// The lines of one function's body.
class Body {
public:
    explicit Body(Module& module) : module_(module) {}

    void name_argument(const Tensor& argument, std::string name) {
        names_.emplace(argument.get(), std::move(name));
    }
    const std::string& name_of(const Tensor& tensor) const { return names_.at(tensor.get()); }
    std::string names_of(std::span<const Tensor> tensors) const {
        std::vector<std::string> names;
        for (const Tensor& tensor : tensors)
            names.push_back(name_of(tensor));
        return fmt::format("{}", fmt::join(names, ", "));
    }
    void write_all(std::span<const Tensor> roots) {
        for (const Tensor& tensor : topological_order(roots))
            if (!names_.contains(tensor.get())) names_.emplace(tensor.get(), written(tensor));
    }
    void line(std::string_view text) { text_ += fmt::format("{}\n", text); }
    const std::string& text() const { return text_; }

private:
    std::string fresh() { return fmt::format("%{}", count_++); }

    /// Writes the node's lines; the name of its value.
    std::string written(const Tensor& tensor) {
        const Node& node = tensor.node();
        if (node.op == OpCode::stop_gradient) return name_of(node.operands[0]);
        if (node.op == OpCode::get_result) return further_result(node);
        if (node.op == OpCode::erf && node.shape.dtype != DType::f64) {
            const Tensor polynomial = erf_as_polynomial(node.operands[0]);
            kept_.push_back(polynomial);
            write_all({&polynomial, 1});
            return name_of(polynomial);
        }
        const auto* sum = std::get_if<AllReduceAttributes>(&node.attributes);
        if (sum != nullptr && sum->exchange && module_.cores() > exchange_cores)
            return rounded_sum(node);
        return written_op(node);
    }

    /// Over the cores of each host, and over the hosts; either is rounded. Hosts are whole.
    std::string rounded_sum(const Node& node) {
        const std::string type = type_of(node.shape);
        std::string value = name_of(node.operands[0]);
        for (const std::string& groups :
             {stablehlo::groups_of_blocks(module_.cores(), exchange_cores),
              stablehlo::groups_across_blocks(module_.cores(), exchange_cores)}) {
            const std::string sum = fresh(), rounded = fresh();
            line(fmt::format("{} = \"stablehlo.all_reduce\"({}) {} {{{}}} : ({}) -> {}", sum, value,
                             region("add", node.shape.dtype), groups, type, type));
            line(
                fmt::format("{} = \"stablehlo.reduce_precision\"({}) {{exponent_bits = 8 : i32, "
                            "mantissa_bits = 7 : i32}} : ({}) -> {}",
                            rounded, sum, type, type));
            value = rounded;
        }
        return value;
    }

    /// "%5#0" names the first of several, so this is "%5#1".
    std::string further_result(const Node& node) const {
        std::string name = name_of(node.operands[0]);
        name.resize(name.find('#'));
        return fmt::format("{}#{}", name, std::get<GetResultAttributes>(node.attributes).index);
    }

    std::string written_op(const Node& node) {
        std::string operands = names_of(node.operands), types = types_of(node.operands);
        std::string attributes = stablehlo::attributes_of(node, module_.cores());
        if (node.op == OpCode::composite)
            attributes += ", decomposition = @" + module_.add_decomposition(node);
        const std::string regions = regions_of(node, operands, types);
        std::string results = type_of(node.shape);
        for (const Shape& shape : node.more_shapes)
            results += ", " + type_of(shape);
        const std::size_t count = node.more_shapes.size() + 1;
        if (count > 1) results = "(" + results + ")";
        const std::string name = fresh();
        line(fmt::format("{}{} = \"{}.{}\"({}) {} {{{}}} : ({}) -> {}", name,
                         count > 1 ? fmt::format(":{}", count) : "",
                         node.op == OpCode::erf ? "chlo" : "stablehlo", stablehlo::name_of(node),
                         operands, regions, attributes, types, results));
        return count > 1 ? name + "#0" : name;
    }

    /// The regions of ops that have some; a reduction's first value becomes an operand.
    std::string regions_of(const Node& node, std::string& operands, std::string& types) {
        const DType dtype = node.shape.dtype;
        if (node.op == OpCode::scatter_add) return region("add", dtype);
        if (const auto* a = std::get_if<AllReduceAttributes>(&node.attributes))
            return region(combining_op(a->reduction), dtype);
        std::string regions;
        std::string first;
        if (const auto* reduce = std::get_if<ReduceAttributes>(&node.attributes)) {
            regions = region(combining_op(reduce->reduction), dtype);
            first = first_value(reduce->reduction, dtype);
        } else if (const auto* window = std::get_if<ReduceWindowAttributes>(&node.attributes)) {
            regions = region(combining_op(window->reduction), dtype);
            first = first_value(window->reduction, dtype);
        } else if (node.op == OpCode::select_and_scatter) {
            regions = region("compare", dtype,
                             "comparison_direction = #stablehlo<comparison_direction GE>");
            regions.pop_back();
            regions += ", " + region("add", dtype).substr(1);
            first = first_value(Reduction::add, dtype);
        }
        if (first.empty()) return {};
        const std::string name = fresh();
        const std::string type = type_of({dtype, {}});
        line(fmt::format("{} = \"stablehlo.constant\"() {{value = {}}} : () -> {}", name, first,
                         type));
        operands += ", " + name;
        types += ", " + type;
        return regions;
    }

    Module& module_;    // outlives the body: it asked for it
    std::unordered_map<const Node*, std::string> names_;
    std::vector<Tensor> kept_;    ///< nodes made here, so that their addresses stay theirs
    int count_ = 0;
    std::string text_;
};

void Module::add_function(std::string_view name, std::string_view visibility,
                          std::span<const Tensor> arguments, std::span<const Tensor> results) {
    Body body(*this);
    std::vector<std::string> parameters;
    for (const Tensor& argument : arguments) {
        const std::string parameter = fmt::format("%arg{}", parameters.size());
        body.name_argument(argument, parameter);
        parameters.push_back(parameter + ": " + type_of(argument.shape()));
    }
    body.write_all(results);
    text_ += fmt::format(
        "\"func.func\"() ({{\n^bb0({}):\n{}\"func.return\"({}) : ({}) -> ()\n}}) "
        "{{function_type = ({}) -> ({}), sym_name = \"{}\", sym_visibility = \"{}\"}} : () -> ()\n",
        fmt::join(parameters, ", "), body.text(), body.names_of(results), types_of(results),
        types_of(arguments), types_of(results), name, visibility);
}

std::string Module::add_decomposition(const Node& node) {
    std::vector<Tensor> arguments;
    for (const Tensor& operand : node.operands)
        arguments.push_back(input(operand.shape(), operand.node().placement, ""));
    const Node alone{node.op,        node.attributes, arguments,       node.shape,
                     node.placement, node.hash,       node.more_shapes};
    const std::vector<Tensor> results = row_of(node.op).decompose(alone);
    const std::string name =
        fmt::format("slipway.{}_{}", slipway::name_of(node), decompositions_++);
    add_function(name, "private", arguments, results);
    return name;
}

}    // namespace

std::string print_stablehlo(const Graph& graph, int cores) {
    Module module(cores);
    module.add_function("main", "public", graph.inputs, graph.outputs);
    return module.take();
}

}    // namespace slipway
