// Goal: writes reach what shares memory, draws depend on samples and not on cores, errors name
// nodes. Method: small networks written here, run by the naive evaluator.
#include "executor/import/lowering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/error.h"
#include "executor/reference/evaluate.h"

namespace slipway::importer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

NetworkNode node(const std::string& op, const std::string& name,
                 std::vector<NamedArgument> arguments) {
    return {.op = op,
            .name = name,
            .module = "block",
            .arguments = std::move(arguments),
            .results = {name}};
}

Argument value(const std::string& name) {
    return {ValueName{name}};
}

Network network_of(std::vector<NetworkNode> nodes, const std::string& output) {
    return {
        .source = "a test", .inputs = {}, .nodes = std::move(nodes), .outputs = {value(output)}};
}

/// The result for x = 0, 1, 2, … of these dims.
std::vector<float> result_of(const Network& network, const Dims& dims) {
    Array x(Shape{DType::f32, dims});
    for (std::size_t i = 0; i < std::size_t(x.element_count()); ++i)
        x.as<float>()[i] = float(i);
    Graph graph;
    graph.inputs = {input(x.shape(), Placement::replicated, "x")};
    ForwardPass pass;
    Trace trace{.pass = pass, .batch = dims[0], .highest_dropout = 0};
    const auto outputs = lower_network(network, trace, {{"x", {graph.inputs[0]}}});
    graph.outputs = {*outputs.at(0).tensor()};
    const std::vector<ReferenceValue> values{{x}};
    const Array found = evaluate(graph, values, 1)[0][0];
    return {found.as<float>().begin(), found.as<float>().end()};
}

std::string message_of(const Network& network) {
    try {
        result_of(network, {2, 2});
    } catch (const Error& error) {
        return error.what();
    }
    return "lowered";
}

TEST(Writes, change_their_operand_for_all_later_readers) {
    EXPECT_THAT(
        result_of(
            network_of({node("aten.add_.Tensor", "y", {{"self", value("x")}, {"other", {10.0}}}),
                        node("aten.mul.Tensor", "z", {{"self", value("x")}, {"other", {2.0}}})},
                       "z"),
            {2, 1}),
        ElementsAre(20, 22));
}

TEST(Writes, to_a_part_reach_the_whole) {
    const auto part = node("aten.slice.Tensor", "p",
                           {{"self", value("x")},
                            {"dim", {std::int64_t{1}}},
                            {"start", {std::int64_t{1}}},
                            {"end", {std::int64_t{2}}}});
    const auto row =
        node("aten.select.int", "r",
             {{"self", value("p")}, {"dim", {std::int64_t{0}}}, {"index", {std::int64_t{1}}}});
    const auto fill = node("aten.fill_.Scalar", "f", {{"self", value("r")}, {"value", {9.0}}});
    EXPECT_THAT(result_of(network_of({part, row, fill}, "x"), {2, 2}), ElementsAre(0, 1, 2, 9));
    EXPECT_THAT(result_of(network_of({part, row, fill}, "p"), {2, 2}), ElementsAre(1, 9));
}

TEST(Writes, reach_views_that_were_made_before) {
    const auto turned = node("aten.t.default", "t", {{"self", value("x")}});
    const auto flat =
        node("aten.view.default", "v",
             {{"self", value("x")}, {"size", {std::vector<Argument>{{std::int64_t{4}}}}}});
    const auto add = node("aten.add_.Tensor", "a", {{"self", value("t")}, {"other", {1.0}}});
    EXPECT_THAT(result_of(network_of({turned, flat, add}, "v"), {2, 2}), ElementsAre(1, 2, 3, 4));
    const auto again = node("aten.mul_.Tensor", "m", {{"self", value("a")}, {"other", {2.0}}});
    EXPECT_THAT(result_of(network_of({turned, flat, add, again}, "x"), {2, 2}),
                ElementsAre(2, 4, 6, 8));
}

TEST(Writes, to_a_copy_leave_the_operand) {
    EXPECT_THAT(result_of(network_of({node("aten.clone.default", "c", {{"self", value("x")}}),
                                      node("aten.zero_.default", "z", {{"self", value("c")}})},
                                     "x"),
                          {2, 1}),
                ElementsAre(0, 1));
}

TEST(Writes, that_cannot_be_followed_are_refused_by_name) {
    EXPECT_THAT(
        message_of(network_of(
            {node("aten.expand.default", "e",
                  {{"self", value("x")},
                   {"size", {std::vector<Argument>{{std::int64_t{2}}, {std::int64_t{2}}}}}}),
             node("aten.add_.Tensor", "a", {{"self", value("e")}, {"other", {1.0}}})},
            "a")),
        testing::AllOf(HasSubstr("node a"), HasSubstr("node e"), HasSubstr("in-place")));
}

