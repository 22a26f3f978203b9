#include "executor/graph/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/graph/ops.h"

namespace slipway {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Tensor input(Placement placement = Placement::replicated, Dims dims = {2}) {
    return input({DType::f32, std::move(dims)}, placement, "x");
}

/// A node as nobody should make it: the law's own rules are what is tested.
Tensor changed(const Tensor& x, const std::function<void(Node&)>& change) {
    auto node = std::make_shared<Node>(x.node());
    change(*node);
    return Tensor(std::move(node));
}

TEST(Verify, sound_graph_breaks_no_law) {
    const Tensor x = input();
    const Tensor z = input(Placement::per_core);
    EXPECT_THAT(broken_laws({{x, z}, {negate(x), z * x, x}, {{0, 0}}}), IsEmpty());
}

TEST(Verify, empty_handle_is_found) {
    EXPECT_THAT(broken_laws({{}, {Tensor()}, {}}), ElementsAre(HasSubstr("empty handle")));
}

TEST(Verify, graph_without_outputs_is_found) {
    EXPECT_THAT(broken_laws({{input()}, {}, {}}), ElementsAre(HasSubstr("no output")));
}

TEST(Verify, input_that_is_not_listed_is_found) {
    EXPECT_THAT(broken_laws({{}, {negate(input())}, {}}), ElementsAre(HasSubstr("not listed")));
}

TEST(Verify, input_listed_twice_is_found) {
    const Tensor x = input();
    EXPECT_THAT(broken_laws({{x, x}, {x}, {}}), ElementsAre(HasSubstr("twice")));
}

TEST(Verify, input_that_is_none_is_found) {
    const Tensor x = input();
    EXPECT_THAT(broken_laws({{x, negate(x)}, {x}, {}}), ElementsAre(HasSubstr("no input")));
}

TEST(Verify, wrong_shape_is_found) {
    const Tensor x = input();
    const Tensor bad = changed(negate(x), [](Node& node) { node.shape.dims = {3}; });
    EXPECT_THAT(broken_laws({{x}, {bad}, {}}),
                testing::Contains(HasSubstr("shape should be f32[2]")));
}

TEST(Verify, wrong_placement_is_found) {
    const Tensor x = input();
    const Tensor bad = changed(negate(x), [](Node& node) { node.placement = Placement::per_core; });
    EXPECT_THAT(broken_laws({{x}, {bad}, {}}), testing::Contains(HasSubstr("placement is wrong")));
}

TEST(Verify, wrong_hash_is_found) {
    const Tensor x = input();
    const Tensor bad = changed(negate(x), [](Node& node) { node.hash.low ^= 1; });
    EXPECT_THAT(broken_laws({{x}, {bad}, {}}), ElementsAre(HasSubstr("hash is wrong")));
}

TEST(Verify, broken_constraint_is_found) {
    const Tensor x = input();
    const Tensor bad =
        changed(transpose(x, {0}), [](Node& node) { node.attributes = TransposeAttributes{{5}}; });
    EXPECT_THAT(broken_laws({{x}, {bad}, {}}), ElementsAre(HasSubstr("transpose_c1")));
}

TEST(Verify, donations_that_do_not_fit_are_found) {
    const Tensor x = input();
    const Tensor z = input(Placement::replicated, {3});
    const Tensor local = input(Placement::per_core);
    const std::vector<Tensor> inputs{x, z, local};
    const auto laws_with = [&](std::vector<Graph::Donation> donations) {
        return broken_laws({inputs, {negate(x), negate(local)}, std::move(donations)});
    };
    EXPECT_THAT(laws_with({{0, 0}}), IsEmpty());
    EXPECT_THAT(laws_with({{2, 0}}), ElementsAre(HasSubstr("there are")));
    EXPECT_THAT(laws_with({{0, 3}}), ElementsAre(HasSubstr("there are")));
    EXPECT_THAT(laws_with({{0, 1}}), ElementsAre(HasSubstr("f32[3] is not f32[2]")));
    EXPECT_THAT(laws_with({{1, 2}}), ElementsAre(HasSubstr("not replicated")));
    EXPECT_THAT(laws_with({{0, 0}, {0, 0}}), ElementsAre(HasSubstr("taken")));
}

TEST(VerifyDeathTest, broken_law_stops_the_process_and_names_who_made_the_graph) {
    EXPECT_DEATH(verify({{}, {}, {}}, "merge_common"), "after merge_common: there is no output");
}

TEST(Verify, known_nodes_are_not_looked_at_again_and_others_are) {
    const Tensor x = input();
    const Tensor bent =
        changed(negate(x), [](Node& node) { node.placement = Placement::per_core; });
    const Graph graph{{x}, {bent}, {}};
    EXPECT_DEATH(verify(graph, "a pass", {}), "placement is wrong");
    NodeSet known;
    known.insert(bent.get(), {});
    EXPECT_EQ(verify(graph, "a pass", known).size(), 2U);
}

}    // namespace
}    // namespace slipway
