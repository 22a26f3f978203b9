#pragma once

#include <CLI/App.hpp>

#include <memory>
#include <string>

namespace slipway {

/// What was asked of `slipway-executor bench`.
struct BenchCommand {
    std::string workload;
    std::string precision = "f32";
    int threads = 1;
    int cores = 0;
    int repeats = 20;
    std::int64_t batch = 0;
    std::string optimizer = "adamw";
    bool pin = false;
    bool chooses_threads = false;
    bool one_core = false;
};

/// Adds the subcommand `bench`, which fills `command`.
CLI::App* add_bench(CLI::App& app, BenchCommand& command);

/// Measures and returns one line of JSON.
/// errors  invalid_argument, in words for the person who typed the command
std::string bench_to_json(const BenchCommand& command);

}    // namespace slipway
