#include <gtest/gtest.h>

#include "executor/codegen/lower.h"
#include "executor/graph/ops.h"
#include "tests/executor/codegen/run_graph.h"

namespace slipway {
namespace {

Tensor core_input(Dims dims, DType dtype = DType::f32) {
    return input({dtype, std::move(dims)}, Placement::per_core, "x");
}

// Inputs of whole numbers are 0..9: some rows are named twice, some do not exist.
TEST(Indexed, rows_are_taken_and_added_by_number) {
    for (const Dims& row : {Dims{}, Dims{1}, Dims{5}, Dims{3, 17}, Dims{40}})
        for (const Dims& places : {Dims{}, Dims{7}, Dims{2, 3}, Dims{0}})
            for (const DType index : {DType::i32, DType::i64}) {
                Dims table_dims{8};
                table_dims.insert(table_dims.end(), row.begin(), row.end());
                Dims update_dims = places;
                update_dims.insert(update_dims.end(), row.begin(), row.end());
                const Tensor table = core_input(table_dims);
                const Tensor indices = core_input(places, index);
                const Graph graph = graph_of({gather(table, indices),
                                              scatter_add(table, indices, core_input(update_dims)),
                                              scatter_add(broadcast(constant(0), table_dims),
                                                          indices, core_input(update_dims))});
                EXPECT_EQ(compare_with_reference(graph, sum_tolerance(8), 1), "")
                    << to_string(graph.outputs[0].shape());
            }
}

/// Rows added to a value, by numbers of which some do not exist.
Tensor with_rows_added(const Tensor& value) {
    Dims rows = value.dims();
    rows[0] = 4;
    return scatter_add(value, core_input({4}, DType::i32), core_input(rows));
}

std::size_t step_count(const Graph& graph) {
    return lower(graph, {}).steps.size();
}

// Goal: what nobody else reads is added to where it lies, wherever that is: in the contribution to
// a sum, an output, or what a later stage reads.
TEST(Indexed, rows_are_added_in_place_where_nobody_else_reads) {
    const Tensor x = core_input({9, 20}), y = core_input({9, 30});
    const Tensor product = dot_general(x, y, {{}, {}, {0}, {0}});
    const Tensor sum = all_reduce(with_rows_added(product));
    EXPECT_EQ(step_count(graph_of({sum})), step_count(graph_of({all_reduce(product)})) + 1);
    const Tensor later = with_rows_added(tanh(x)) * all_reduce(reduce(x, {0, 1}, Reduction::add));
    const Tensor twice = with_rows_added(with_rows_added(transpose(tanh(y), {1, 0})));
    EXPECT_EQ(compare_with_reference(graph_of({sum, later, twice}), sum_tolerance(4 * 13), 3), "");
}

TEST(Indexed, rows_are_added_to_a_copy_of_what_others_read) {
    const Tensor x = core_input({9, 20});
    const Tensor y = tanh(x);
    EXPECT_EQ(compare_with_reference(graph_of({with_rows_added(y), y, with_rows_added(x),
                                               with_rows_added(slice(x, {1, 0}, {7, 20}, {2, 1}))}),
                                     sum_tolerance(4), 4),
              "");
}

TEST(Indexed, parts_lie_where_the_starts_say) {
    const Tensor x = core_input({6, 20});
    const std::vector<Tensor> starts{core_input({}, DType::i32), core_input({}, DType::i32)};
    for (const Dims& sizes : {Dims{1, 1}, Dims{2, 17}, Dims{6, 20}, Dims{3, 0}})
        EXPECT_EQ(compare_with_reference(
                      graph_of({dynamic_slice(x, starts, sizes),
                                dynamic_slice(transpose(x, {1, 0}), starts, {sizes[1], sizes[0]}),
                                dynamic_update_slice(x, core_input(sizes), starts)}),
                      exactly, 2),
                  "")
            << sizes[0] << " " << sizes[1];
}

}    // namespace
}    // namespace slipway
