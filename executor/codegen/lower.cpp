#include "executor/codegen/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/base/check.h"
#include "api/base/error.h"
#include "executor/codegen/lowering.h"
#include "executor/graph/op_table.h"
#include "executor/program/team.h"
#include "executor/program/temporary_bytes.h"

namespace slipway {

namespace {

struct LowerRow {
    OpCode op;
    LowerRule lower;
};

/// Every op that has steps of its own. Inputs have their values from the start, views and constants
/// when they are read, and the others are in clusters.
constexpr std::array lower_rows{
    LowerRow{OpCode::pad, lower_pad},
    LowerRow{OpCode::concatenate, lower_concatenate},
    LowerRow{OpCode::gather, lower_gather},
    LowerRow{OpCode::scatter_add, lower_scatter_add},
    LowerRow{OpCode::dynamic_slice, lower_dynamic_slice},
    LowerRow{OpCode::dynamic_update_slice, lower_dynamic_update_slice},
    LowerRow{OpCode::dot_general, lower_dot_general},
    LowerRow{OpCode::convolution, lower_convolution},
    LowerRow{OpCode::reduce_window, lower_reduce_window},
    LowerRow{OpCode::select_and_scatter, lower_select_and_scatter},
    LowerRow{OpCode::all_reduce, lower_all_reduce},
};

bool has_no_step(OpCode op) {
    return op == OpCode::input || op == OpCode::constant || op == OpCode::iota;
}

void lower_node(Lowering& lowering, const Tensor& tensor) {
    const OpCode op = tensor.node().op;
    if (has_no_step(op)) return;
    const auto row = std::ranges::find(lower_rows, op, &LowerRow::op);
    if (row == lower_rows.end()) {
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("{} {} cannot run: there is no kernel for it yet",
                                name_of(tensor.node()), to_string(tensor.shape())));
    }
    row->lower(lowering, tensor);
}

/// A program whose sums take less is not worth a second look.
constexpr std::int64_t cut_bytes_min = std::int64_t{32} << 20;
constexpr std::int64_t bucket_bytes = std::int64_t{8} << 20;

std::int64_t arena_bytes(const Program& program, Region region) {
    return program.arena_bytes[std::size_t(region)];
}

std::int64_t summed_bytes(const Graph& graph) {
    std::int64_t bytes = 0;
    for (const Tensor& tensor : topological_order(graph))
        if (tensor.node().op == OpCode::all_reduce) bytes += tensor.shape().byte_count();
    return bytes;
}

/// With contributions of all cores in memory of their own. A program whose sums may travel between
/// processes is judged by this: buckets travel beside the backward pass.
std::int64_t bytes_without_sharing(const Program& program, const Team& team) {
    return team.workers * program.replicas_together * arena_bytes(program, Region::worker) +
           team.cores * (arena_bytes(program, Region::core) + arena_bytes(program, Region::sum)) +
           arena_bytes(program, Region::shared);
}

/// 0: no cuts. Of the program that is not taken nothing is compiled.
std::int64_t chosen_bucket(const Graph& graph, const LowerOptions& options) {
    // The same choice however many blocks a process has.
    const int cores = options.in_blocks ? block_cores : options.cores;
    if (summed_bytes(graph) * cores < cut_bytes_min) return 0;
    // As if two workers ran it, however many do: the choice may change the bits, and the number of
    // workers may not.
    const Team two{.cores = cores, .workers = std::min(2, cores)};
    LowerOptions of_two = options;
    of_two.cores = two.cores;
    of_two.workers = two.workers;
    of_two.saves_memory = true;    // what a job may take does not change its bits
    const auto planned = [&](std::int64_t bytes) {
        const Program program = Lowering(graph, of_two, bytes, Lowering::Purpose::plan).run();
        return options.in_blocks ? bytes_without_sharing(program, two)
                                 : temporary_bytes(program, two);
    };
    return planned(bucket_bytes) < planned(0) ? bucket_bytes : 0;
}

}    // namespace

void Lowering::lower_nodes() {
    for (int stage = 0; stage <= analysis_.last_stage; ++stage)
        lower_stage(stage);
}

void Lowering::lower_stage(int stage) {
    for (const Tensor& tensor : fusion_.order) {
        if (facts(tensor).stage != stage) continue;
        const auto cluster = fusion_.cluster_of.find(tensor.get());
        if (cluster == fusion_.cluster_of.end()) {
            lower_node(*this, tensor);
            continue;
        }
        // Members follow each other: the first stands for all.
        const Cluster& whole = fusion_.clusters[cluster->second];
        if (whole.members.front() == tensor) lower_cluster(*this, whole);
    }
}

Program lower(const Graph& graph, const LowerOptions& options) {
    Program program = Lowering(graph, options, chosen_bucket(graph, options)).run();
    const std::vector<std::string> problems = find_problems(program);
    check(problems.empty(), problems.empty() ? "" : problems.front());
    return program;
}

}    // namespace slipway
