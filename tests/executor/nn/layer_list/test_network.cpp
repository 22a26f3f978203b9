// Goal: a layer-list model is the torch network of the same modules: names and shapes of its state
// dict, logits, loss, gradients, running statistics.
// Method: reference/cases.json on both sides; reference/layer_list.json, written by
// reference/make_layer_list.py; the naive evaluator runs ours.
#include "executor/nn/layer_list/network.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "api/spec/tables.h"
#include "executor/autodiff/gradients.h"
#include "executor/graph/print.h"
#include "executor/nn/layer_list/categorical_columns.h"
#include "executor/nn/loss.h"
#include "executor/passes/passes.h"
#include "executor/reference/evaluate.h"
#include "tests/executor/nn/torch_numbers.h"

namespace slipway {
namespace {

constexpr std::int64_t batch = 4, classes = 10;

nlohmann::json read(const std::string& file) {
    const std::string folder = SLIPWAY_SOURCE_DIR "/tests/executor/nn/layer_list/reference/";
    return nlohmann::json::parse(std::ifstream(folder + file));
}

std::vector<LayerSpec> layers_of(const nlohmann::json& json) {
    std::vector<Problem> problems;
    std::vector<LayerSpec> layers(json.size());
    const Reader at(problems, layer_table());
    for (std::size_t i = 0; i < json.size(); ++i)
        layer_table().read(json[i], layers[i], at.at(i));
    judge_layers(layers, at);
    for (const Problem& problem : problems)
        ADD_FAILURE() << problem.message;
    return layers;
}

nlohmann::json names_of(const ParameterList& parameters) {
    nlohmann::json names = nlohmann::json::object();
    for (const auto* list : {&parameters.all(), &parameters.statistics()})
        for (const Parameter& parameter : *list)
            names[parameter.name] = parameter.input.dims();
    for (const BatchCount& count : parameters.batch_counts())
        names[count.name] = nlohmann::json::array();
    for (const ParameterAlias& alias : parameters.aliases())
        names[alias.name] = names.at(alias.parameter);
    return names;
}

/// A training pass of a case: its network, and a graph of what torch was asked for.
struct Traced {
    ParameterList parameters;
    ForwardPass pass{.training = true, .core_share = constant(1), .dropout = {}, .updates = {}};
    Graph graph;    ///< gradients…, statistics…, logits, loss
    std::vector<ReferenceValue> values;

    explicit Traced(const nlohmann::json& chosen) {
        if (chosen.contains("tie"))
            for (const auto& [one, other] :
                 chosen.at("tie").get<std::vector<std::pair<std::string, std::string>>>())
                parameters.tie(one, other);
        const auto dims = chosen.at("sample").get<Dims>();
        const auto columns = chosen.value("columns", std::vector<std::string>{});
        Init init(1);
        const auto network =
            LayerListModel::create(parameters, init, layers_of(chosen.at("layers")),
                                   {.sample_dims = dims,
                                    .outputs = classes,
                                    .batch_size = batch,
                                    .column_names = columns});
        set_weights(parameters);
        for (const auto* list : {&parameters.all(), &parameters.statistics()})
            for (const Parameter& parameter : *list)
                add_input(parameter.input, parameter.value);
        Dims features{batch};
        features.insert(features.end(), dims.begin(), dims.end());
        const Tensor logits = network(input("features", features_of(chosen, features)), pass);
        const Tensor labels = input("labels", integers("labels", {batch}, 0, classes));
        const Tensor loss = cross_entropy_sum(logits, labels) * constant(1.0 / batch);
        graph.outputs = gradients(loss, parameters.inputs());
        for (const ForwardPass::StatisticUpdate& update : pass.updates)
            graph.outputs.push_back(update.value);
        graph.outputs.push_back(logits);
        graph.outputs.push_back(loss);
    }

