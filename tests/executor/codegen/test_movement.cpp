#include <gtest/gtest.h>

#include "executor/codegen/kernels/view.h"
#include "executor/codegen/lower.h"
#include "executor/graph/ops.h"
#include "tests/executor/codegen/run_graph.h"

namespace slipway {
namespace {

Tensor core_input(Dims dims, DType dtype = DType::f32) {
    return input({dtype, std::move(dims)}, Placement::per_core, "x");
}

const DType all_types[] = {DType::f32, DType::i32, DType::i64, DType::u8, DType::pred};

TEST(Movement, puts_elements_where_the_reference_puts_them) {
    for (const DType dtype : all_types) {
        const Tensor x = core_input({4, 6, 5}, dtype);
        const Graph graph = graph_of({
            transpose(x, {2, 0, 1}),
            reverse(x, {0, 2}),
            slice(x, {1, 0, 1}, {4, 6, 5}, {2, 3, 1}),
            broadcast_in_dim(x, {2, 4, 6, 3, 5}, {1, 2, 4}),
            reshape(x, {24, 5}),
            reshape(transpose(x, {2, 1, 0}), {15, 8}),
            reshape(slice(x, {0, 0, 0}, {4, 6, 5}, {1, 2, 1}), {4, 15}),
            reshape(reverse(x, {0}), {4, 2, 3, 5}),
            transpose(reverse(slice(x, {0, 1, 0}, {4, 6, 5}, {1, 1, 2}), {1}), {1, 2, 0}),
            stop_gradient(transpose(x, {1, 0, 2})),
            slice(x, {2, 0, 0}, {2, 6, 5}, {1, 1, 1}),
        });
        EXPECT_EQ(compare_with_reference(graph, exactly, 1), "") << to_string(dtype);
    }
}

TEST(Movement, pads_between_around_and_less_than_nothing) {
    for (const DType dtype : all_types) {
        const Tensor x = core_input({5, 7}, dtype);
        const Graph graph = graph_of({
            pad(x, 1, {{1, 2}, {0, 3}, {0, 0}}),
            pad(x, 0, {{0, 0}, {0, 0}, {2, 1}}),
            pad(x, 1, {{-1, -2}, {-2, 1}, {0, 0}}),
            pad(x, 1, {{-4, -3}, {2, -2}, {2, 1}}),
            pad(transpose(x, {1, 0}), 1, {{-1, 0}, {3, -4}, {1, 3}}),
            pad(x, 1, {{-5, 0}, {0, 0}, {0, 0}}),
            pad(x, 1, {{-9, 0}, {9, 0}, {0, 0}}),
        });
        EXPECT_EQ(compare_with_reference(graph, exactly, 2), "") << to_string(dtype);
    }
}

TEST(Movement, concatenates_along_each_dimension) {
    const Tensor x = core_input({3, 4});
    const Tensor y = input({DType::f32, {4, 5}}, Placement::replicated, "y");
    const Graph graph = graph_of({concatenate({x, x, reverse(x, {1})}, 0),
                                  concatenate({x, transpose(core_input({6, 3}), {1, 0})}, 1),
                                  concatenate({y, core_input({0, 5}), core_input({2, 5})}, 0)});
    EXPECT_EQ(compare_with_reference(graph, exactly, 3), "");
}

TEST(Movement, counts_and_repeats_constants) {
    for (const DType dtype : {DType::f32, DType::i32, DType::i64, DType::u8}) {
        const Graph graph = graph_of({iota({dtype, {3, 5}}, 0), iota({dtype, {3, 5}}, 1),
                                      broadcast(constant(7, dtype), {2, 2}), constant(3, dtype),
                                      iota({dtype, {4}}, 0) + iota({dtype, {4}}, 0)});
        EXPECT_EQ(compare_with_reference(graph, exactly, 4), "") << to_string(dtype);
    }
}

TEST(Movement, takes_no_step_where_a_reader_can_look_through_it) {
    const Tensor x = core_input({4, 6});
    const Tensor y = input({DType::f32, {6, 4}}, Placement::replicated, "y");
    const Tensor z = reshape(transpose(y, {1, 0}) + reverse(x, {0}), {24});
    EXPECT_EQ(lower(graph_of({z}), {}).steps.size(), 1u);
}

// Goal: a view says where each element lies; a reshape is found wherever strides can say it.
TEST(Views, reshape_without_copies_where_strides_allow_it) {
    const View x = dense_view({4, 6, 5});
    EXPECT_TRUE(is_dense(*reshaped_view(x, {2, 60})));
    EXPECT_TRUE(reshaped_view(transposed_view(x, {1, 0, 2}), {2, 3, 1, 4, 5}).has_value());
    EXPECT_FALSE(reshaped_view(transposed_view(x, {1, 0, 2}), {24, 5}).has_value());
    EXPECT_TRUE(reshaped_view(broadcast_view(dense_view({}), {3, 4}, {}), {12}).has_value());
    EXPECT_FALSE(is_dense(broadcast_view(dense_view({}), {3, 4}, {})));
    EXPECT_TRUE(is_dense(sliced_view(x, {{0, 0, 0}, {2, 6, 5}, {1, 1, 1}})));
    EXPECT_FALSE(is_dense(sliced_view(x, {{1, 0, 0}, {2, 6, 5}, {1, 1, 1}})));
    EXPECT_EQ(sliced_view(x, {{1, 2, 3}, {4, 6, 5}, {2, 2, 1}}).offset, 43);
    EXPECT_EQ(reversed_view(x, {0, 2}).offset, 3 * 30 + 4);
}

TEST(Views, make_few_and_long_loops) {
    const View x = dense_view({4, 6, 5});
    const std::vector<View> equal{x, x};
    EXPECT_EQ(make_nest(x.dims, equal).extents, (Dims{120}));
    const std::vector<View> bias{x, broadcast_view(dense_view({6}), x.dims, {1})};
    EXPECT_EQ(make_nest(x.dims, bias).extents, (Dims{4, 6, 5}));
    const std::vector<View> rows{x, broadcast_view(dense_view({6, 5}), x.dims, {1, 2})};
    EXPECT_EQ(make_nest(x.dims, rows).extents, (Dims{4, 30}));
    const std::vector<View> scalar{x, broadcast_view(dense_view({}), x.dims, {})};
    EXPECT_TRUE(make_nest(x.dims, scalar).is_flat());
}

}    // namespace
}    // namespace slipway
