#include <gtest/gtest.h>

#include "executor/graph/ops.h"
#include "tests/executor/codegen/run_graph.h"

namespace slipway {
namespace {

Tensor core_leaf(Dims dims, DType dtype = DType::f32) {
    return leaf({dtype, std::move(dims)}, Placement::per_core, "x");
}

// Leaves of whole numbers are 0..9: some rows are named twice, some do not exist.
TEST(Indexed, rows_are_taken_and_added_by_number) {
    for (const Dims& row : {Dims{}, Dims{1}, Dims{5}, Dims{3, 17}, Dims{40}})
        for (const Dims& places : {Dims{}, Dims{7}, Dims{2, 3}, Dims{0}})
            for (const DType index : {DType::i32, DType::i64}) {
                Dims table_dims{8};
                table_dims.insert(table_dims.end(), row.begin(), row.end());
                Dims update_dims = places;
                update_dims.insert(update_dims.end(), row.begin(), row.end());
                const Tensor table = core_leaf(table_dims);
                const Tensor indices = core_leaf(places, index);
                const Graph graph = graph_of({gather(table, indices),
                                              scatter_add(table, indices, core_leaf(update_dims)),
                                              scatter_add(broadcast(constant(0), table_dims),
                                                          indices, core_leaf(update_dims))});
                EXPECT_EQ(compare_with_reference(graph, sum_tolerance(8), 1), "")
                    << to_string(graph.outputs[0].shape());
            }
}

TEST(Indexed, parts_lie_where_the_starts_say) {
    const Tensor x = core_leaf({6, 20});
    const std::vector<Tensor> starts{core_leaf({}, DType::i32), core_leaf({}, DType::i32)};
    for (const Dims& sizes : {Dims{1, 1}, Dims{2, 17}, Dims{6, 20}, Dims{3, 0}})
        EXPECT_EQ(compare_with_reference(
                      graph_of({dynamic_slice(x, starts, sizes),
                                dynamic_slice(transpose(x, {1, 0}), starts, {sizes[1], sizes[0]}),
                                dynamic_update_slice(x, core_leaf(sizes), starts)}),
                      exactly, 2),
                  "")
            << sizes[0] << " " << sizes[1];
}

}    // namespace
}    // namespace slipway
