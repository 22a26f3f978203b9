#include "tests/executor/ops/op_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "api/base/error.h"
#include "executor/graph/composite_table.h"
#include "executor/graph/ops.h"

namespace slipway {

namespace {

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;)
        words.push_back(word);
    return words;
}

Dims parse_list(const std::string& text) {
    Dims list;
    std::istringstream stream(text);
    for (std::string item; std::getline(stream, item, ',');)
        list.push_back(std::stoll(item));
    return list;
}

DType parse_dtype(const std::string& text) {
    for (const DType dtype : {DType::pred, DType::u8, DType::u32, DType::i32, DType::i64,
                              DType::bf16, DType::f32, DType::f64}) {
        if (to_string(dtype) == text) return dtype;
    }
    throw Error(ErrorCode::invalid_argument, "no dtype: " + text);
}

Shape parse_shape(const std::string& text) {
    const std::size_t open = text.find('[');
    if (open == std::string::npos || text.back() != ']')
        throw Error(ErrorCode::invalid_argument, "no shape: " + text);
    return {parse_dtype(text.substr(0, open)),
            parse_list(text.substr(open + 1, text.size() - open - 2))};
}

double parse_number(const std::string& text) {
    if (text == "true") return 1;
    if (text == "false") return 0;
    return std::stod(text);
}

void set_element(Array& array, std::size_t i, const std::string& text) {
    switch (array.shape().dtype) {
        case DType::pred:
            array.as<bool>()[i] = parse_number(text) != 0;
            break;
        case DType::u8:
            array.as<std::uint8_t>()[i] = std::uint8_t(std::stoul(text));
            break;
        case DType::u32:
            array.as<std::uint32_t>()[i] = std::uint32_t(std::stoull(text, nullptr, 0));
            break;
        case DType::i32:
            array.as<std::int32_t>()[i] = std::stoi(text);
            break;
        case DType::i64:
            array.as<std::int64_t>()[i] = std::stoll(text);
            break;
        case DType::bf16:
            array.as<BFloat16>()[i] = BFloat16(parse_number(text));
            break;
        case DType::f32:
            array.as<float>()[i] = float(parse_number(text));
            break;
        case DType::f64:
            array.as<double>()[i] = parse_number(text);
            break;
    }
}

Array parse_array(const Shape& shape, std::vector<std::string> words) {
    Array array(shape);
    const auto count = std::size_t(array.element_count());
    if (words.size() == 2 && words[0] == "repeat")
        words = std::vector<std::string>(count, words[1]);
    if (words.size() != count) {
        throw Error(
            ErrorCode::invalid_argument,
            fmt::format("{} needs {} values, got {}", to_string(shape), count, words.size()));
    }
    for (std::size_t i = 0; i < count; ++i)
        set_element(array, i, words[i]);
    return array;
}

/// words: name, [per_core], shape, values…
CaseValue parse_value(const std::vector<std::string>& words) {
    CaseValue value{words.at(0), Placement::replicated, {}};
    std::size_t next = 1;
    if (words.at(next) == "per_core") {
        value.placement = Placement::per_core;
        ++next;
    }
    const Shape shape = parse_shape(words.at(next++));
    for (auto begin = words.begin() + std::ptrdiff_t(next);;) {
        const auto end = std::find(begin, words.end(), "|");
        value.arrays.push_back(parse_array(shape, {begin, end}));
        if (end == words.end()) return value;
        begin = end + 1;
    }
}

/// A call in the making: operands looked up, attributes by name.
struct Call {
    std::vector<Tensor> operands;
    std::map<std::string, std::string> attributes;

