#include "executor/graph/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <map>
#include <sstream>

#include "api/base/error.h"
#include "executor/graph/op_table.h"
#include "executor/tensor/find_dtype.h"

// Text is read line by line, and each node is made by the same function that a trace calls, so that
// shape rules and constraints check it; what a rule rejects is told with its line. A table says how
// many operands an operation has and how its attributes are read.
namespace slipway {

namespace {

[[noreturn]] void refuse(const std::string& message) {
    throw Error(ErrorCode::invalid_argument, message);
}

std::int64_t parse_number(const std::string& text) {
    std::int64_t number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc() || end != text.data() + text.size()) refuse("no number: " + text);
    return number;
}

double parse_real(const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0') refuse("no number: " + text);
    return value;
}

/// "[1,2]" without its brackets, by item.
std::vector<std::string> parse_items(const std::string& text) {
    if (text.size() < 2 || text.front() != '[' || text.back() != ']') refuse("no list: " + text);
    std::vector<std::string> items;
    std::istringstream stream(text.substr(1, text.size() - 2));
    for (std::string item; std::getline(stream, item, ',');)
        items.push_back(item);
    return items;
}

Dims parse_dims(const std::string& text) {
    Dims dims;
    for (const std::string& item : parse_items(text))
        dims.push_back(parse_number(item));
    return dims;
}

DType parse_dtype(const std::string& text) {
    if (const auto dtype = find_dtype(text)) return *dtype;
    refuse("no dtype: " + text);
}

Shape parse_shape(const std::string& text) {
    const std::size_t open = text.find('[');
    if (open == std::string::npos) refuse("no shape: " + text);
    return {parse_dtype(text.substr(0, open)), parse_dims(text.substr(open))};
}

Placement parse_placement(const std::string& text) {
    if (text == "replicated") return Placement::replicated;
    if (text == "per_core") return Placement::per_core;
    refuse("no placement: " + text);
}

/// The words after the operands, "name=value".
struct Words {
    std::map<std::string, std::string> values;

