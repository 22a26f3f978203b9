#pragma once

#include <array>
#include <span>
#include <string_view>

#include "api/spec/evaluation_spec.h"
#include "api/spec/job_spec.h"
#include "api/spec/prediction_spec.h"
#include "api/spec/requests.h"
#include "api/spec/sweep_spec.h"
#include "api/spec/table/object.h"

namespace slipway {

struct JobForkBody;
struct JobBulkBody;
struct CrossValidationSpec;
struct FoldParallelism;
struct CrossValidationOutputs;

// The field tables. One function per object, each with one table that lives for ever. To add a
// field: a member in the struct, a row in the table. To let something documented for later exist:
// move its name from `later` to a row, or to the enumeration.

// job_tables.cpp
const Object<JobSpec>& job_table();
const Object<TaskSpec>& task_table();
const Object<CheckpointSpec>& checkpoint_table();
const Object<BestSpec>& best_table();
const Object<MonitorSpec>& monitor_table();
const Object<LimitsSpec>& limits_table();
const Object<QueueSpec>& queue_table();
const Object<JobPatchBody>& job_patch_table();

// job_action_tables.cpp
const Object<JobForkBody>& job_fork_table();
const Object<JobBulkBody>& job_bulk_table();

// model_tables.cpp
const Object<ModelSpec>& model_table();
const Object<InitSpec>& init_table();
const Object<HeadSpec>& head_table();
const Object<AcceleratorSpec>& accelerator_table();
/// Of a job that cannot be a slice.
const Object<AcceleratorSpec>& one_host_accelerator_table();

// layer_tables.cpp
const Object<LayerSpec>& layer_table();
/// The largest list of layers: names, inputs, depth and count. Each layer is fine by itself.
void judge_layers(const std::vector<LayerSpec>& layers, const Reader& at);

/// What evaluations are compared by, checkpoint.best and train.early_stopping: metrics that are one
/// number, in the order of TaskMetric.
inline constexpr auto best_metrics =
    std::to_array<std::string_view>({"val_loss", "val_accuracy", "val_perplexity",
                                     "val_top5_accuracy", "val_auc", "val_mae", "val_r2"});

// train_tables.cpp
const Object<TrainSpec>& train_table();
const Object<OptimizerSpec>& optimizer_table();
const Object<ParameterGroupSpec>& parameter_group_table();
const Object<ScheduleSpec>& schedule_table();
const Object<EmaSpec>& ema_table();
const Object<EarlyStoppingSpec>& early_stopping_table();

// data_tables.cpp
const Object<DataSpec>& data_table();
const Object<SplitSpec>& split_table();
const Object<NormalizeSpec>& normalize_table();
const Object<ColumnsSpec>& columns_table();
const Object<TokenizerSpec>& tokenizer_table();

// augment_tables.cpp
const Object<AugmentSpec>& augment_table();

// prediction_tables.cpp
const Object<PredictionSpec>& prediction_table();
const Object<PredictionSource>& prediction_source_table();
const Object<PredictionDataSpec>& prediction_data_table();

// evaluation_tables.cpp
const Object<EvaluationSpec>& evaluation_spec_table();
const Object<EvaluationDataSpec>& evaluation_data_table();

// cross_validation_tables.cpp
const Object<CrossValidationSpec>& cross_validation_table();
const Object<FoldParallelism>& fold_parallelism_table();
const Object<CrossValidationOutputs>& cross_validation_outputs_table();

// request_tables.cpp
const Object<DatasetCreate>& dataset_create_table();
const Object<DatasetOptionsSpec>& dataset_options_table();
const Object<DatasetSource>& dataset_source_table();
const Object<SplitCreate>& split_create_table();
const Object<UploadCreate>& upload_create_table();
const Object<TokenCreate>& token_create_table();
const Object<MemberPut>& member_put_table();
const Object<LoginRequest>& login_table();
const Object<HostDrainRequest>& host_drain_request_table();
const Object<JoinTokenCreate>& join_token_create_table();
const Object<QueueSimulateBody>& queue_simulate_table();
const Object<GroupPut>& group_put_table();
const Object<ProjectCreate>& project_create_table();
const Object<ProjectPatch>& project_patch_table();
const Object<ProjectQuota>& project_quota_table();
const Object<WebhookPatch>& webhook_patch_table();
const Object<WebhookCreate>& webhook_create_table();
const Object<RetryFailedBody>& retry_failed_table();

// sweep_tables.cpp
const Object<SweepSpec>& sweep_table();
const Object<SweepPatchBody>& sweep_patch_table();
const Object<SweepExtendBody>& sweep_extend_table();
const Object<SweepPromoteBody>& sweep_promote_table();
const Object<SweepSuggestBody>& sweep_suggest_table();
const Object<SweepObserveBody>& sweep_observe_table();
const Object<SweepSimulateBody>& sweep_simulate_table();

/// The bodies of requests that openapi.json names; others are reached through them.
std::span<const ObjectTable* const> request_tables();
/// The answers: answers/job_answers.cpp, answers/other_answers.cpp.
std::span<const ObjectTable* const> job_answer_tables();
std::span<const ObjectTable* const> report_answer_tables();
std::span<const ObjectTable* const> queue_answer_tables();
std::span<const ObjectTable* const> cross_validation_answer_tables();
std::span<const ObjectTable* const> sweep_answer_tables();
std::span<const ObjectTable* const> other_answer_tables();

/// Which of a dataset's options concern this format.
Json dataset_options_schema(DatasetFormat format, Definitions& definitions);

}    // namespace slipway