    const Tensor& x(std::size_t i = 0) const { return operands.at(i); }
    std::string text(const std::string& name, const std::string& usual = "") const {
        const auto found = attributes.find(name);
        return found == attributes.end() ? usual : found->second;
    }
    Dims list(const std::string& name) const { return parse_list(text(name)); }
    std::int64_t number(const std::string& name, std::int64_t usual = 0) const {
        return std::stoll(text(name, std::to_string(usual)));
    }
    double real(const std::string& name) const { return parse_number(text(name, "0")); }
    bool flag(const std::string& name) const { return text(name, "false") == "true"; }
    DType dtype() const { return parse_dtype(text("dtype", "f32")); }
    /// The type of a product's result; the operands' where it is not named.
    std::optional<DType> result_dtype() const {
        const std::string name = text("result_dtype");
        return name.empty() ? std::nullopt : std::optional(parse_dtype(name));
    }
    /// The operands from `first` on.
    std::vector<Tensor> rest(std::size_t first) const {
        return {operands.begin() + std::ptrdiff_t(first), operands.end()};
    }
    /// Operand i, or an empty handle where there are not so many.
    Tensor optional_x(std::size_t i) const { return i < operands.size() ? operands[i] : Tensor(); }
    Reduction reduction() const {
        static const std::map<std::string, Reduction> names{{"add", Reduction::add},
                                                            {"maximum", Reduction::maximum},
                                                            {"minimum", Reduction::minimum}};
        return names.at(text("reduction", "add"));
    }
    std::optional<DType> exchange() const {
        const std::string name = text("exchange");
        return name.empty() ? std::nullopt : std::optional(parse_dtype(name));
    }
    Comparison direction() const {
        static const std::map<std::string, Comparison> names{
            {"eq", Comparison::eq}, {"ne", Comparison::ne}, {"lt", Comparison::lt},
            {"le", Comparison::le}, {"gt", Comparison::gt}, {"ge", Comparison::ge}};
        return names.at(text("direction"));
    }
    std::vector<WindowDimension> window() const {
        std::vector<WindowDimension> window;
        for (const std::int64_t size : list("size"))
            window.push_back({.size = size});
        const auto fill = [&](const char* name, std::int64_t WindowDimension::*field) {
            const Dims values = list(name);
            for (std::size_t i = 0; i < values.size(); ++i)
                window.at(i).*field = values[i];
        };
        fill("stride", &WindowDimension::stride);
        fill("padding_low", &WindowDimension::padding_low);
        fill("padding_high", &WindowDimension::padding_high);
        fill("base_dilation", &WindowDimension::base_dilation);
        fill("window_dilation", &WindowDimension::window_dilation);
        return window;
    }
};

ConvolutionAttributes convolution_attributes(const Call& c) {
    return {.window = c.window(),
            .input_layout = c.list("input_layout"),
            .kernel_layout = c.list("kernel_layout"),
            .output_layout = c.list("output_layout"),
            .feature_groups = c.number("feature_groups", 1),
            .batch_groups = c.number("batch_groups", 1),
            .result = c.result_dtype()};
}

DotAttributes dot_attributes(const Call& c) {
    return {c.list("lhs_batching"), c.list("rhs_batching"), c.list("lhs_contracting"),
            c.list("rhs_contracting"), c.result_dtype()};
}

Shape shape_attribute(const Call& c) {
    return {c.dtype(), c.list("dims")};
}

using Builder = Tensor (*)(const Call& call);

template <Tensor (*function)(const Tensor&)>
Tensor unary(const Call& c) {
    return function(c.x());
}

template <Tensor (*function)(const Tensor&, const Tensor&)>
Tensor binary(const Call& c) {
    return function(c.x(0), c.x(1));
}

/// Functions of operands alone.
const std::map<std::string, Builder>& plain_builders() {
    static const std::map<std::string, Builder> table{
        {"stop_gradient", unary<stop_gradient>},
        {"negate", unary<negate>},
        {"abs", unary<abs>},
        {"sign", unary<sign>},
        {"optimization_barrier", unary<optimization_barrier>},
        {"exponential_minus_one", unary<exponential_minus_one>},
        {"log_plus_one", unary<log_plus_one>},
        {"erf", unary<erf>},
        {"sine", unary<sine>},
        {"cosine", unary<cosine>},
        {"is_finite", unary<is_finite>},
        {"logical_not", unary<logical_not>},
        {"logical_and", binary<logical_and>},
        {"logical_or", binary<logical_or>},
        {"logical_xor", binary<logical_xor>},
        {"shift_left", binary<shift_left>},
        {"shift_right_logical", binary<shift_right_logical>},
        {"remainder", binary<remainder>},
        {"gather", binary<gather>},
        {"embedding", binary<embedding>},
        {"softmax", unary<softmax>},
        {"cross_entropy", binary<cross_entropy>},
        {"binary_cross_entropy_with_logits", binary<binary_cross_entropy_with_logits>},
        {"exponential", unary<exponential>},
        {"log", unary<log>},
        {"sqrt", unary<sqrt>},
        {"rsqrt", unary<rsqrt>},
        {"tanh", unary<tanh>},
        {"logistic", unary<logistic>},
        {"floor", unary<floor>},
        {"add", binary<add>},
        {"subtract", binary<subtract>},
        {"multiply", binary<multiply>},
        {"divide", binary<divide>},
        {"maximum", binary<maximum>},
        {"minimum", binary<minimum>},
        {"power", binary<power>},
        {"matmul", binary<matmul>},
        {"relu", unary<relu>},
        {"log_softmax", unary<log_softmax>},
        {"argmax", unary<argmax>},
    };
    return table;
}

