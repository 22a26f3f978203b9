#include "executor/codegen/core_arenas.h"

#include <gtest/gtest.h>

#include "executor/codegen/lower.h"
#include "executor/graph/ops.h"
#include "tests/executor/codegen/run_graph.h"

namespace slipway {
namespace {

constexpr std::int64_t rows = 16, features = 512;

/// What each core keeps for a gradient of all cores' rows is large when its stage has ended, and
/// what it has for a while is so before.
Graph layer() {
    const auto of_core = [] {
        return input({DType::f32, {rows, features}}, Placement::per_core, "x");
    };
    // Of each core: rows by weights that all share would run together.
    const Tensor w = input({DType::f32, {features, features}}, Placement::per_core, "w");
    Tensor y = tanh(of_core());
    for (int i = 0; i < 4; ++i)
        y = tanh(matmul(y, w) + y);
    const Tensor dy = y * of_core();
    return graph_of({all_reduce(dot_general(dy, y, {{}, {}, {0}, {0}})), dy});
}

std::int64_t arena_bytes(const Program& program, Region region) {
    return program.arena_bytes[std::size_t(region)];
}

TEST(CoreArenas, are_all_that_there_is_where_a_worker_has_one_core) {
    const Graph graph = layer();
    const Program by_worker = lower(graph, {.workers = 1, .cores = 2});
    const Program by_core = lower(graph, {.workers = 2, .cores = 2});
    EXPECT_GT(arena_bytes(by_worker, Region::worker), 0);
    EXPECT_EQ(arena_bytes(by_core, Region::worker), 0);
    EXPECT_LT(arena_bytes(by_core, Region::core),
              arena_bytes(by_worker, Region::worker) + arena_bytes(by_worker, Region::core));
}

// Goal: more blocks than workers: an arena of a worker is used by several of them.
TEST(CoreArenas, stay_apart_where_a_worker_has_several_blocks) {
    const Program program = lower(layer(), {.workers = 1, .cores = 16});
    EXPECT_GT(arena_bytes(program, Region::worker), 0);
}

TEST(CoreArenas, have_the_same_bits_on_any_number_of_workers) {
    const Graph graph = layer();
    for (const int cores : {2, 8, 16}) {
        const auto inputs = random_inputs(graph, cores, 5);
        const auto once = run_graph(graph, inputs, {cores, 1});
        for (const int workers : {2, 3, 4, cores}) {
            if (workers > cores) continue;
            const auto again = run_graph(graph, inputs, {cores, workers});
            for (std::size_t i = 0; i < once.size(); ++i)
                EXPECT_EQ(difference(again[i], once[i], exactly), "")
                    << cores << " cores, " << workers << " workers";
        }
    }
}

// Goal: workers that share a step for a whole block do not share its scratch memory.
TEST(CoreArenas, leave_what_block_steps_use) {
    Program program;
    program.buffers = {{.shape = {DType::f32, {16}}, .region = Region::worker},
                       {.shape = {DType::f32, {16}}, .region = Region::worker}};
    for (const BufferId id : {0U, 1U})
        program.steps.push_back({.name = "work",
                                 .reads = {},
                                 .writes = {id},
                                 .in_place = {},
                                 .elements = 0,
                                 .kernel = {}});
    program.steps[1].batches_cores = true;
    program.stages = {
        {.per_core = true, .first_step = 0, .step_count = 2, .sums = {}, .block_step_count = 1}};
    join_arenas(program, {.cores = 2, .workers = 2});
    EXPECT_EQ(program.buffers[0].region, Region::core);
    EXPECT_EQ(program.buffers[1].region, Region::worker);
}

}    // namespace
}    // namespace slipway
