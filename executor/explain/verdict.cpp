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

Advice about_input(const Circumstances& circumstances) {
    if (circumstances.images) {
        return {
            "data.image_size",
            "Smaller images are read faster; images stored at that size already, faster still."};
    }
    return {"data.dataset", "A dataset in a form that needs no parsing (idx) is read faster."};
}

Advice about_compile(const Circumstances& circumstances) {
    if (circumstances.late_compiles > 0) {
        return {
            "train.drop_last",
            fmt::format("{} programs were made after warm-up because shapes changed; the compile "
                        "events name them. Keep the shapes the same.",
                        circumstances.late_compiles)};
    }
    return {circumstances.counts_epochs ? "train.epochs" : "train.steps",
            "The program is made once, however long the job trains: a longer job pays it back."};
}

/// Below this other programs take the CPUs away, and a worker waits for one that cannot run.
constexpr double cpu_share_min = 0.8;

Advice about_sync(const Circumstances& circumstances) {
    if (circumstances.cpu_share < cpu_share_min) {
        return {"train.batch_size_per_core",
                fmt::format("The threads got a CPU for only {:.0f} % of their work: other programs "
                            "use the CPUs. Without them, a larger batch helps.",
                            100 * circumstances.cpu_share)};
    }
    if (circumstances.workers == 1) {
        return {"train.batch_size_per_core",
                "Adding up the gradients is done once per step: a larger batch has fewer steps."};
    }
    return {
        "train.batch_size_per_core",
        "Workers meet several times per step: with a larger batch they compute longer between."};
}

Advice about_memory(const Circumstances& circumstances) {
    if (circumstances.bf16) {
        return {"train.precision", "With bf16 half as many bytes are moved."};
    }
    if (circumstances.shared_memory_share > 0.5) {
        return {"train.batch_size_per_core",
                "Most of it is the update of the weights: a larger batch has fewer updates."};
    }
    return {"train.batch_size_per_core",
            "Most of it is between layers: a smaller batch keeps it in the CPU's caches."};
}

Advice about_compute(const Circumstances& circumstances) {
    const int with_all_cores = std::min(8, circumstances.cpus);
    if (circumstances.cores == 1 && circumstances.workers < with_all_cores) {
        return {"accelerator.cores",
                fmt::format("The job runs on {} of {} CPUs: with 8 cores it runs on {}.",
                            circumstances.workers, circumstances.cpus, with_all_cores)};
    }
    if (circumstances.bf16) {
        return {"train.precision", "With bf16 products take about half the time."};
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
    Advice (*advice)(const Circumstances& circumstances);
};

constexpr std::array<Rule, 4> rules{{
    {"input_bound", &TimeShares::input, 0.2,
     "Input-bound: {:.0f} % of the time the cores wait for the next batch.", about_input},
    {"compile_bound", &TimeShares::compile, 0.3,
     "Compile-bound: {:.0f} % of the time goes to making programs.", about_compile},
    {"sync_bound", &TimeShares::sync, 0.25,
     "Sync-bound: {:.0f} % of the time workers wait for each other and add up.", about_sync},
    {"memory_bound", &TimeShares::memory, 0.45,
     "Memory-bound: {:.0f} % of the time goes to kernels that move data more than they compute.",
     about_memory},
}};
constexpr Rule otherwise{"compute_bound", &TimeShares::compute, 0,
                         "Compute-bound: {:.0f} % of the time goes to products and convolutions.",
                         about_compute};

}    // namespace

Verdict judge(const TimeShares& shares, const Circumstances& circumstances) {
    const Rule* decisive = &otherwise;
    double worst = 1;
    for (const Rule& rule : rules) {
        const double excess = shares.*rule.share / rule.fine;
        if (excess <= worst) continue;
        worst = excess;
        decisive = &rule;
    }
    const Advice advice = decisive->advice(circumstances);
    return {
        .kind = decisive->kind,
        .field = advice.field,
        .message = fmt::format(fmt::runtime(decisive->message), 100 * (shares.*decisive->share)) +
                   " " + advice.text};
}

}    // namespace slipway
