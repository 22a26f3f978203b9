#include "executor/train/run_options.h"

#include <algorithm>

#include "executor/cache/environment.h"
#include "executor/processor/instruction_set.h"
#include "executor/runtime/run_plan.h"
#include "executor/train/kept_parts.h"
#include "executor/train/settings.h"

namespace slipway {

namespace {

/// Elsewhere bf16 saves memory and no time.
bool has_bf16_products() {
    return instruction_set() >= InstructionSet::avx512_core_bf16;
}

bool decodes_images(const TrainData& data) {
    return data.raw && data.raw->decodes_images();
}

/// Of rows in memory. To read so few ahead saves no waiting, and takes memory (decision 0090).
constexpr std::int64_t read_in_place_bytes_max = 256 << 10;

bool reads_in_place(const AttemptPlan& plan, const TrainData& data) {
    if (!data.raw || data.raw->copy_kind() == CopyKind::none) return false;
    const std::int64_t members = plan.member ? std::int64_t(plan.member->hosts.size()) : 1;
    const std::int64_t rows =
        plan.spec.train.batch_size_per_core * plan.spec.accelerator.cores / members;
    return rows * data.evaluated().shape().features.byte_count() <= read_in_place_bytes_max;
}

}    // namespace

int threads_of(const AttemptPlan& plan) {
    return plan.worker_threads > 0 ? plan.worker_threads : std::min(granted_cpus(), workers_max);
}

int part_threads(const AttemptPlan& plan) {
    return plan.member ? 1 : threads_of(plan);
}

Init initial_values(const AttemptPlan& plan) {
    return plan.resume_from ? Init::zeros()
                            : Init(std::uint64_t(plan.spec.train.seed), threads_of(plan));
}

NetworkSource network_source(const AttemptPlan& plan) {
    return plan.resume_from ? *plan.resume_from : plan.network_from.value_or(NetworkSource());
}

std::unique_ptr<ObjectCache> open_cache(const AttemptPlan& plan, Reporter& reporter) {
    if (plan.cache_folder.empty()) return nullptr;
    try {
        return std::make_unique<ObjectCache>(ObjectCacheOptions{
            .folder = plan.cache_folder, .environment = cache_environment(code_compiler())});
    } catch (const Error& error) {
        reporter.warning("cache_unusable", error.what());
        return nullptr;
    }
}

EngineOptions engine_options(const AttemptPlan& plan, std::int64_t cores, ObjectCache* cache) {
    return {.cores = int(cores),
            .workers = threads_of(plan),
            .memory_bytes_max = plan.memory_bytes_max,
            .precision = precision_policy(plan.spec.train.precision),
            .cache = cache,
            .programs = plan.kept != nullptr ? &plan.kept->programs : nullptr,
            .cpu_scope = plan.cpu_scope,
            .chooses_workers = !plan.keeps_workers};
}

LoaderOptions loader_options(const AttemptPlan& plan, const TrainData& data) {
    const bool works = decodes_images(data) || !plan.spec.data.augment.empty();
    if (!works && reads_in_place(plan, data)) return {.threads = 0};
    if (!works)
        return {.threads = 1, .batches_ahead = 4};    // rows are copied, much faster than used
    const int threads = threads_of(plan);
    return {.threads = threads, .batches_ahead = std::max(4, 2 * threads)};
}

ExplainOptions explain_options(const AttemptPlan& plan, const SamplerOptions& sampler,
                               const TrainData& data, const ObjectCache* cache, Tick started) {
    const int members = plan.member ? int(plan.member->hosts.size()) : 1;
    const int cores = int(plan.spec.accelerator.cores) / members;
    const int rank = plan.member ? plan.member->rank : 0;
    const bool is_f32 = plan.spec.train.precision == Precision::f32;
    const bool reports = plan.spec.monitor.metrics_report != MetricsReport::never;
    return {.folder = reports ? plan.report_folder : std::filesystem::path(),
            .attempt = plan.attempt,
            .started = started,
            .parts_per_core = int(sampler.cores) / members / cores,
            .first_core = int(plan.spec.accelerator.core_id.value_or(1)) + rank * cores,
            .bottleneck = {.cores = cores,
                           .cpus = granted_cpus(),
                           .images = decodes_images(data),
                           .augments = !plan.spec.data.augment.empty(),
                           .bf16 = is_f32 && has_bf16_products(),
                           .widens_bf16 = !is_f32 && !has_bf16_products(),
                           .counts_epochs = plan.spec.train.epochs.has_value()},
            .loader_threads = loader_options(plan, data).threads,
            .augments = !plan.spec.data.augment.empty(),
            .decoded = [raw = data.raw.get()] { return raw ? raw->decoded_count() : 0; },
            .cache = cache,
            .position = plan.position};
}

}    // namespace slipway
