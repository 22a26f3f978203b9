#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "executor/graph/tensor.h"
#include "executor/program/program.h"
#include "executor/reference/evaluate.h"
#include "executor/runtime/collectives.h"
#include "executor/runtime/run_plan.h"

namespace slipway {

/// Random inputs for a graph: floats in [-1, 1), integers in 0..9, truths.
std::vector<ReferenceValue> random_inputs(const Graph& graph, int cores, std::uint64_t seed);

/// Lowers the graph and runs it on the team, twice in the same arenas: the first time with other
/// inputs, so that what a buffer held before can do harm. The inputs themselves are not changed.
std::vector<ReferenceValue> run_graph(const Graph& graph, const std::vector<ReferenceValue>& inputs,
                                      const Team& team);
/// The same; the first run is with `before`. With `bucket_bytes` the stage of the sums is cut
/// (codegen/analysis.h). `collectives`: of other processes that run it, too.
std::vector<ReferenceValue> run_graph(const Graph& graph, const std::vector<ReferenceValue>& inputs,
                                      const Team& team, const std::vector<ReferenceValue>& before,
                                      std::int64_t bucket_bytes = 0,
                                      Collectives* collectives = nullptr);

/// How far a result may be from the naive evaluator's: |a - b| <= absolute + relative * |b|.
struct Tolerance {
    double absolute = 0;
    double relative = 0;
};
inline constexpr Tolerance exactly{};

/// The tolerance of sums of `count` products of numbers in [-1, 1), kept in f32: partial sums walk
/// to about sqrt(count) / 3 and each of `count` additions rounds by half an ulp of that; 2 count
/// eps is several times what such walks give.
Tolerance sum_tolerance(std::int64_t count);

/// "" when each number of a is close to b's; else where and how they differ.
std::string difference(const ReferenceValue& a, const ReferenceValue& b, Tolerance tolerance);

/// Expects the bits of one worker on 2, 3, 4 and 8 of them, with eight cores.
void expect_same_bits_on_any_workers(const Graph& graph, const std::vector<ReferenceValue>& inputs);

/// Lowers the graph, runs it on 1 core and on 4 cores with 2 workers, there also with the stage of
/// its sums cut before each contribution, and compares each output with the naive evaluator.
/// Returns what differs.
std::string compare_with_reference(const Graph& graph, Tolerance tolerance, std::uint64_t seed);

/// A graph of these outputs; its inputs are those reachable, in the order first met.
Graph graph_of(std::vector<Tensor> outputs);

}    // namespace slipway
