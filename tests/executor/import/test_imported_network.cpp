// Goal: an imported network computes, learns and is stored as torch's module is.
// Method: files of reference/make_programs.py, torch's float64 numbers beside the naive evaluator.
#include "executor/import/imported_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "api/base/error.h"
#include "executor/autodiff/gradients.h"
#include "executor/import/exported_program.h"
#include "executor/reference/evaluate.h"
#include "tests/executor/import/programs.h"

namespace slipway::importer {
namespace {

using testing::HasSubstr;

/// f32 beside f64: sums of some dozen terms.
constexpr double tolerance = 1e-5;

struct Built {
    ParameterList parameters;
    ImportedNetwork network;
};

Built build(const std::string& name, const ImportedNetwork::Options& options) {
    const ExportedProgram program = read_exported_program(program_path(name));
    Built built;
    built.network =
        ImportedNetwork::create(built.parameters, std::make_shared<const Network>(program.network),
                                program.values, options);
    return built;
}

const ImportedNetwork::Options convolutional{
    .sample_dims = {3, 5, 6}, .outputs = 4, .batch_size = 4};

std::string message_of(const std::string& name, const ImportedNetwork::Options& options) {
    try {
        build(name, options);
    } catch (const Error& error) {
        return error.what();
    }
    return "built";
}

/// Binds the list's values, and the batch.
struct Bound {
    Graph graph;
    std::vector<ReferenceValue> values;
    Tensor x;