    const std::string& text(const std::string& name) const {
        const auto found = values.find(name);
        if (found == values.end()) refuse(name + " is missing");
        return found->second;
    }
    Dims dims(const std::string& name) const {
        return values.contains(name) ? parse_dims(text(name)) : Dims();
    }
    std::int64_t number(const std::string& name) const { return parse_number(text(name)); }
    std::int64_t number(const std::string& name, std::int64_t usual) const {
        return values.contains(name) ? number(name) : usual;
    }
    std::optional<DType> dtype(const std::string& name) const {
        if (!values.contains(name)) return {};
        return parse_dtype(text(name));
    }
    template <class Value, std::size_t count>
    Value one_of(const std::string& name, const std::array<std::string_view, count>& names) const {
        const auto found = std::ranges::find(names, text(name));
        if (found == names.end()) refuse(fmt::format("no {}: {}", name, text(name)));
        return Value(found - names.begin());
    }
    Reduction reduction() const {
        return one_of<Reduction>("reduction",
                                 std::array<std::string_view, 3>{"add", "maximum", "minimum"});
    }
    std::vector<WindowDimension> window() const {
        std::vector<WindowDimension> window;
        for (const std::int64_t size : dims("size"))
            window.push_back({.size = size});
        const auto fill = [&](const char* name, std::int64_t WindowDimension::*field) {
            const Dims list = dims(name);
            if (list.size() > window.size()) refuse(std::string(name) + " is longer than size");
            for (std::size_t i = 0; i < list.size(); ++i)
                window[i].*field = list[i];
        };
        fill("stride", &WindowDimension::stride);
        fill("padding_low", &WindowDimension::padding_low);
        fill("padding_high", &WindowDimension::padding_high);
        fill("base_dilation", &WindowDimension::base_dilation);
        fill("window_dilation", &WindowDimension::window_dilation);
        return window;
    }
};

using AttributesReader = Attributes (*)(const Words& words);

Attributes read_dot(const Words& w) {
    return DotAttributes{w.dims("lhs_batching"), w.dims("rhs_batching"), w.dims("lhs_contracting"),
                         w.dims("rhs_contracting"), w.dtype("result")};
}

Attributes read_convolution(const Words& w) {
    return ConvolutionAttributes{w.window(),
                                 w.dims("input_layout"),
                                 w.dims("kernel_layout"),
                                 w.dims("output_layout"),
                                 w.number("feature_groups", 1),
                                 w.number("batch_groups", 1),
                                 w.dtype("result")};
}

Attributes read_compare(const Words& w) {
    return CompareAttributes{w.one_of<Comparison>(
        "direction", std::array<std::string_view, 6>{"eq", "ne", "lt", "le", "gt", "ge"})};
}

Attributes read_batch_norm(const Words& w) {
    return BatchNormAttributes{parse_real(w.text("epsilon")), w.number("feature_dimension")};
}

Attributes read_composite(const Words& w) {
    CompositeAttributes a{w.text("name"), {}};
    if (!w.values.contains("numbers")) return a;
    for (const std::string& item : parse_items(w.text("numbers")))
        a.numbers.push_back(parse_real(item));
    return a;
}

constexpr std::size_t any_count = ~std::size_t{0};

/// How an op is read: how many operands it has, and its attributes. One in neither table has
/// one operand and no attributes.
struct OpReader {
    OpCode op;
    std::size_t operands;
    AttributesReader attributes = [](const Words&) -> Attributes { return NoAttributes{}; };
};

/// The ops without attributes.
const std::vector<OpReader>& plain_readers() {
    using enum OpCode;
    static const std::vector<OpReader> table{
        {dynamic_update_slice, any_count},
        {gather, 2},
        {scatter_add, 3},
        {add, 2},
        {subtract, 2},
        {multiply, 2},
        {divide, 2},
        {maximum, 2},
        {minimum, 2},
        {power, 2},
        {remainder, 2},
        {logical_and, 2},
        {logical_or, 2},
        {logical_xor, 2},
        {shift_left, 2},
        {shift_right_logical, 2},
        {select, 3},
        {clamp, 3},
    };
    return table;
}

/// The ops with attributes.
const std::vector<OpReader>& readers() {
    using enum OpCode;
    static const std::vector<OpReader> table{
        {input, 0, [](const Words& w) -> Attributes { return InputAttributes{w.text("name")}; }},
        {constant, 0,
         [](const Words& w) -> Attributes {
             return ConstantAttributes{parse_real(w.text("value"))};
         }},
        {iota, 0,
         [](const Words& w) -> Attributes { return IotaAttributes{w.number("dimension")}; }},
        {broadcast_in_dim, 1,
         [](const Words& w) -> Attributes { return BroadcastAttributes{w.dims("dimensions")}; }},
        {transpose, 1,
         [](const Words& w) -> Attributes { return TransposeAttributes{w.dims("permutation")}; }},
        {slice, 1,
         [](const Words& w) -> Attributes {
             return SliceAttributes{w.dims("start"), w.dims("limit"), w.dims("strides")};
         }},
        {pad, 2,
         [](const Words& w) -> Attributes {
             return PadAttributes{w.dims("low"), w.dims("high"), w.dims("interior")};
         }},
        {concatenate, any_count,
         [](const Words& w) -> Attributes { return ConcatenateAttributes{w.number("dimension")}; }},
        {reverse, 1,
         [](const Words& w) -> Attributes { return ReverseAttributes{w.dims("dimensions")}; }},
        {dynamic_slice, any_count,
         [](const Words& w) -> Attributes { return DynamicSliceAttributes{w.dims("sizes")}; }},
        {compare, 2, read_compare},
        {dot_general, 2, read_dot},
        {convolution, 2, read_convolution},
        {reduce, 1,
         [](const Words& w) -> Attributes {
             return ReduceAttributes{w.dims("dimensions"), w.reduction()};
         }},
        {reduce_window, 1,
         [](const Words& w) -> Attributes {
             return ReduceWindowAttributes{w.window(), w.reduction()};
         }},
        {select_and_scatter, 2,
         [](const Words& w) -> Attributes { return SelectAndScatterAttributes{w.window()}; }},
        {batch_norm_training, 3, read_batch_norm},
        {batch_norm_inference, 5, read_batch_norm},
        {batch_norm_grad, 5, read_batch_norm},
        {get_result, 1,
         [](const Words& w) -> Attributes { return GetResultAttributes{w.number("index")}; }},
        {composite, any_count, read_composite},
        {all_reduce, 1,
         [](const Words& w) -> Attributes {
             return AllReduceAttributes{w.reduction(), w.dtype("exchange")};
         }},
    };
    return table;
}

OpReader reader_of(const std::string& name) {
    const auto row = std::ranges::find(op_table(), name, &OpRow::name);
    if (row == op_table().end()) refuse("no op: " + name);
    for (const auto* table : {&plain_readers(), &readers()}) {
        const auto reader = std::ranges::find(*table, row->op, &OpReader::op);
        if (reader != table->end()) return *reader;
    }
    return {row->op, 1};
}

class Parser {
public:
    void read_line(const std::string& line) {
        std::istringstream stream(line);
        std::string first;
        stream >> first;
        if (first == "output") {
            graph_.outputs.push_back(value(next(stream)));
        } else if (first == "donate") {
            read_donation(stream);
        } else {
            read_node(first, stream);
        }
    }

