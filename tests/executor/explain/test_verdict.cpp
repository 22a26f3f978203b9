#include "executor/explain/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipway {
namespace {

struct Case {
    TimeShares shares;
    BottleneckInputs bottleneck;
    std::string kind;
    std::string field;
};

TEST(Verdict, the_share_furthest_above_what_is_fine_decides) {
    const std::vector<Case> cases{
        {{.input = 0.5, .compute = 0.5}, {.images = true}, "input_bound", "data.image_size"},
        {{.input = 0.5, .compute = 0.5}, {}, "input_bound", "train.batch_size_per_core"},
        {{.input = 0.5, .compute = 0.5}, {.augments = true}, "input_bound", "data.augment"},
        {{.input = 0.19, .compute = 0.81}, {}, "compute_bound", "model.arch"},
        {{.compile = 0.6, .compute = 0.4}, {}, "compile_bound", "train.epochs"},
        {{.compile = 0.6, .compute = 0.4},
         {.counts_epochs = false},
         "compile_bound",
         "train.steps"},
        {{.compile = 0.6, .compute = 0.4},
         {.late_compiles = 3},
         "compile_bound",
         "train.drop_last"},
        {{.compile = 0.35, .input = 0.3, .compute = 0.35},
         {},
         "input_bound",
         "train.batch_size_per_core"},
        {{.compile = 0.6, .compute = 0.4},
         {.first_loss = 2.3, .last_loss = 1e23},
         "diverged",
         "train.optimizer.lr"},
        {{.compute = 1}, {.first_loss = 2.3, .last_loss = 4}, "compute_bound", "model.arch"},
        {{.compute = 1}, {.first_loss = 2.3, .last_loss = 0.1}, "compute_bound", "model.arch"},
        {{.sync = 0.4, .compute = 0.6}, {.workers = 2}, "sync_bound", "train.batch_size_per_core"},
        {{.memory = 0.7, .compute = 0.3}, {}, "memory_bound", "train.batch_size_per_core"},
        {{.memory = 0.7, .compute = 0.3}, {.bf16 = true}, "memory_bound", "train.precision"},
        {{.compute = 1}, {.cores = 1, .cpus = 4}, "compute_bound", "accelerator.cores"},
        {{.compute = 1}, {.cores = 1, .workers = 4, .cpus = 4}, "compute_bound", "model.arch"},
        {{.compute = 1}, {.cores = 8, .cpus = 4}, "compute_bound", "model.arch"},
        {{.compute = 1}, {.cores = 8, .cpus = 4, .bf16 = true}, "compute_bound", "train.precision"},
        {{}, {}, "compute_bound", "model.arch"},
    };
    for (const Case& each : cases) {
        const Verdict verdict = judge(each.shares, each.bottleneck);
        EXPECT_EQ(verdict.kind, each.kind);
        EXPECT_EQ(verdict.field, each.field) << each.kind;
    }
}

TEST(Verdict, says_the_number_and_what_to_do) {
    const Verdict verdict = judge({.input = 0.434, .compute = 0.566}, {.images = true});
    EXPECT_THAT(verdict.message, testing::StartsWith("Input-bound: 43 % of the time the cores"));
    EXPECT_THAT(verdict.message, testing::HasSubstr("Smaller images"));
    EXPECT_THAT(judge({.memory = 1}, {.shared_memory_share = 0.9}).message,
                testing::HasSubstr("a larger batch"));
    EXPECT_THAT(judge({.memory = 1}, {.shared_memory_share = 0.1}).message,
                testing::HasSubstr("a smaller batch"));
}

// Goal: nobody is promised that bf16 is faster. Measured: with few rows it can be slower, also on
// CPUs that multiply it in tiles (docs/training.md#precision).
TEST(Verdict, another_precision_is_to_be_compared) {
    for (const TimeShares& shares : {TimeShares{.memory = 1}, TimeShares{.compute = 1}})
        EXPECT_THAT(judge(shares, {.cores = 8, .bf16 = true}).message,
                    testing::HasSubstr("compare the ExecuteTime of two short jobs"));
}

}    // namespace
}    // namespace slipway
