#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/spec/architecture.h"
#include "api/spec/augment_spec.h"
#include "api/spec/layer_spec.h"
#include "api/spec/spelling.h"
#include "api/spec/task_spec.h"
#include "api/spec/train_spec.h"
#include "api/spec/truncated_images.h"

namespace slipway {

// The job spec as plain data: what a user may ask of a job. The values here are the defaults;
// bounds, documentation and rules are in the field tables (job_spec_tables.h).

enum class TokenizerType { byte, character, wordpiece, bpe, unigram };
enum class MetricsReport { never, end, epoch };
enum class SinkName { csv, tensorboard };
enum class QueueClass { urgent, high, normal, low, idle };

/// `model.init`: weights to begin with.
struct InitSpec {
    /// A checkpoint or an upload of a safetensors file by id; without a service the path of either.
    std::string from;
    bool strict = true;    ///< every name and shape must be the network's
    bool operator==(const InitSpec&) const = default;
};

/// `model.head`.
struct HeadSpec {
    bool replace = false;    ///< the last layer is drawn anew instead of loaded
    bool operator==(const HeadSpec&) const = default;
};

/// `model`. `width`, `depth` and `hidden` belong to mlp, `layers` to layers, `from` to imported;
/// `dropout`, `vocab_size` and `max_length` to the language models, `num_classes` to the others.
struct ModelSpec {
    Arch arch = Arch::mlp;
    std::optional<std::int64_t> num_classes;    ///< or labels; absent: as many as the dataset has
    std::int64_t width = 128;                   ///< features of each hidden layer
    std::int64_t depth = 2;                     ///< hidden layers
    /// Features of each hidden layer, in order; absent: `depth` times `width`. An empty list is a
    /// linear classifier.
    std::optional<std::vector<std::int64_t>> hidden;
    double dropout = 0.1;                      ///< share of activations that training drops
    std::optional<std::int64_t> vocab_size;    ///< absent: the tokenizer's
    /// Positions that it knows; absent: as published, 512 of BERT and 1024 of GPT-2.
    std::optional<std::int64_t> max_length;
    std::optional<std::int64_t> heads;    ///< of its attention; absent: as published
    std::vector<LayerSpec> layers;
    std::string from;                ///< upl_…; without a service the path of a .pt2 file
    bool sync_batch_norm = false;    ///< batch norms see the batches of all cores
    /// Pairs of names of parameters that are one parameter.
    std::vector<std::array<std::string, 2>> tie;
    std::optional<InitSpec> init;    ///< absent: drawn by train.seed
    HeadSpec head;
    std::vector<std::string> freeze;    ///< patterns of names of parameters that do not move
    bool operator==(const ModelSpec&) const = default;
};

/// `data.split`: a drawn part, named parts of the dataset (`train_part` not empty), or a fold of a
/// stored split (`id` not empty).
struct SplitSpec {
    double val_fraction = 0.1;    ///< in [0, 1); 0: no validation
    std::int64_t seed = 0;
    std::string group_by;      ///< the dataset's group column; empty: samples are drawn one by one
    bool stratify = false;     ///< validation has each class in the dataset's proportion
    std::string train_part;    ///< on the wire `train`
    std::string val_part;      ///< on the wire `val`
    std::string id;            ///< spl_…; without a service the path of a manifest
    std::int64_t fold = 0;     ///< of the stored split
    bool operator==(const SplitSpec&) const = default;
};

/// `data.normalize`: (x - mean) / std; one number for all channels or columns, or one for each.
struct NormalizeSpec {
    std::vector<double> mean;
    std::vector<double> std;    ///< each > 0
    bool operator==(const NormalizeSpec&) const = default;
};

/// `data.columns`: overrides what the dataset says (csv, image_csv, tfrecord).
struct ColumnsSpec {
    std::string label;                    ///< empty: as the dataset says
    std::vector<std::string> labels;      ///< of numbers; empty: as the dataset says
    std::vector<std::string> features;    ///< empty: as the dataset says
    bool operator==(const ColumnsSpec&) const = default;
};

/// `data.tokenizer`: what turns text into tokens.
struct TokenizerSpec {
    TokenizerType type = TokenizerType::byte;
    std::string file;    ///< of the dataset; empty: none, and for character and bpe a trained one
    std::optional<std::int64_t> vocab_size;    ///< bpe: train one of so many tokens
    bool lower_case = true;                    ///< wordpiece
    bool operator==(const TokenizerSpec&) const = default;
};

/// `data`.
struct DataSpec {
    std::string dataset;    ///< id or name
    SplitSpec split;
    std::optional<std::int64_t> image_size;    ///< side in pixels; absent: as the dataset says
    std::vector<AugmentSpec> augment;          ///< of training samples, in this order
    std::optional<NormalizeSpec> normalize;
    std::optional<ColumnsSpec> columns;
    std::optional<TruncatedImages> truncated_images;    ///< absent: as the dataset says
    bool packed = false;    ///< decoded images are kept in a file that jobs share
    std::optional<std::int64_t> max_length;    ///< tokens of a sequence; absent: 128
    std::optional<TokenizerSpec> tokenizer;    ///< absent: byte
    /// The dataset's content hash, or how it begins (data_version.h); empty: whichever it has.
    std::string version = {};
    bool operator==(const DataSpec&) const = default;
};

/// How gradients are sent between the hosts of a slice; bf16: each host's sum is rounded to it, and
/// so is the sum of all hosts.
enum class GradientExchange { f32, bf16 };

/// Cores of one host that a job of several cores has; a slice has as many of each of its hosts.
inline constexpr std::int64_t host_cores = 8;

/// `accelerator.slice`: whole hosts.
struct SliceSpec {
    std::int64_t cores = 2 * host_cores;    ///< of all its hosts together: 16, 24 … 2048
    GradientExchange gradient_exchange = GradientExchange::f32;
    bool operator==(const SliceSpec&) const = default;
};

/// `accelerator`: a number of cores (1 or 8), one core by number, or a slice.
struct AcceleratorSpec {
    std::int64_t cores = 1;    ///< 1 or 8; 1 with `core_id`; of a slice all of its cores
    std::optional<std::int64_t> core_id = {};    ///< 1 to 8; on the wire `core_ids`: [5]
    std::optional<SliceSpec> slice = {};         ///< absent: the cores are those of one host
    std::optional<std::int64_t> memory_bytes =
        {};    ///< a plan above this is refused; absent: no limit
    bool operator==(const AcceleratorSpec&) const = default;
};

/// Whether a slice sends its gradients as bf16.
inline bool exchanges_bf16(const AcceleratorSpec& accelerator) {
    return accelerator.slice && accelerator.slice->gradient_exchange == GradientExchange::bf16;
}

/// What a job of one host gets in place of the cores of a slice: those of one of its hosts.
AcceleratorSpec on_one_host(const AcceleratorSpec& accelerator);

/// `checkpoint.best`. Metrics are those of the validation part: "val_" and a task metric.
struct BestSpec {
    std::string metric = "val_loss";
    MetricMode mode = MetricMode::min;    ///< default: what suits the metric
    std::int64_t keep = 1;
    bool operator==(const BestSpec&) const = default;
};

/// `checkpoint`.
struct CheckpointSpec {
    std::int64_t every_steps = 0;     ///< 0: not by steps
    std::int64_t every_epochs = 1;    ///< 0: not by epochs
    bool save_final = true;           ///< save the end of training
    BestSpec best;
    std::int64_t keep_last = 2;
    bool operator==(const CheckpointSpec&) const = default;
};

/// `monitor`.
struct MonitorSpec {
    std::int64_t log_every_steps = 50;
    MetricsReport metrics_report = MetricsReport::end;
    std::vector<SinkName> sinks{SinkName::csv, SinkName::tensorboard};
    bool operator==(const MonitorSpec&) const = default;
};

/// `limits`.
struct LimitsSpec {
    std::optional<double> max_wall_s;    ///< of all attempts together
    std::optional<double> max_core_s;    ///< the same, each second counted once for each core
    std::int64_t max_restarts = 3;
    std::optional<Instant> start_after;
    std::optional<Instant> valid_until;
    bool operator==(const LimitsSpec&) const = default;
};

/// `queue`.
struct QueueSpec {
    QueueClass job_class = QueueClass::normal;    ///< on the wire `class`
    bool preemptible = true;
    std::string group;                          ///< of jobs of the project; empty: none
    std::optional<std::int64_t> group_limit;    ///< so many of the group run at a time
    std::string pool;    ///< of hosts; "any": all hosts; empty: the service's default
    bool operator==(const QueueSpec&) const = default;
};

/// A whole job.
struct JobSpec {
    std::string name;    ///< empty: the service makes one
    std::string project = "default";
    std::map<std::string, std::string> labels;
    ModelSpec model;
    TaskSpec task;
    DataSpec data;
    TrainSpec train;
    AcceleratorSpec accelerator;
    CheckpointSpec checkpoint;
    MonitorSpec monitor;
    LimitsSpec limits;
    QueueSpec queue;
    bool operator==(const JobSpec&) const = default;
};

/// Whether it has batch norm: the samples of a core's batch change one another's results, and
/// padding would, too.
bool has_batch_norm(const ModelSpec& model);

/// Whether it reads columns of a table as numbers of rows, which cannot be changed like quantities.
bool has_embedding(const ModelSpec& model);

/// Whether it matters which samples are on one core: a batch norm sees those of its core alone. On
/// one core they are the whole batch.
bool normalizes_by_core(const JobSpec& spec);

/// Whether batch norms see the parts of all cores together, in whichever parts they are computed.
bool normalizes_together(const JobSpec& spec);
/// The task of a language model; none for the others.
std::optional<TaskType> language_task(Arch arch);

/// What a spec comes to: the numbers that users ask about first.
struct EffectiveValues {
    std::int64_t world_size = 1;    ///< cores
    /// world_size * train.batch_size_per_core * train.grad_accumulation
    std::int64_t global_batch = 32;
    double lr = 0;    ///< after lr_scaling: times world_size, or its square root
    Precision precision = Precision::f32;
    bool operator==(const EffectiveValues&) const = default;
};

/// Pure; `spec` has been decoded without problems.
EffectiveValues effective(const JobSpec& spec);

template <>
struct Spelling<TokenizerType> {
    static constexpr std::array<std::string_view, 5> words{"byte", "character", "wordpiece", "bpe",
                                                           "unigram"};
};
template <>
struct Spelling<GradientExchange> {
    static constexpr std::array<std::string_view, 2> words{"f32", "bf16"};
};
template <>
struct Spelling<MetricsReport> {
    static constexpr std::array<std::string_view, 3> words{"never", "end", "epoch"};
};
template <>
struct Spelling<SinkName> {
    static constexpr std::array<std::string_view, 2> words{"csv", "tensorboard"};
};
template <>
struct Spelling<QueueClass> {
    static constexpr std::array<std::string_view, 5> words{"urgent", "high", "normal", "low",
                                                           "idle"};
};

}    // namespace slipway