    static Array features_of(const nlohmann::json& chosen, const Dims& dims) {
        if (!chosen.contains("codes")) return reals("features", dims);
        Array codes = integers("features", dims, 0, chosen.at("codes").get<std::int64_t>());
        Array features(Shape{DType::f32, dims});
        std::ranges::copy(codes.as<std::int32_t>(), features.as<float>().begin());
        return features;
    }
    void add_input(const Tensor& tensor, const Array& value) {
        graph.inputs.push_back(tensor);
        values.push_back({value});
    }
    Tensor input(const char* name, const Array& value) {
        const Tensor tensor = slipway::input(value.shape(), Placement::replicated, name);
        add_input(tensor, value);
        return tensor;
    }
};

class Declared : public testing::TestWithParam<const char*> {};

TEST_P(Declared, computes_what_torch_does) {
    const nlohmann::json expected = read("layer_list.json").at(GetParam());
    const Traced traced(read("cases.json").at(GetParam()));
    EXPECT_EQ(names_of(traced.parameters), expected.at("names"))
        << nlohmann::json::diff(expected.at("names"), names_of(traced.parameters)).dump(1);

    const auto& parameters = traced.parameters.all();
    const auto& statistics = traced.parameters.statistics();
    const std::vector<ReferenceValue> outputs = evaluate(traced.graph, traced.values, 1);
    ASSERT_EQ(outputs.size(), parameters.size() + statistics.size() + 2);
    ASSERT_EQ(parameters.size(), expected.at("gradients").size());
    // f32 against f64: 1e-5 for logits and loss, 1e-4 of its own size for each gradient.
    std::size_t at = 0;
    for (const Parameter& parameter : parameters) {
        ASSERT_TRUE(expected.at("gradients").contains(parameter.name)) << parameter.name;
        expect_sums(parameter.name, outputs[at++][0], expected.at("gradients").at(parameter.name),
                    1e-4);
    }
    for (const Parameter& statistic : statistics)
        expect_sums(statistic.name, outputs[at++][0], expected.at("statistics").at(statistic.name),
                    1e-5);
    expect_sums("logits", outputs[at++][0], expected.at("logits"), 1e-5);
    EXPECT_NEAR(double(outputs[at][0].as<float>()[0]), expected.at("loss").get<double>(), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Cases, Declared,
                         testing::Values("images", "named_inputs", "tied", "codes"),
                         [](const auto& one) { return std::string(one.param); });

TEST(LayerListModel, initial_values_are_torchs) {
    ParameterList parameters;
    Init init(5);
    LayerListModel::create(parameters, init, layers_of(read("cases.json")["images"]["layers"]),
                           {.sample_dims = {4, 12, 10}, .outputs = classes, .batch_size = batch});
    for (const Parameter& parameter : parameters.all()) {
        const auto values = parameter.value.as<float>();
        const auto [least, most] = std::ranges::minmax(values);
        if (parameter.name == "stem.weight") {    // 6 x 2 x 3 x 3: 108 numbers of 18 for each
            EXPECT_LE(most, 1 / std::sqrt(18.0));
            EXPECT_GT(most, 0.8 / std::sqrt(18.0));
            EXPECT_LT(least, -0.8 / std::sqrt(18.0));
        } else if (parameter.name == "1.weight") {
            EXPECT_EQ(std::pair(least, most), std::pair(1.0F, 1.0F));
        } else if (parameter.name == "head.bias") {    // 8 inputs
            EXPECT_LE(most, 1 / std::sqrt(8.0));
            EXPECT_NE(least, most);
        }
    }
}

std::vector<Tensor> network_inputs(const ParameterList& parameters, const Tensor& x) {
    std::vector<Tensor> inputs = parameters.inputs();
    inputs.push_back(x);
    return inputs;
}

TEST(LayerListModel, an_embedding_begins_as_torchs) {
    ParameterList parameters;
    Init init(5);
    LayerListModel::create(parameters, init,
                           layers_of(nlohmann::json::parse(
                               R"([{"type":"embedding","num_embeddings":1000,
                                     "embedding_dim":10,"padding_idx":7},
                                    {"type":"flatten"}])")),
                           {.sample_dims = {1}, .outputs = 10});
    EXPECT_EQ(parameters.names(), std::vector<std::string>{"0.weight"});
    const auto values = parameters.all().at(0).value.as<float>();
    EXPECT_EQ(std::ranges::count(values.subspan(70, 10), 0.0F), 10);
    double squares = 0;
    for (const float value : values)
        squares += double(value) * double(value);
    // N(0, 1): the variance of 9990 numbers is within 0.06, four standard deviations, of 1.
    EXPECT_NEAR(squares / 9990, 1, 0.06);
}

// Goal: sinusoidal_position adds what PyTorch's tutorial on transformers does.
// Method: its formula in f64: pe[s, 2i] = sin(s exp(-2i ln(10000) / d)), pe[s, 2i + 1] its cosine;
// an odd width ends with a sine.
TEST(LayerListModel, positions_are_those_of_the_formula) {
    for (const std::int64_t width : {1, 6, 7}) {
        constexpr std::int64_t length = 300;
        ParameterList parameters;
        Init init = Init::zeros();
        const auto network = LayerListModel::create(
            parameters, init,
            layers_of(
                nlohmann::json::parse(R"([{"type":"sinusoidal_position"},{"type":"flatten"}])")),
            {.sample_dims = {length, width}, .outputs = length * width, .batch_size = batch});
        EXPECT_TRUE(parameters.all().empty());
        const Array given = reals("features", {batch, length, width});
        const Tensor x = input(given.shape(), Placement::per_core, "features");
        ForwardPass pass{.training = true, .core_share = constant(1), .dropout = {}, .updates = {}};
        const std::vector<ReferenceValue> inputs{{given}};
        const auto found = evaluate({{x}, {network(x, pass)}, {}}, inputs, 1);
        const auto numbers = found[0][0].as<float>();
        for (std::size_t at = 0; at < numbers.size(); ++at) {
            const auto column = std::int64_t(at) % width;
            const auto position = double(std::int64_t(at) / width % length);
            const double angle =
                position * std::exp(double(column / 2 * 2) * -(std::log(10000.0) / double(width)));
            const double code = column % 2 == 0 ? std::sin(angle) : std::cos(angle);
            // The angle has 24 bits: 300 is told from 300 + 2^-15.
            EXPECT_NEAR(double(numbers[at]), double(given.as<float>()[at]) + code, 5e-5) << at;
        }
    }
}

// Goal: in bf16, which has no 257, neither positions nor features are confused.
// Method: the numbers that a product reads, against those in f32, to one rounding of 1 + 1.
TEST(LayerListModel, positions_are_rounded_once_in_bf16_true) {
    constexpr std::int64_t length = 300, width = 300;
    ParameterList parameters;
    Init init = Init::zeros();
    const auto network = LayerListModel::create(
        parameters, init,
        layers_of(nlohmann::json::parse(R"([{"type":"sinusoidal_position"},{"type":"flatten"}])")),
        {.sample_dims = {length, width}, .outputs = length * width, .batch_size = 1});
    const Array given(Shape{DType::f32, {1, length, width}});
    const Array ones(Shape{DType::f32, {length * width, 1}});
    const Tensor x = input(given.shape(), Placement::per_core, "features");
    const Tensor w = input(ones.shape(), Placement::replicated, "w");
    ForwardPass pass{.training = true, .core_share = constant(1), .dropout = {}, .updates = {}};
    const Tensor y = network(x, pass);
    const Graph graph{{x, w}, {matmul(y, w), y}, {}};
    const std::vector<ReferenceValue> inputs{{given}, {ones}};
    const auto expected = evaluate(graph, inputs, 1);
    const Graph narrow = apply_precision(graph, {.precision = PrecisionPolicy::bf16_true});
    const auto found = evaluate(narrow, inputs, 1);
    double worst = 0;
    for (std::size_t at = 0; at < std::size_t(length * width); ++at)
        worst = std::max(worst, std::abs(double(found[1][0].as<float>()[at]) -
                                         double(expected[1][0].as<float>()[at])));
    EXPECT_LE(worst, 0x1p-8);
    EXPECT_GT(worst, 0) << "or this network is not computed in bf16";
}

TEST(LayerListModel, codes_are_found_wherever_embeddings_are) {
    const std::vector<std::string> names{"a", "b", "c"};
    const auto found = [&](const char* layers) {
        std::string said;
        for (const CategoricalColumn& code :
             categorical_columns(layers_of(nlohmann::json::parse(layers)), names.size(), names))
            said += fmt::format("{} < {} of {}; ", code.column, code.count, code.layer);
        return said;
    };
    EXPECT_EQ(found(R"([{"type":"linear"}])"), "");
    EXPECT_EQ(found(R"([{"type":"embedding","num_embeddings":4,"embedding_dim":2}])"),
              "0 < 4 of model.layers[0] (embedding); 1 < 4 of model.layers[0] (embedding); "
              "2 < 4 of model.layers[0] (embedding); ");
    EXPECT_EQ(
        found(R"([{"type":"columns","name":"two","columns":["c","a"]},
                  {"type":"residual","layers":[
                    {"type":"embedding","name":"e","num_embeddings":5,"embedding_dim":2}],
                   "shortcut":[{"type":"columns","columns":["a","b"]},
                    {"type":"embedding","num_embeddings":6,"embedding_dim":2}]},
                  {"type":"embedding","num_embeddings":7,"embedding_dim":2},
                  {"type":"columns","inputs":["two"],"columns":["c"]},
                  {"type":"embedding","num_embeddings":8,"embedding_dim":2},
                  {"type":"concat","inputs":["2","4"]}])"),
        "2 < 5 of model.layers[1].layers[0] (embedding \"e\"); "
        "0 < 5 of model.layers[1].layers[0] (embedding \"e\"); "
        "0 < 6 of model.layers[1].shortcut[1] (embedding); 2 < 8 of model.layers[4] (embedding); ")
        << "what a layer made is no column any more, and what two has no b";
}

TEST(LayerListModel, a_relu_behind_a_batch_norm_is_done_with_it) {
    const auto layers = layers_of(nlohmann::json::parse(
        R"([{"type":"batch_norm"},{"type":"relu"},{"type":"batch_norm","name":"twice"},
            {"type":"relu"},{"type":"add","inputs":["twice","3"]}])"));
    ParameterList parameters;
    Init init(1);
    const auto network =
        LayerListModel::create(parameters, init, layers,
                               {.sample_dims = {classes}, .outputs = classes, .batch_size = batch});
    ForwardPass pass{.training = true, .core_share = constant(1), .dropout = {}, .updates = {}};
    const Tensor x = input({DType::f32, {batch, classes}}, Placement::replicated, "x");
    const std::string text = print(
        {.inputs = network_inputs(parameters, x), .outputs = {network(x, pass)}, .donations = {}});
    EXPECT_NE(text.find("batch_norm_relu"), text.npos) << text;
    EXPECT_NE(text.find("batch_norm_training"), text.npos) << text;
}

// The input has the highest rate; of 2000 elements the share that is dropped is within 0.04, four
// standard deviations, of the layer's own.
TEST(LayerListModel, each_dropout_has_its_own_rate_and_mask) {
    const auto layers = layers_of(nlohmann::json::parse(
        R"([{"type":"dropout","name":"a","rate":0.25},{"type":"dropout","name":"b",
             "inputs":["input"]},{"type":"concat","inputs":["a","b"]},
            {"type":"dropout","rate":0}])"));
    ParameterList parameters;
    Init init(1);
    constexpr std::int64_t rows = 400, half = classes / 2;
    const auto network = LayerListModel::create(parameters, init, layers,
                                                {.sample_dims = {half}, .outputs = classes});
    EXPECT_EQ(network.dropout, 0.5);
    const DropoutInputs inputs{
        .rate = input({DType::f32, {}}, Placement::replicated, "rate"),
        .key = input({DType::u32, {2}}, Placement::replicated, "key"),
        .first_sample = input({DType::i32, {}}, Placement::replicated, "at")};
    const Tensor x = input({DType::f32, {rows, half}}, Placement::replicated, "x");
    ForwardPass training{.training = true, .dropout = inputs}, evaluation;
    const Graph graph{.inputs = {x, inputs.rate, inputs.key, inputs.first_sample},
                      .outputs = {network(x, training), network(x, evaluation)},
                      .donations = {}};
    const std::array<std::uint32_t, 2> key{3, 4};
    const std::vector<ReferenceValue> given{
        {filled({rows, half}, 1)},
        {filled({}, 0.5)},
        {array_of<std::uint32_t>({2}, key)},
        {array_of<std::int32_t>({}, std::array<std::int32_t, 1>{0})}};
    const auto outputs = evaluate(graph, given, 1);
    std::array<double, 2> dropped{};
    bool alike = true;
    const auto values = outputs[0][0].as<float>();
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t side = i % classes < half ? 0 : 1;
        dropped[side] += values[i] == 0 ? 1.0 / (rows * half) : 0;
        EXPECT_TRUE(values[i] == 0 || values[i] == (side == 0 ? 1 / 0.75F : 2.0F));
        if (side == 0) alike = alike && (values[i] == 0) == (values[i + half] == 0);
    }
    EXPECT_NEAR(dropped[0], 0.25, 0.04);
    EXPECT_NEAR(dropped[1], 0.5, 0.04);
    EXPECT_FALSE(alike);
    EXPECT_TRUE(std::ranges::all_of(outputs[1][0].as<float>(), [](float y) { return y == 1; }));
}

TEST(LayerListModel, a_tied_parameter_is_drawn_and_listed_once) {
    const nlohmann::json chosen = read("cases.json").at("tied");
    const Traced traced(chosen);
    EXPECT_EQ(traced.parameters.all().size(), 6U);
    EXPECT_EQ(traced.parameters.names().size(), 8U);
    EXPECT_EQ(traced.parameters.aliases().at(0).parameter, "0.weight");
    EXPECT_EQ(traced.parameters.aliases().at(0).name, "second.again.weight");
    EXPECT_EQ(traced.parameters.element_count(), 42 + 36 + 190);
}

}    // namespace
}    // namespace slipway