/// Functions with attributes.
const std::map<std::string, Builder>& builders() {
    static const std::map<std::string, Builder> table{
        {"input",
         [](const Call& c) { return input(shape_attribute(c), Placement::replicated, ""); }},
        {"constant", [](const Call& c) { return constant(std::stod(c.text("value")), c.dtype()); }},
        {"iota", [](const Call& c) { return iota(shape_attribute(c), c.number("dimension")); }},
        {"broadcast_in_dim",
         [](const Call& c) {
             return broadcast_in_dim(c.x(), c.list("dims"), c.list("dimensions"));
         }},
        {"broadcast", [](const Call& c) { return broadcast(c.x(), c.list("dims")); }},
        {"reshape", [](const Call& c) { return reshape(c.x(), c.list("dims")); }},
        {"transpose", [](const Call& c) { return transpose(c.x(), c.list("permutation")); }},
        {"slice",
         [](const Call& c) {
             return slice(c.x(), c.list("start"), c.list("limit"), c.list("strides"));
         }},
        {"pad",
         [](const Call& c) {
             return pad(c.x(), std::stod(c.text("value", "0")),
                        {c.list("low"), c.list("high"), c.list("interior")});
         }},
        {"concatenate",
         [](const Call& c) { return concatenate(c.operands, c.number("dimension")); }},
        {"reverse", [](const Call& c) { return reverse(c.x(), c.list("dimensions")); }},
        {"convert", [](const Call& c) { return convert(c.x(), c.dtype()); }},
        {"compare", [](const Call& c) { return compare(c.x(0), c.x(1), c.direction()); }},
        {"select", [](const Call& c) { return select(c.x(0), c.x(1), c.x(2)); }},
        {"dot_general",
         [](const Call& c) { return dot_general(c.x(0), c.x(1), dot_attributes(c)); }},
        {"convolution",
         [](const Call& c) { return convolution(c.x(0), c.x(1), convolution_attributes(c)); }},
        {"convolution_2d",
         [](const Call& c) {
             return convolution_2d(c.x(0), c.x(1), c.number("stride", 1), c.number("padding"));
         }},
        {"reduce",
         [](const Call& c) { return reduce(c.x(), c.list("dimensions"), c.reduction()); }},
        {"reduce_window",
         [](const Call& c) { return reduce_window(c.x(), c.window(), c.reduction()); }},
        {"select_and_scatter",
         [](const Call& c) { return select_and_scatter(c.x(0), c.x(1), c.window()); }},
        {"max_pool_2d",
         [](const Call& c) { return max_pool_2d(c.x(), c.number("size"), c.number("stride")); }},
        {"average_pool_2d",
         [](const Call& c) {
             return average_pool_2d(c.x(), c.number("size"), c.number("stride"));
         }},
        {"all_reduce",
         [](const Call& c) { return all_reduce(c.x(), c.reduction(), c.exchange()); }},
        {"one_hot", [](const Call& c) { return one_hot(c.x(), c.number("classes"), c.dtype()); }},
    };
    return table;
}

SgdUpdate sgd_of(const Call& c) {
    const bool has_velocity = c.operands.size() > 4;
    const std::size_t scalars = has_velocity ? 3 : 2;
    return sgd_update(c.x(0), c.x(1), has_velocity ? c.x(2) : Tensor(),
                      {.learning_rate = c.x(scalars),
                       .weight_decay = c.x(scalars + 1),
                       .momentum = c.optional_x(scalars + 2)},
                      c.flag("nesterov"));
}

