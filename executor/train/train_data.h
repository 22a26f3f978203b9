#pragma once

#include <memory>
#include <optional>

#include "executor/checkpoint/checkpoint.h"
#include "executor/data/dataset.h"
#include "executor/data/loader.h"
#include "executor/data/packed/packed_images.h"
#include "executor/data/shared/shared_images.h"
#include "executor/data/shared/use_copy.h"
#include "executor/data/split.h"
#include "executor/text/token_sequences.h"
#include "executor/train/attempt_plan.h"
#include "executor/train/model.h"

namespace slipway {

/// A job's data, opened and divided.
struct TrainData {
    std::unique_ptr<TokenizedText> text;    ///< of a language model, which has no dataset else
    std::unique_ptr<Dataset> raw;           ///< as stored
    SharingOutcome sharing;                 ///< of what `raw` or `text` keeps in memory
    PackedImages packed;                    ///< of `raw`, with data.packed
    SharedImages shared;                    ///< of `raw`, where other jobs may read them
    std::unique_ptr<Dataset>
        normalized;              ///< wraps images(); absent when nothing is to be normalised
    std::string content_hash;    ///< of its files; empty: no check needs it
    Split split;
    std::int64_t class_count = 0;    ///< classes, labels that are numbers, or tokens of a text
    std::vector<std::string> label_names;    ///< of the classes or labels
    std::vector<std::string> columns;        ///< of a table's features, as checkpoints name them
    std::optional<std::int64_t> padding;     ///< the token that fills short rows of a text up
    std::unique_ptr<Samples> training;       ///< may draw anew in each epoch
    std::unique_ptr<Samples> evaluation;     ///< the same in each; null: as `training`
    Mixing mixing;                           ///< of `training`, whose labels it makes shares
    std::vector<CheckpointFile>
        files;    ///< that each checkpoint keeps: the tokenizer, the list of damaged images
    std::vector<DataProblem> skipped;    ///< damaged images that `split` is without

    /// Before normalisation; packed and shared ones have been through the steps of data.augment
    /// that come before the first that is drawn.
    const Dataset& images() const {
        if (packed.dataset) return *packed.dataset;
        return shared.dataset ? *shared.dataset : *raw;
    }
    bool has_prepared_images() const { return packed.dataset || shared.dataset; }
    const Dataset& dataset() const { return normalized ? *normalized : images(); }
    const Samples& evaluated() const { return evaluation ? *evaluation : *training; }
    SampleDetails details() const;     ///< which must not outlive it
    LabelCount label_count() const;    ///< of the training samples, which must outlive it
};

/// The dataset with labels as the spec's task has them; `dataset` must outlive the result.
std::unique_ptr<Samples> samples_of(const JobSpec& spec, const Dataset& dataset);

/// The split that a spec asks for, of a dataset without a stored split.
/// errors  invalid_argument when the data does not have what it is split by
Split split_of(const DatasetIndex& index, const SplitSpec& spec);
/// The same of the plan's dataset, and folds of stored splits.
/// errors  DataError when the stored split is not of this dataset, invalid_argument
Split split_of(const AttemptPlan& plan, const Dataset& dataset);

/// The split of a job; of a prediction everything that it is of, as the validation part.
/// errors  as split_of
Split split_for(const AttemptPlan& plan, const Dataset& dataset);
/// The same of samples that no stored split is of: text.
Split split_for(const AttemptPlan& plan, const DatasetIndex& index);

/// Opens the plan's dataset with the spec's image size and normalisation, and splits it. One to
/// predict is read as the checkpoint's samples were, and must fit them.
/// errors  TrainError data_error for what is in the files, data_changed when they are not those
/// that
///         were checked, spec_error for what the spec asks of them
TrainData open_train_data(const AttemptPlan& plan);

/// Opens the plan's dataset as `data.raw`, from a copy that is shared where there is one.
/// errors  as open_dataset
void open_raw(const AttemptPlan& plan, const DatasetOptions& options, TrainData& data);
/// The same, its split, and its images as `data.images()`: packed, shared or as they are. `steps`
/// are those of data.augment.
/// errors  as open_dataset and split_of; TrainError spec_error for data.packed without image files
void open_images(const AttemptPlan& plan, const DatasetOptions& options,
                 std::span<const AugmentSpec> steps, TrainData& data);
/// How the plan's data is shared.
SharingOptions sharing_of(const AttemptPlan& plan);

/// Takes from the dataset's options what is to come after the pixels.
std::optional<Moments> take_moments(DatasetOptions& options);

}    // namespace slipway
