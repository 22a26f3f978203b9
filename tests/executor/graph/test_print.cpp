#include "executor/graph/print.h"

#include <gtest/gtest.h>

#include "executor/graph/ops.h"

namespace slipway {
namespace {

Graph linear_layer() {
    const Tensor weight = input({DType::f32, {3, 2}}, Placement::replicated, "fc.weight");
    const Tensor x = input({DType::f32, {4, 2}}, Placement::per_core, "features");
    const Tensor product = dot_general(
        x, weight,
        {.lhs_batching = {}, .rhs_batching = {}, .lhs_contracting = {1}, .rhs_contracting = {1}});
    const Tensor total = all_reduce(reduce(relu(product), {0, 1}, Reduction::add));
    return {{weight, x}, {weight * total, total}, {{0, 0}}};
}

TEST(Print, one_line_per_node) {
    EXPECT_EQ(print(linear_layer()),
              "%0 = input f32[3,2] replicated name=fc.weight\n"
              "%1 = input f32[4,2] per_core name=features\n"
              "%2 = dot_general f32[4,3] per_core %1 %0 lhs_contracting=[1] rhs_contracting=[1]\n"
              "%3 = constant f32[] replicated value=0\n"
              "%4 = broadcast_in_dim f32[4,3] replicated %3\n"
              "%5 = maximum f32[4,3] per_core %2 %4\n"
              "%6 = reduce f32[] per_core %5 reduction=add dimensions=[0,1]\n"
              "%7 = all_reduce f32[] replicated %6 reduction=add\n"
              "%8 = broadcast_in_dim f32[3,2] replicated %7\n"
              "%9 = multiply f32[3,2] replicated %0 %8\n"
              "output %9\n"
              "output %7\n"
              "donate output 0 to %0\n");
}

TEST(Print, is_the_same_for_equal_graphs) {
    EXPECT_EQ(print(linear_layer()), print(linear_layer()));
}

TEST(Print, attributes_say_all_that_is_unusual) {
    const WindowDimension window{.size = 2, .stride = 3, .padding_low = 1, .base_dilation = 2};
    EXPECT_EQ(print_attributes(ReduceWindowAttributes{{window, {}}, Reduction::maximum}),
              "reduction=maximum size=[2,1] stride=[3,1] padding_low=[1,0] base_dilation=[2,1]");
    EXPECT_EQ(print_attributes(PadAttributes{{-1}, {2}, {0}}), "low=[-1] high=[2] interior=[0]");
    EXPECT_EQ(print_attributes(CompareAttributes{Comparison::ge}), "direction=ge");
    EXPECT_EQ(print_attributes(NoAttributes{}), "");
}

TEST(Print, constants_keep_every_bit) {
    EXPECT_EQ(print_attributes(ConstantAttributes{0.1}), "value=0.1");
    EXPECT_EQ(print_attributes(ConstantAttributes{1.0000000000000002}), "value=1.0000000000000002");
    EXPECT_EQ(print_attributes(ConstantAttributes{-0.0}), "value=-0");
}

}    // namespace
}    // namespace slipway