TEST(Draws, are_their_mean_in_an_evaluation) {
    EXPECT_THAT(
        result_of(
            network_of({node("aten.bernoulli_.float", "b", {{"self", value("x")}, {"p", {0.75}}})},
                       "b"),
            {2, 1}),
        ElementsAre(0.75, 0.75));
    EXPECT_THAT(
        result_of(network_of({node("aten.dropout.default", "d",
                                   {{"input", value("x")}, {"p", {0.5}}, {"train", {true}}})},
                             "d"),
                  {2, 1}),
        ElementsAre(0, 1));
}

/// Masks of 8 samples, drawn by `parts` cores.
std::vector<float> drawn(const Network& network, const Dims& dims, int parts) {
    Dims part = dims;
    part[0] /= parts;
    Graph graph;
    std::vector<ReferenceValue> values;
    const auto add = [&](const Tensor& tensor, ReferenceValue value) {
        graph.inputs.push_back(tensor);
        values.push_back(std::move(value));
        return tensor;
    };
    Array ones(Shape{DType::f32, part});
    std::ranges::fill(ones.as<float>(), 1.0F);
    const Tensor x = add(input(ones.shape(), Placement::per_core, "x"),
                         ReferenceValue(std::size_t(parts), ones));
    ForwardPass pass{.training = true};
    pass.dropout.rate = add(input({DType::f32, {}}, Placement::replicated, "rate"),
                            {array_of<float>({}, std::vector{0.5F})});
    pass.dropout.key = add(input({DType::u32, {2}}, Placement::replicated, "key"),
                           {array_of<std::uint32_t>({2}, std::vector<std::uint32_t>{3, 4})});
    ReferenceValue firsts;
    for (int core = 0; core < parts; ++core)
        firsts.push_back(array_of<std::int32_t>({}, std::vector{std::int32_t(core * part[0])}));
    pass.dropout.first_sample = add(input({DType::i32, {}}, Placement::per_core, "first"), firsts);
    Trace trace{.pass = pass, .batch = part[0], .highest_dropout = 0.5};
    const auto outputs = lower_network(network, trace, {{"x", {x}}});
    graph.outputs = {*outputs.at(0).tensor()};
    std::vector<float> all;
    const auto found = evaluate(graph, values, parts);
    for (const Array& core : found[0])
        all.insert(all.end(), core.as<float>().begin(), core.as<float>().end());
    return all;
}

TEST(Draws, do_not_depend_on_the_number_of_cores) {
    for (const auto& [op, name] :
         {std::pair{"aten.bernoulli_.float", "self"}, std::pair{"aten.dropout.default", "input"}}) {
        const Network network =
            network_of({node(op, "d", {{name, value("x")}, {"p", {0.5}}, {"train", {true}}})}, "d");
        const auto alone = drawn(network, {8, 6}, 1);
        EXPECT_EQ(alone, drawn(network, {8, 6}, 4)) << op;
        EXPECT_THAT(alone, testing::Contains(0.0F));
        EXPECT_THAT(alone, testing::Contains(testing::Gt(0.9F)));
    }
}

TEST(Draws, of_a_bernoulli_are_zeros_and_ones_of_that_chance) {
    const Network network =
        network_of({node("aten.bernoulli_.float", "b", {{"self", value("x")}, {"p", {0.8}}})}, "b");
    double sum = 0;
    const auto all = drawn(network, {8, 500}, 1);
    for (const float one : all) {
        EXPECT_TRUE(one == 0 || one == 1);
        sum += one;
    }
    // 4,000 draws: five deviations of 0.0063.
    EXPECT_NEAR(sum / double(all.size()), 0.8, 0.032);
}

TEST(Lowering, names_the_node_that_does_not_fit) {
    EXPECT_THAT(
        message_of(network_of(
            {node("aten.matmul.default", "m", {{"self", value("x")}, {"other", value("absent")}})},
            "m")),
        testing::AllOf(HasSubstr("aten.matmul.default (node m of block)"), HasSubstr("absent")));
    EXPECT_THAT(
        message_of(network_of(
            {node("aten.view.default", "v",
                  {{"self", value("x")}, {"size", {std::vector<Argument>{{std::int64_t{3}}}}}})},
            "v")),
        testing::AllOf(HasSubstr("node v"), HasSubstr("[3]"), HasSubstr("4 elements")));
    EXPECT_THAT(
        message_of(network_of({node("aten.cat.default", "c", {{"tensors", value("x")}})}, "c")),
        HasSubstr("tensors must be a list"));
}