    Bound(const ParameterList& parameters, const Array& features) {
        for (const auto* list : {&parameters.all(), &parameters.statistics()})
            for (const Parameter& parameter : *list) {
                graph.inputs.push_back(parameter.input);
                values.push_back({parameter.value});
            }
        x = input(features.shape(), Placement::replicated, "x");
        graph.inputs.push_back(x);
        values.push_back({features});
    }
};

void expect_near(const Array& found, const nlohmann::json& expected, const std::string& what) {
    const Array numbers = numbers_of_json(expected);
    ASSERT_EQ(found.shape().dims, numbers.shape().dims) << what;
    double largest = 1;
    for (const float value : numbers.as<float>())
        largest = std::max(largest, double(std::abs(value)));
    for (std::size_t i = 0; i < numbers.as<float>().size(); ++i)
        EXPECT_NEAR(found.as<float>()[i], numbers.as<float>()[i], tolerance * largest) << what << i;
}

TEST(ImportedNetwork, evaluates_as_torch_does) {
    for (const auto& [name, options] :
         {std::pair<std::string, ImportedNetwork::Options>{"convolutional", convolutional},
          {"dropping", {.sample_dims = {6}, .outputs = 3, .batch_size = 4}}}) {
        const Built built = build(name, options);
        Bound bound(built.parameters, numbers_of_json(torch_numbers(name).at("features")));
        ForwardPass pass;
        bound.graph.outputs = {built.network(bound.x, pass)};
        expect_near(evaluate(bound.graph, bound.values, 1)[0][0],
                    torch_numbers(name).at("evaluated"), name);
    }
}

TEST(ImportedNetwork, has_torchs_gradients_and_statistics) {
    const auto& expected = torch_numbers("convolutional");
    const Built built = build("convolutional", convolutional);
    Bound bound(built.parameters, numbers_of_json(expected.at("features")));
    ForwardPass pass{.training = true, .core_share = constant(1)};
    const Tensor logits = built.network(bound.x, pass);
    const Tensor weights = cosine(convert(iota({DType::i32, {16}}, 0), DType::f32));
    const Tensor loss = reduce(reshape(logits, {16}) * weights, {0}, Reduction::add);
    std::vector<Tensor> trained;
    std::vector<std::string> names;
    for (const Parameter& parameter : built.parameters.all())
        if (parameter.trains) {
            trained.push_back(parameter.input);
            names.push_back(parameter.name);
        }
    bound.graph.outputs = {logits};
    for (const Tensor& gradient : gradients(loss, trained))
        bound.graph.outputs.push_back(gradient);
    for (const Tensor& statistic : new_statistics(built.parameters, pass))
        bound.graph.outputs.push_back(statistic);
    const auto found = evaluate(bound.graph, bound.values, 1);
    expect_near(found[0][0], expected.at("trained"), "logits");
    for (std::size_t i = 0; i < names.size(); ++i)
        expect_near(found[1 + i][0], expected.at("gradients").at(names[i]), names[i]);
    for (std::size_t i = 0; i < built.parameters.statistics().size(); ++i) {
        const std::string& name = built.parameters.statistics()[i].name;
        expect_near(found[1 + names.size() + i][0], expected.at("statistics").at(name), name);
    }
}

TEST(ImportedNetwork, trains_what_the_module_trains) {
    const Built built = build("convolutional", convolutional);
    std::vector<std::string> trained, fixed, constants;
    for (const Parameter& parameter : built.parameters.all())
        (parameter.trains ? trained : (parameter.is_constant ? constants : fixed))
            .push_back(parameter.name);
    EXPECT_THAT(trained, testing::UnorderedElementsAre("conv.weight", "bn.weight", "bn.bias",
                                                       "encode.weight", "decode.bias", "fc.weight",
                                                       "fc.bias"));
    EXPECT_THAT(fixed, testing::UnorderedElementsAre("frozen.weight", "frozen.bias", "scale"));
    EXPECT_THAT(constants, testing::ElementsAre("order"));
    ASSERT_EQ(built.parameters.aliases().size(), 1U);
    EXPECT_EQ(built.parameters.aliases()[0].name, "decode.weight");
    EXPECT_EQ(built.network.head, "fc");
}

TEST(ImportedNetwork, has_the_names_of_the_state_dict) {
    const Built built = build("convolutional", convolutional);
    std::vector<std::string> names;
    for (const auto* list : {&built.parameters.all(), &built.parameters.statistics()})
        for (const Parameter& parameter : *list)
            if (!parameter.is_constant) names.push_back(parameter.name);
    for (const ParameterAlias& alias : built.parameters.aliases())
        names.push_back(alias.name);
    for (const BatchCount& count : built.parameters.batch_counts())
        names.push_back(count.name);
    std::ranges::sort(names);
    EXPECT_EQ(names,
              torch_numbers("convolutional").at("state_dict").get<std::vector<std::string>>());
}

TEST(ImportedNetwork, knows_its_highest_dropout) {
    EXPECT_DOUBLE_EQ(
        build("dropping", {.sample_dims = {6}, .outputs = 3, .batch_size = 4}).network.dropout,
        0.5);
    EXPECT_EQ(build("convolutional", convolutional).network.dropout, 0);
}

TEST(ImportedNetwork, that_was_exported_for_evaluation_says_so) {
    EXPECT_THAT(
        build("evaluating", {.sample_dims = {4}, .outputs = 2, .batch_size = 4}).network.warning,
        HasSubstr("1 batch norm keeps its statistics as they are, and 1 dropout does nothing"));
    EXPECT_EQ(build("points", {.sample_dims = {4}, .outputs = 2, .batch_size = 4}).network.warning,
              "");
}

TEST(ImportedNetwork, that_does_not_fit_says_what_to_change) {
    EXPECT_THAT(
        message_of("convolutional", {.sample_dims = {3, 8, 8}, .outputs = 4, .batch_size = 4}),
        testing::AllOf(HasSubstr("samples of [3, 5, 6]"), HasSubstr("[3, 8, 8]"),
                       HasSubstr("data.image_size")));
    EXPECT_THAT(
        message_of("convolutional", {.sample_dims = {3, 5, 6}, .outputs = 7, .batch_size = 4}),
        testing::AllOf(HasSubstr("[4, 4]"), HasSubstr("7 outputs")));
    EXPECT_THAT(message_of("baked", {.sample_dims = {6}, .outputs = 3, .batch_size = 4}),
                testing::AllOf(HasSubstr("a batch of 4"), HasSubstr("dynamic_shapes")));
}

TEST(ImportedNetwork, names_all_operators_that_are_missing) {
    EXPECT_THAT(message_of("selecting", {.sample_dims = {6}, .outputs = 3, .batch_size = 6}),
                testing::AllOf(HasSubstr("aten.linalg_qr.default (1 node"),
                               HasSubstr("aten.special_i0.default (2 nodes"),
                               HasSubstr("run_decompositions")));
}

}    // namespace
}    // namespace slipway::importer
