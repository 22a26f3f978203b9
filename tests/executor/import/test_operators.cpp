// Goal: each operator of the table computes what torch does, and so do the gradients.
// Method: reference/operators.json, by torch in float64; the naive evaluator on the lowered graph.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "executor/autodiff/gradients.h"
#include "executor/import/lowering.h"
#include "executor/import/operator_table.h"
#include "executor/reference/evaluate.h"

namespace slipway::importer {
namespace {

using Json = nlohmann::json;

/// One order of sums in f32 beside f64: the values are sums of at most some hundred terms near 1.
constexpr double operator_tolerance = 2e-5;

const Json& cases() {
    static const Json all = Json::parse(
        std::ifstream(SLIPWAY_SOURCE_DIR "/tests/executor/import/reference/operators.json"));
    return all;
}

Argument argument_of(const Json& json) {
    if (json.is_null()) return {};
    if (json.is_boolean()) return {json.get<bool>()};
    if (json.is_number_integer()) return {json.get<std::int64_t>()};
    if (json.is_array()) {
        std::vector<Argument> list;
        for (const Json& one : json)
            list.push_back(argument_of(one));
        return {std::move(list)};
    }
    if (json.contains("floating")) return {std::stod(json.at("floating").get<std::string>())};
    if (json.contains("text")) return {json.at("text").get<std::string>()};
    return {ValueName{json.at("value").get<std::string>()}};
}

Array array_of_case(const Json& json) {
    const std::string type = json.at("dtype");
    Array array(Shape{type == "f32" ? DType::f32 : (type == "pred" ? DType::pred : DType::i32),
                      json.at("dims").get<Dims>()});
    const auto values = json.at("values").get<std::vector<double>>();
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (type == "f32") array.as<float>()[i] = float(values[i]);
        if (type == "pred") array.as<bool>()[i] = values[i] != 0;
        if (type == "i32") array.as<std::int32_t>()[i] = std::int32_t(values[i]);
    }
    return array;
}

std::vector<double> numbers_of(const Array& array) {
    std::vector<double> numbers;
    for (std::size_t i = 0; i < std::size_t(array.element_count()); ++i) {
        if (array.shape().dtype == DType::f32) numbers.push_back(array.as<float>()[i]);
        if (array.shape().dtype == DType::pred) numbers.push_back(array.as<bool>()[i]);
        if (array.shape().dtype == DType::i32) numbers.push_back(array.as<std::int32_t>()[i]);
    }
    return numbers;
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    double largest = 1;
    for (const double value : expected)
        largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i], expected[i], operator_tolerance * largest) << "element " << i;
}

struct Computed {
    std::vector<Array> results, gradients;    ///< of floating tensors
};

/// The results, and the gradients of their sum, element i times cos(i).
Computed computed(const Json& one) {
    Network network{.source = "a test", .inputs = {}, .nodes = {}, .outputs = {}};
    NetworkNode node{
        .op = one.at("op"), .name = "node", .module = "", .arguments = {}, .results = {}};
    for (const Json& argument : one.at("arguments"))
        node.arguments.push_back({argument.at(0), argument_of(argument.at(1))});
    for (std::size_t i = 0; i < one.at("results").size(); ++i) {
        node.results.push_back("r" + std::to_string(i));
        network.outputs.push_back({ValueName{node.results.back()}});
    }
    network.nodes.push_back(std::move(node));

    Graph graph;
    std::vector<ReferenceValue> values;
    std::unordered_map<std::string, Value> inputs;
    std::vector<Tensor> floating;
    for (std::size_t i = 0; i < one.at("tensors").size(); ++i) {
        const Array array = array_of_case(one.at("tensors")[i]);
        graph.inputs.push_back(input(array.shape(), Placement::replicated, "t"));
        values.push_back({array});
        inputs["t" + std::to_string(i)] = {graph.inputs.back()};
        if (is_floating(array.shape().dtype)) floating.push_back(graph.inputs.back());
    }
    ForwardPass pass;
    Trace trace{.pass = pass, .batch = 2, .highest_dropout = 0};
    const std::vector<Value> outputs = lower_network(network, trace, std::move(inputs));
    Tensor loss = constant(0);
    for (const Value& output : outputs) {
        const Tensor result = *output.tensor();
        graph.outputs.push_back(result);
        if (!is_floating(result.dtype())) continue;
        const std::int64_t count = result.shape().element_count();
        const Tensor weights = cosine(convert(iota({DType::i32, {count}}, 0), DType::f32));
        loss = loss + reduce(reshape(result, {count}) * weights, {0}, Reduction::add);
    }
    for (const Tensor& gradient : gradients(loss, floating))
        graph.outputs.push_back(gradient);
    const auto found = evaluate(graph, values, 1);
    Computed all;
    for (std::size_t i = 0; i < found.size(); ++i)
        (i < outputs.size() ? all.results : all.gradients).push_back(found[i][0]);
    return all;
}