AdamUpdate adam_of(const Call& c) {
    return adam_update(c.x(0), c.x(1), c.x(2), c.x(3),
                       {.beta1 = c.x(4),
                        .one_minus_beta1 = c.x(5),
                        .beta2 = c.x(6),
                        .one_minus_beta2 = c.x(7),
                        .epsilon = c.x(8),
                        .step_size = c.x(9),
                        .inverse_sqrt_bias2 = c.x(10),
                        .weight_decay = c.x(11),
                        .learning_rate = c.x(12)},
                       c.flag("decoupled"));
}

/// Any composite by its name: for those that only gradients make, and for broken ones.
Tensor composite_of(const Call& c) {
    std::vector<double> numbers;
    std::istringstream stream(c.text("numbers"));
    for (std::string item; std::getline(stream, item, ',');)
        numbers.push_back(std::stod(item));
    return make_composite(c.text("name"), c.operands, numbers);
}

/// Functions that make part of a network, of several results, or over all cores.
const std::map<std::string, Builder>& larger_builders() {
    static const std::map<std::string, Builder> table{
        {"dynamic_slice",
         [](const Call& c) { return dynamic_slice(c.x(), c.rest(1), c.list("sizes")); }},
        {"dynamic_update_slice",
         [](const Call& c) { return dynamic_update_slice(c.x(0), c.x(1), c.rest(2)); }},
        {"scatter_add", [](const Call& c) { return scatter_add(c.x(0), c.x(1), c.x(2)); }},
        {"bitcast_convert", [](const Call& c) { return bitcast_convert(c.x(), c.dtype()); }},
        {"clamp", [](const Call& c) { return clamp(c.x(0), c.x(1), c.x(2)); }},
        {"get_result", [](const Call& c) { return get_result(c.x(), c.number("index")); }},
        {"batch_norm_training",
         [](const Call& c) {
             return batch_norm_training(c.x(0), c.x(1), c.x(2), c.real("epsilon"),
                                        c.number("feature_dimension"))
                 .y;
         }},
        {"batch_norm_inference",
         [](const Call& c) {
             return batch_norm_inference(c.x(0), c.x(1), c.x(2), c.x(3), c.x(4), c.real("epsilon"),
                                         c.number("feature_dimension"));
         }},
        {"batch_norm_grad",
         [](const Call& c) {
             return batch_norm_grad(c.x(0), c.x(1), c.x(2), c.x(3), c.x(4), c.real("epsilon"),
                                    c.number("feature_dimension"))
                 .dx;
         }},
        {"batch_norm_relu",
         [](const Call& c) {
             return batch_norm_relu(c.x(0), c.x(1), c.x(2), c.real("epsilon"),
                                    c.number("feature_dimension"))
                 .y;
         }},
        {"layer_norm",
         [](const Call& c) { return layer_norm(c.x(0), c.x(1), c.x(2), c.real("epsilon")); }},
        {"gelu", [](const Call& c) { return gelu(c.x(), c.flag("tanh_approximation")); }},
        {"dropout",
         [](const Call& c) {
             return dropout(c.x(0), c.x(1), c.x(2), std::uint32_t(c.number("site")), c.x(3));
         }},
        {"linear", [](const Call& c) { return linear(c.x(0), c.x(1), c.optional_x(2)); }},
        {"attention",
         [](const Call& c) {
             return attention(c.x(0), c.x(1), c.x(2), c.real("scale"), c.flag("causal"),
                              c.optional_x(3));
         }},
        {"sgd_update", [](const Call& c) { return sgd_of(c).parameter; }},
        {"adam_update", [](const Call& c) { return adam_of(c).parameter; }},
        {"clip_by_global_norm",
         [](const Call& c) {
             return clip_by_global_norm({c.operands.begin(), c.operands.end() - 1},
                                        c.operands.back())
                 .gradients[0];
         }},
        {"composite", composite_of},
    };
    return table;
}

Builder builder_of(const std::string& function) {
    for (const auto* table : {&plain_builders(), &builders(), &larger_builders()})
        if (const auto found = table->find(function); found != table->end()) return found->second;
    throw Error(ErrorCode::invalid_argument, "no function: " + function);
}