/// A program from an adversary: each is refused with its node, whatever it asks for.
TEST(Lowering, refuses_what_no_tensor_is) {
    const auto integers = [](std::vector<std::int64_t> numbers) {
        std::vector<Argument> list;
        for (const std::int64_t number : numbers)
            list.push_back({number});
        return Argument{std::move(list)};
    };
    const std::int64_t huge = std::int64_t{1} << 62;
    const std::vector<NetworkNode> nodes{
        node("aten.zeros.default", "n", {{"size", integers({huge, huge})}}),
        node("aten.zeros.default", "n", {{"size", integers({-1})}}),
        node("aten.view.default", "n",
             {{"self", value("x")}, {"size", integers({huge, huge, -1})}}),
        node("aten.expand.default", "n", {{"self", value("x")}, {"size", integers({huge, 2, 2})}}),
        node("aten.repeat.default", "n",
             {{"self", value("x")}, {"repeats", integers({huge, huge})}}),
        node("aten.arange.start_step", "n",
             {{"start", {std::int64_t{0}}},
              {"end", {std::int64_t{9}}},
              {"step", {std::int64_t{0}}}}),
        node("aten.arange.default", "n", {{"end", {huge}}}),
        node("aten.softmax.int", "n", {{"self", value("x")}, {"dim", {std::int64_t{2}}}}),
        node("aten.roll.default", "n",
             {{"self", value("x")}, {"shifts", integers({1})}, {"dims", integers({7})}}),
        node("aten.roll.default", "n", {{"self", value("x")}, {"shifts", integers({})}}),
        node("aten.conv2d.default", "n", {{"input", value("x")}, {"weight", value("x")}}),
        node("aten.conv_transpose2d.input", "n", {{"input", value("x")}, {"weight", value("x")}}),
        node("aten.batch_norm.default", "n", {{"input", value("x")}, {"training", {false}}}),
        node("aten.layer_norm.default", "n",
             {{"input", value("x")}, {"normalized_shape", integers({2, 2, 2})}}),
        node("aten.rms_norm.default", "n",
             {{"input", value("x")}, {"normalized_shape", integers({2, 2, 2})}}),
        node("aten.group_norm.default", "n",
             {{"input", value("x")}, {"num_groups", {std::int64_t{0}}}}),
        node("aten.channel_shuffle.default", "n",
             {{"self", value("x")}, {"groups", {std::int64_t{0}}}}),
        node("aten.pixel_shuffle.default", "n",
             {{"self", value("x")}, {"upscale_factor", {std::int64_t{0}}}}),
        node("aten.max_pool2d.default", "n",
             {{"self", value("x")}, {"kernel_size", integers({2})}}),
        node("aten.unfold.default", "n",
             {{"self", value("x")},
              {"dimension", {std::int64_t{0}}},
              {"size", {std::int64_t{1}}},
              {"step", {std::int64_t{0}}}}),
        node("aten.chunk.default", "n", {{"self", value("x")}, {"chunks", {std::int64_t{0}}}}),
        node("aten.split.Tensor", "n", {{"self", value("x")}, {"split_size", {std::int64_t{-1}}}}),
        node("aten.select.int", "n",
             {{"self", value("x")}, {"dim", {std::int64_t{0}}}, {"index", {std::int64_t{9}}}}),
        node("aten.gather.default", "n",
             {{"self", value("x")}, {"dim", {std::int64_t{5}}}, {"index", value("x")}}),
        node("aten.index.Tensor", "n",
             {{"self", value("x")}, {"indices", {std::vector<Argument>(5, value("x"))}}}),
        node("aten.embedding.default", "n", {{"weight", {2.0}}, {"indices", value("x")}}),
        node("aten.scaled_dot_product_attention.default", "n",
             {{"query", {1.0}}, {"key", {1.0}}, {"value", {1.0}}}),
        node("aten.lstm.input", "n",
             {{"input", value("x")},
              {"hx", {std::vector<Argument>{}}},
              {"params", {std::vector<Argument>{}}},
              {"num_layers", {std::int64_t{1}}}}),
        node("aten.dropout.default", "x", {{"input", value("x")}, {"p", {0.5}}}),
        node("_operator.floordiv", "n", {{"a", {std::int64_t{1}}}, {"b", {std::int64_t{0}}}}),
        node("_operator.pow", "n", {{"a", {std::int64_t{10}}}, {"b", {std::int64_t{99}}}})};
    for (const NetworkNode& one : nodes)
        EXPECT_THAT(message_of(network_of({one}, one.name)), HasSubstr(one.op)) << one.op;
}

TEST(Lowering, ends_for_views_of_views_without_end) {
    std::vector<NetworkNode> nodes;
    std::string last = "x";
    for (int i = 0; i < 2000; ++i) {
        nodes.push_back(node("aten.t.default", "v" + std::to_string(i), {{"self", value(last)}}));
        last = nodes.back().name;
    }
    EXPECT_THAT(message_of(network_of(nodes, last)), HasSubstr("view of a view"));
}

}    // namespace
}    // namespace slipway::importer