TEST(Operators, compute_what_torch_does) {
    for (std::size_t number = 0; number < cases().size(); ++number) {
        const Json& one = cases()[number];
        SCOPED_TRACE("case " + std::to_string(number) + ": " + one.at("op").get<std::string>() +
                     " " + one.at("arguments").dump());
        Computed found;
        ASSERT_NO_THROW(
            try { found = computed(one); } catch (const std::exception& error) {
                ADD_FAILURE() << error.what();
                throw;
            });
        for (std::size_t i = 0; i < one.at("results").size(); ++i) {
            const Json& expected = one.at("results")[i];
            EXPECT_EQ(found.results[i].shape().dims, expected.at("dims").get<Dims>());
            expect_near(numbers_of(found.results[i]), expected.at("values"));
        }
        std::size_t floating = 0;
        for (std::size_t i = 0; i < one.at("tensors").size(); ++i) {
            if (one.at("tensors")[i].at("dtype") != "f32") continue;
            const Array& gradient = found.gradients[floating++];
            if (!one.at("gradients")[i].is_null())
                expect_near(numbers_of(gradient), one.at("gradients")[i]);
        }
    }
}

/// Rows whose meaning is not that of single values: what tests them stands beside.
const std::set<std::string_view> tested_elsewhere{
    "aten.batch_norm",    // test_imported_network.cpp
    "aten.bernoulli",     // test_lowering.cpp: draws
    "aten.dropout",
    "aten.feature_dropout",
    "aten.alias",    // test_lowering.cpp: views and writes
    "aten.copy",
    "aten.fill",
    "aten.zero",
    "aten.detach",
    "aten._assert_async",    // nothing is traced for them
    "aten._assert_scalar",
    "aten._assert_tensor_metadata",
    "aten.sym_constrain_range_for_size",
};

bool is_another_name(std::string_view name) {
    static const std::set<std::string_view> names{"aten._log_softmax",
                                                  "aten._softmax",
                                                  "aten._unsafe_view",
                                                  "aten.adaptive_avg_pool1d",
                                                  "aten.adaptive_max_pool1d",
                                                  "aten.bitwise_and",
                                                  "aten.bitwise_not",
                                                  "aten.bitwise_xor",
                                                  "aten.__and__",
                                                  "aten.__or__",
                                                  "aten.__xor__",
                                                  "aten.clamp_max",
                                                  "aten.clone",
                                                  "aten.concat",
                                                  "aten.contiguous",
                                                  "aten.empty",
                                                  "aten.empty_like",
                                                  "aten.expand_as",
                                                  "aten.full",
                                                  "aten.greater",
                                                  "aten.isinf",
                                                  "aten.isnan",
                                                  "aten.less",
                                                  "aten.lift_fresh_copy",
                                                  "aten.logical_or",
                                                  "aten.logical_xor",
                                                  "aten.max.other",
                                                  "aten.min.other",
                                                  "aten.mv",
                                                  "aten.new_empty",
                                                  "aten.new_full",
                                                  "aten.new_ones",
                                                  "aten.new_zeros",
                                                  "aten.norm",
                                                  "aten.numel",
                                                  "aten.ones",
                                                  "aten.outer",
                                                  "aten.reshape_as",
                                                  "aten.scalar_tensor",
                                                  "aten.swapaxes",
                                                  "aten.sym_numel",
                                                  "aten.sym_size",
                                                  "aten.to",
                                                  "aten.type_as",
                                                  "aten.view_as",
                                                  "aten.zeros",
                                                  "aten.zeros_like"};
    return names.contains(name) || !name.starts_with("aten.");
}

TEST(Operators, each_row_has_a_case) {
    std::set<const OperatorRow*> covered;
    for (const Json& one : cases())
        covered.insert(find_operator(one.at("op").get<std::string>()));
    for (const OperatorRow& row : operator_table())
        if (!tested_elsewhere.contains(row.name) && !is_another_name(row.name))
            EXPECT_TRUE(covered.contains(&row)) << row.name;
}

TEST(Operators, are_found_by_overload_and_by_the_form_that_writes) {
    EXPECT_EQ(find_operator("aten.add_.Tensor"), find_operator("aten.add.Scalar"));
    EXPECT_NE(find_operator("aten.max.other"), find_operator("aten.max.dim"));
    EXPECT_TRUE(writes_operand("aten.relu_.default"));
    EXPECT_FALSE(writes_operand("aten.__and__.Tensor"));
    EXPECT_EQ(find_operator("aten.nonzero.default"), nullptr);
}

TEST(Operators, are_listed_in_the_documentation) {
    const std::string path = SLIPWAY_SOURCE_DIR "/docs/own-networks.md";
    std::ifstream file(path);
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    std::string list, line;
    for (const OperatorRow& row : operator_table()) {
        if (!row.name.starts_with("aten.")) continue;
        const std::string word = fmt::format("`{}`", row.name.substr(5));
        if (line.size() + word.size() > 136) list += std::exchange(line, "") + "\n";
        line += (line.empty() ? "" : " ") + word;
    }
    list += line + "\n";
    const std::string begin = "<!-- operators: written by the tests -->\n";
    const std::size_t from = page.find(begin) + begin.size(), to = page.find("<!-- end -->");
    ASSERT_NE(to, std::string::npos);
    if (page.substr(from, to - from) == list) return;
    if (std::getenv("SLIPWAY_UPDATE") != nullptr) {
        std::ofstream(path) << page.substr(0, from) << list << page.substr(to);
        return;
    }
    ADD_FAILURE() << path << " is older than the table; run this test with SLIPWAY_UPDATE=1";
}

}    // namespace
}    // namespace slipway::importer
