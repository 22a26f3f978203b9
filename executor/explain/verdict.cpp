#include "executor/explain/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace slipway {

namespace {

struct Advice {
    std::string field;
    std::string text;
};

Advice about_input(const BottleneckInputs& bottleneck) {
    if (bottleneck.images) {
        return {
            "data.image_size",
            "Smaller images are read faster; images stored at that size already, faster still."};
    }
    if (bottleneck.augments) {
        return {"data.augment",
                "The samples are in memory: fewer steps of augmentation are faster."};
    }
    return {"train.batch_size_per_core",
            "The samples are in memory and need no decoding: with a larger batch fewer steps wait "
            "for one."};
}

Advice about_compile(const BottleneckInputs& bottleneck) {
    if (bottleneck.late_compiles > 0) {
        return {"train.drop_last",
                fmt::format(
                    "{} programs were compiled after warm-up because shapes changed; the compile "
                    "events name them. Keep the shapes the same.",
                    bottleneck.late_compiles)};
    }
    return {
        bottleneck.counts_epochs ? "train.epochs" : "train.steps",
        "The program is compiled once, however long the job trains: a longer job pays it back."};
}

// With few rows a product of bf16 can take longer than one of f32, also where the CPU has
// instructions for it. Which it is depends on network, batch and CPU: it is measured, not guessed.
constexpr const char* compare_precisions =
    " With small batches bf16 can take longer: compare the ExecuteTime of two short jobs.";

/// Below this other programs take the CPUs away, and a worker waits for one that cannot run.
constexpr double cpu_share_min = 0.8;

Advice about_sync(const BottleneckInputs& bottleneck) {
    if (bottleneck.cpu_share < cpu_share_min) {
        return {"train.batch_size_per_core",
                fmt::format("The threads got a CPU for only {:.0f} % of their work: other programs "
                            "use the CPUs. Without them, a larger batch helps.",
                            100 * bottleneck.cpu_share)};
    }
    if (bottleneck.workers == 1) {
        return {"train.batch_size_per_core",
                "Gradients are all-reduced once per step: a larger batch has fewer steps."};
    }
    return {"train.batch_size_per_core",
            "Workers wait at barriers several times per step: with a larger batch they compute "
            "longer between."};
}

Advice about_memory(const BottleneckInputs& bottleneck) {
    if (bottleneck.bf16) {
        return {"train.precision",
                std::string("With bf16 fewer bytes may be moved.") + compare_precisions};
    }
    if (bottleneck.shared_memory_share > 0.5) {
        return {"train.batch_size_per_core",
                "Most of it is the update of the weights: a larger batch has fewer updates."};
    }
    return {"train.batch_size_per_core",
            "Most of it is between layers: a smaller batch keeps it in the CPU's caches."};
}

Advice about_compute(const BottleneckInputs& bottleneck) {
    const int with_all_cores = std::min(8, bottleneck.cpus);
    if (bottleneck.cores == 1 && bottleneck.workers < with_all_cores) {
        return {"accelerator.cores",
                fmt::format("The job runs on {} of {} CPUs: with 8 cores it runs on {}.",
                            bottleneck.workers, bottleneck.cpus, with_all_cores)};
    }
    if (bottleneck.bf16) {
        return {
            "train.precision",
            std::string("With bf16 large matmuls take about half the time.") + compare_precisions};
    }
    return {"model.arch",
            "Nothing is wasted: only a smaller network or fewer steps take less time."};
}

/// A share above `fine` is what limits the job.
struct Rule {
    std::string_view kind;
    double TimeShares::*share;
    double fine;
    const char* message;
    Advice (*advice)(const BottleneckInputs& bottleneck);
};

constexpr std::array<Rule, 4> rules{{
    {"input_bound", &TimeShares::input, 0.2,
     "Input-bound: {:.0f} % of the time the cores wait for the next batch.", about_input},
    {"compile_bound", &TimeShares::compile, 0.3,
     "Compile-bound: {:.0f} % of the time goes to compiling.", about_compile},
    {"sync_bound", &TimeShares::sync, 0.25,
     "Sync-bound: {:.0f} % of the time goes to all-reduces and to waiting at barriers.",
     about_sync},
    {"memory_bound", &TimeShares::memory, 0.45,
     "Memory-bound: {:.0f} % of the time goes to kernels that move data more than they compute.",
     about_memory},
}};
constexpr Rule otherwise{"compute_bound", &TimeShares::compute, 0,
                         "Compute-bound: {:.0f} % of the time goes to matmuls and convolutions.",
                         about_compute};

/// A loss above this multiple of the first step's loss is not noise of batches.
constexpr double diverged_times = 10;

bool has_diverged(const BottleneckInputs& bottleneck) {
    return bottleneck.first_loss > 0 &&
           bottleneck.last_loss > diverged_times * bottleneck.first_loss;
}

}    // namespace

Verdict judge(const TimeShares& shares, const BottleneckInputs& bottleneck) {
    if (has_diverged(bottleneck)) {
        return {.kind = diverged_kind,
                .field = "train.optimizer.lr",
                .message = fmt::format("Diverged: the training loss is {:.4g}, and was {:.4g} at "
                                       "the first step. A smaller learning rate usually helps.",
                                       bottleneck.last_loss, bottleneck.first_loss)};
    }
    const Rule* decisive = &otherwise;
    double worst = 1;
    for (const Rule& rule : rules) {
        const double excess = shares.*rule.share / rule.fine;
        if (excess <= worst) continue;
        worst = excess;
        decisive = &rule;
    }
    const Advice advice = decisive->advice(bottleneck);
    return {
        .kind = decisive->kind,
        .field = advice.field,
        .message = fmt::format(fmt::runtime(decisive->message), 100 * (shares.*decisive->share)) +
                   " " + advice.text};
}

}    // namespace slipway
