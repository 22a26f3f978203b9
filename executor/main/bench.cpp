#include "executor/main/bench.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <cmath>
#include <nlohmann/json.hpp>

#include "api/base/error.h"
#include "executor/bench/measure.h"
#include "executor/optim/optimizer.h"
#include "executor/train/settings.h"

namespace slipway {

namespace {

std::string footer() {
    std::string text =
        "One training step: forward, backward, update, on fixed random input. Workloads:\n";
    for (const Workload& row : workloads())
        text += fmt::format("  {:12} {}, batch {}\n", row.name, row.about, row.batch);
    return text;
}

PrecisionPolicy precision_of(const std::string& name) {
    if (const auto precision = parse_word<Precision>(name)) return precision_policy(*precision);
    throw Error(ErrorCode::invalid_argument,
                fmt::format("there is no precision {}; there are {}", name,
                            fmt::join(all_words<Precision>(), ", ")));
}

std::vector<std::string> optimizer_names() {
    std::vector<std::string> names;
    for (const Optimizer& row : optimizers())
        names.emplace_back(row.name);
    return names;
}

/// Whole microseconds: more digits would be noise.
double rounded(double value) {
    return std::round(value * 1e3) / 1e3;
}

}    // namespace

CLI::App* add_bench(CLI::App& app, BenchCommand& command) {
    CLI::App* bench =
        app.add_subcommand("bench", "Measures one training step and prints a line of JSON");
    bench->add_option("workload", command.workload, "Which network; see below")->required();
    bench->add_option("--precision", command.precision, "f32, bf16 or bf16_true; default: f32");
    bench
        ->add_option("--threads", command.threads, "Threads that run the virtual cores; default: 1")
        ->check(CLI::Range(1, 64));
    bench
        ->add_option("--cores", command.cores,
                     "Virtual cores that share the batch; default: one for each thread")
        ->check(CLI::Range(1, 64));
    bench->add_option("--repeats", command.repeats, "Steps to time; default: 20")
        ->check(CLI::Range(1, 1'000'000));
    bench->add_option("--batch", command.batch, "Samples of a step; default: the workload's")
        ->check(CLI::PositiveNumber);
    bench
        ->add_option("--optimizer", command.optimizer,
                     "adamw, sgd, sgd_momentum or another; default: adamw")
        ->check(CLI::IsMember(optimizer_names()));
    bench->add_flag("--pin", command.pin, "Keep each thread on a CPU of its own, as jobs do");
    bench->add_flag("--choose", command.chooses_threads,
                    "Run with fewer threads than --threads where that is as fast, as jobs do");
    bench->add_flag("--one-core", command.one_core,
                    "Compute as a job of one core does: its batch in 8 parts (or as --cores says), "
                    "normalised together");
    bench->footer(footer());
    return bench;
}

std::string bench_to_json(const BenchCommand& command) {
    constexpr int deterministic_parts = 8;
    const bool takes_parts = command.one_core && command.cores == 0;
    const PrecisionPolicy precision = precision_of(command.precision);
    const BenchResult result = measure(find_workload(command.workload),
                                       {.precision = precision,
                                        .threads = command.threads,
                                        .cores = takes_parts ? deterministic_parts : command.cores,
                                        .repeats = command.repeats,
                                        .one_core = command.one_core,
                                        .pin = command.pin,
                                        .chooses_threads = command.chooses_threads,
                                        .batch = command.batch,
                                        .optimizer = command.optimizer});
    const nlohmann::ordered_json line{{"workload", command.workload},
                                      {"precision", command.precision},
                                      {"threads", command.threads},
                                      {"threads_used", result.threads},
                                      {"cores", result.cores},
                                      {"one_core", command.one_core},
                                      {"batch", result.batch},
                                      {"optimizer", command.optimizer},
                                      {"repeats", command.repeats},
                                      {"median_ms", rounded(result.median_ms)},
                                      {"min_ms", rounded(result.min_ms)},
                                      {"cpu_ms", rounded(result.cpu_ms)},
                                      {"items_per_s", rounded(result.items_per_s)},
                                      {"trace_ms", rounded(result.trace_ms)},
                                      {"compile_ms", rounded(result.compile_ms)},
                                      {"peak_bytes", result.peak_bytes},
                                      {"resident_peak_bytes", result.resident_peak_bytes},
                                      {"faults_per_step", rounded(result.faults_per_step)},
                                      {"flops", std::int64_t(result.flops)},
                                      {"limit_ms", rounded(result.limit_ms)},
                                      {"rate_gflops", rounded(result.rate * 1e-9)},
                                      {"loss", result.loss}};
    return line.dump();
}

}    // namespace slipway