double element(const Array& array, std::size_t i) {
    switch (array.shape().dtype) {
        case DType::pred:
            return array.as<bool>()[i];
        case DType::u8:
            return array.as<std::uint8_t>()[i];
        case DType::u32:
            return array.as<std::uint32_t>()[i];
        case DType::i32:
            return array.as<std::int32_t>()[i];
        case DType::i64:
            return double(array.as<std::int64_t>()[i]);
        case DType::bf16:
            return array.as<BFloat16>()[i];
        case DType::f32:
            return array.as<float>()[i];
        case DType::f64:
            break;
    }
    return array.as<double>()[i];
}

void add_line(std::vector<OpCase>& cases, const std::vector<std::string>& words) {
    const std::string& first = words.at(0);
    if (first == "case") {
        cases.push_back({});
        cases.back().name = words.at(1);
        cases.back().constraint = words.size() > 2 ? words[2] : "";
    } else if (first == "call") {
        cases.at(cases.size() - 1).call = {words.begin() + 1, words.end()};
    } else if (first == "error") {
        cases.at(cases.size() - 1).error = words.at(1);
    } else if (first == "y") {
        cases.at(cases.size() - 1).expected = parse_value(words);
    } else {
        cases.at(cases.size() - 1).inputs.push_back(parse_value(words));
    }
}

/// The file's lines with their numbers, comments and blanks gone, continued lines joined.
std::vector<std::pair<int, std::string>> statements_of(const std::filesystem::path& file) {
    std::ifstream stream(file);
    std::vector<std::pair<int, std::string>> statements;
    int number = 0;
    for (std::string line; std::getline(stream, line);) {
        ++number;
        line = line.substr(0, line.find('#'));
        if (words_of(line).empty()) continue;
        if (line[0] == ' ' && !statements.empty()) {
            statements.back().second += line;
        } else {
            statements.emplace_back(number, line);
        }
    }
    return statements;
}

}    // namespace

std::filesystem::path op_case_folder() {
    return std::filesystem::path(SLIPWAY_SOURCE_DIR) / "tests/executor/ops";
}

std::vector<std::filesystem::path> op_case_files() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(op_case_folder()))
        if (entry.path().extension() == ".case") files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

std::vector<OpCase> read_op_cases(const std::filesystem::path& file) {
    std::vector<OpCase> cases;
    for (const auto& [number, text] : statements_of(file)) {
        try {
            add_line(cases, words_of(text));
            if (cases.back().line == 0) cases.back().line = number;
            cases.back().file = file.filename();
        } catch (const std::exception& problem) {
            throw Error(ErrorCode::invalid_argument,
                        fmt::format("{}:{}: {}", file.filename().string(), number, problem.what()));
        }
    }
    return cases;
}

Graph build(const OpCase& op_case) {
    Graph graph;
    std::map<std::string, Tensor> by_name;
    for (const CaseValue& given : op_case.inputs) {
        graph.inputs.push_back(input(given.arrays[0].shape(), given.placement, given.name));
        by_name.emplace(given.name, graph.inputs.back());
    }
    Call call;
    for (std::size_t i = 1; i < op_case.call.size(); ++i) {
        const std::string& word = op_case.call[i];
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos) {
            call.operands.push_back(by_name.at(word));
        } else {
            call.attributes.emplace(word.substr(0, equals), word.substr(equals + 1));
        }
    }
    Tensor result = builder_of(op_case.call.at(0))(call);
    if (const std::int64_t index = call.number("result"); index > 0)
        result = get_result(result, index);
    graph.outputs = {result};
    return graph;
}

std::string difference(const Array& actual, const Array& expected, double tolerance) {
    if (actual.shape() != expected.shape()) {
        return fmt::format("{} instead of {}", to_string(actual.shape()),
                           to_string(expected.shape()));
    }
    for (std::size_t i = 0; i < std::size_t(actual.element_count()); ++i) {
        const double x = element(actual, i);
        const double y = element(expected, i);
        const bool are_equal = x == y || (std::isnan(x) && std::isnan(y));
        const double allowed =
            is_floating(actual.shape().dtype) ? tolerance * std::max(1.0, std::abs(y)) : 0;
        if (!are_equal && !(std::abs(x - y) <= allowed))
            return fmt::format("element {}: {} instead of {}", i, x, y);
    }
    return {};
}

}    // namespace slipway