    Graph take() { return std::move(graph_); }

private:
    static std::string next(std::istringstream& stream) {
        std::string word;
        if (!(stream >> word)) refuse("the line ends too early");
        return word;
    }

    const Tensor& value(const std::string& name) const {
        const auto found = values_.find(name);
        if (found == values_.end()) refuse("no value: " + name);
        return found->second;
    }

    /// "donate output 0 to %1"
    void read_donation(std::istringstream& stream) {
        next(stream);
        const std::int64_t output = parse_number(next(stream));
        next(stream);
        const auto input = std::ranges::find(graph_.inputs, value(next(stream)));
        if (input == graph_.inputs.end()) refuse("only inputs are donated");
        graph_.donations.push_back(
            {std::size_t(output), std::size_t(input - graph_.inputs.begin())});
    }

    /// "%2 = add f32[2] per_core %0 %1 name=value…"
    void read_node(const std::string& name, std::istringstream& stream) {
        if (next(stream) != "=") refuse("= is missing");
        const OpReader reader = reader_of(next(stream));
        NodeRequest request{.op = reader.op,
                            .attributes = NoAttributes{},
                            .operands = {},
                            .result = parse_shape(next(stream)),
                            .placement = parse_placement(next(stream))};
        Words words;
        for (std::string word; stream >> word;)
            read_word(word, stream, request, words);
        if (reader.operands != any_count && request.operands.size() != reader.operands)
            refuse(fmt::format("{} operands are wanted", reader.operands));
        request.attributes = reader.attributes(words);
        const Shape shape = request.result;
        const Placement placement = request.placement;
        const Tensor made = make_node(std::move(request));
        if (made.shape() != shape || made.node().placement != placement)
            refuse(fmt::format("{} is {}", name, to_string(made.shape())));
        values_.insert_or_assign(name, made);
        if (reader.op == OpCode::input) graph_.inputs.push_back(made);
    }

    void read_word(const std::string& word, std::istringstream& stream, NodeRequest& request,
                   Words& words) const {
        if (word.front() == '%') {
            request.operands.push_back(value(word));
            return;
        }
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos) refuse("no attribute: " + word);
        std::string text = word.substr(equals + 1);
        std::string rest;
        // An input's name may hold blanks; it is the last word.
        if (request.op == OpCode::input && std::getline(stream, rest)) text += rest;
        words.values.emplace(word.substr(0, equals), std::move(text));
    }

    Graph graph_;
    std::map<std::string, Tensor> values_;
};

}    // namespace

Graph parse_graph(std::string_view text) {
    Parser parser;
    std::istringstream stream{std::string(text)};
    int number = 0;
    for (std::string line; std::getline(stream, line);) {
        ++number;
        if (line.empty()) continue;
        try {
            // What a rule refuses is told with its line.
            parser.read_line(line);
        } catch (const Error& problem) {
            throw Error(problem.code(), fmt::format("line {}: {}", number, problem.what()));
        }
    }
    return parser.take();
}

}    // namespace slipway
