#include "executor/main/bench.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "api/base/error.h"

namespace slipway {
namespace {

using Json = nlohmann::json;

std::string error_of(const BenchCommand& command) {
    try {
        bench_to_json(command);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(Bench, one_line_says_what_was_measured) {
    const std::string line =
        bench_to_json({.workload = "mlp128", .threads = 2, .repeats = 1, .batch = 8});
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const Json result = Json::parse(line);
    for (const char* key : {"workload", "precision", "threads", "median_ms", "min_ms",
                            "items_per_s", "trace_ms", "compile_ms", "peak_bytes", "flops",
                            "limit_ms", "faults_per_step", "resident_peak_bytes"})
        EXPECT_TRUE(result.contains(key)) << key;
    EXPECT_EQ(result["workload"], "mlp128");
    EXPECT_EQ(result["precision"], "f32");
    EXPECT_EQ(result["threads"], 2);
    EXPECT_EQ(result["cores"], 2);
    EXPECT_EQ(result["batch"], 8);
    // Forward, and backward over the weights of three layers and the data of two.
    EXPECT_EQ(result["flops"], 8 * 2 * (2 * 784 * 512 + 3 * 512 * 256 + 3 * 256 * 10));
    EXPECT_GE(result["median_ms"], result["min_ms"]);
    EXPECT_GT(result["limit_ms"], 0);
    EXPECT_GT(result["loss"], 0);
}

TEST(Bench, more_cores_than_threads_do_the_same_work) {
    const Json few =
        Json::parse(bench_to_json({.workload = "mlp128", .threads = 1, .repeats = 1, .batch = 8}));
    const Json many = Json::parse(
        bench_to_json({.workload = "mlp128", .threads = 1, .cores = 4, .repeats = 1, .batch = 8}));
    EXPECT_EQ(many["cores"], 4);
    EXPECT_EQ(many["flops"], few["flops"]);
    // Sums over a batch in another order: losses of order 1 in float32.
    EXPECT_NEAR(many["loss"].get<double>(), few["loss"].get<double>(), 1e-4);
}

TEST(Bench, one_core_computes_eight_parts) {
    const auto step = [](int cores, bool one_core) {
        return Json::parse(bench_to_json({.workload = "mlp128",
                                          .threads = 2,
                                          .cores = cores,
                                          .repeats = 1,
                                          .batch = 8,
                                          .one_core = one_core}));
    };
    const Json one = step(0, true), eight = step(8, false);
    EXPECT_EQ(one["one_core"], true);
    EXPECT_EQ(one["cores"], 8);
    // Without batch norm both are the same program.
    EXPECT_EQ(one["loss"], eight["loss"]);
    EXPECT_EQ(one["peak_bytes"], eight["peak_bytes"]);
}

TEST(Bench, another_optimizer_keeps_other_state) {
    const auto peak_bytes_of = [](const char* optimizer) {
        return Json::parse(bench_to_json({.workload = "mlp128",
                                          .repeats = 1,
                                          .batch = 8,
                                          .optimizer = optimizer}))["peak_bytes"];
    };
    const std::int64_t adamw = peak_bytes_of("adamw"), momentum = peak_bytes_of("sgd_momentum"),
                       none = peak_bytes_of("sgd");
    EXPECT_GT(adamw, momentum);
    EXPECT_GT(momentum, none);
}

TEST(Bench, what_cannot_be_measured_is_refused_in_words) {
    EXPECT_NE(error_of({.workload = "mlp"}).find("there are mlp128, cnn128"), std::string::npos);
    EXPECT_NE(error_of({.workload = "mlp128", .precision = "f16"}).find("f32, bf16"),
              std::string::npos);
    EXPECT_NE(error_of({.workload = "mlp128", .threads = 3}).find("128"), std::string::npos);
    EXPECT_NE(
        error_of({.workload = "mlp128", .batch = 4, .one_core = true}).find("a batch of 4 cannot"),
        std::string::npos);
    EXPECT_NE(error_of({.workload = "mlp128", .optimizer = "adamax"}).find("adamax"),
              std::string::npos);
}

TEST(Bench, help_lists_the_workloads) {
    CLI::App app;
    BenchCommand command;
    EXPECT_NE(add_bench(app, command)->help().find("gpt2_124m"), std::string::npos);
}

}    // namespace
}    // namespace slipway
