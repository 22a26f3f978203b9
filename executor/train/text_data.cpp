#include "executor/train/text_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "executor/text/causal_samples.h"
#include "executor/text/masked_samples.h"
#include "executor/text/tokenizer_files.h"
#include "executor/train/train_error.h"

namespace slipway {

namespace {

TokenizerOptions tokenizer_of(const DataSpec& data) {
    return tokenizer_options(data.tokenizer.value_or(TokenizerSpec{}));
}

/// A causal row has one token more than a sample: the last one's label. It is the next row's first.
CutOptions cut_of(const JobSpec& spec) {
    CutOptions cut;
    if (spec.data.max_length) cut.length = *spec.data.max_length;
    if (spec.task.type == TaskType::masked_lm) return cut;
    ++cut.length;
    cut.overlap = 1;
    cut.framed = false;
    return cut;
}

/// The tokenizer whose tokens the weights of the checkpoint know, whatever the dataset's folder
/// has by now; null for a run that begins.
std::unique_ptr<Tokenizer> trained_tokenizer(const AttemptPlan& plan) {
    if (!plan.resume_from && !plan.prediction) return nullptr;
    try {
        return load_tokenizer(plan.prediction ? plan.prediction->checkpoint : *plan.resume_from);
    } catch (const Error& error) {
        throw TrainError("checkpoint_corrupt", error.what());
    }
}

/// A step without labels moves nothing; a job of such steps alone would seem to train.
void require_labels(const Samples& samples, const std::vector<std::int64_t>& chosen,
                    std::string_view part) {
    if (chosen.empty()) return;
    const bool has_labels = std::ranges::any_of(
        chosen, [&](std::int64_t sample) { return samples.label_count(sample) > 0; });
    if (has_labels) return;
    throw TrainError("data_error",
                     fmt::format("the {} part of this text has no token to predict; a row needs a "
                                 "token of text, and two for causal_lm: use more text, or another "
                                 "data.split",
                                 part));
}

/// The words of the general message would not lead to max_length.
void require_rows(const JobSpec& spec, const TokenSequences& sequences) {
    const SplitSpec& split = spec.data.split;
    if (!split.train_part.empty() || !split.id.empty() || split.val_fraction <= 0) return;
    const auto rows = std::int64_t(sequences.token_counts.size());
    const std::int64_t held_back = std::llround(split.val_fraction * double(rows));
    if (held_back > 0 && held_back < rows) return;
    throw TrainError(
        "data_error",
        fmt::format("this text is cut into {} rows of up to {} tokens (data.max_length), of "
                    "which val_fraction {} leaves {} without one; use a smaller "
                    "data.max_length, or more text",
                    rows, sequences.length, split.val_fraction,
                    held_back > 0 ? "training" : "validation"));
}

bool has_short_rows(const TokenSequences& sequences) {
    return std::ranges::any_of(sequences.token_counts,
                               [&](std::int32_t count) { return count < sequences.length; });
}

}    // namespace

TrainData open_text_data(const AttemptPlan& plan) {
    const JobSpec& spec = plan.spec;
    if (plan.dataset_format != "text") {
        throw TrainError("spec_error",
                         fmt::format("{} needs a text, and this dataset is of the format {}; use "
                                     "another data.dataset, or another model.arch",
                                     to_string(spec.model.arch), plan.dataset_format));
    }
    TrainData data;
    // What a tokenizer has learned it need not see again: another text may lack the training part.
    const std::string training_part = plan.prediction ? "" : spec.data.split.train_part;
    data.text = std::make_unique<TokenizedText>(
        open_token_sequences(plan.dataset_path, tokenizer_of(spec.data), cut_of(spec),
                             training_part, trained_tokenizer(plan)));
    data.files = tokenizer_files(tokenizer_of(spec.data), *data.text->tokenizer);
    const TokenSequences& sequences = data.text->sequences;
    if (!plan.prediction) require_rows(spec, sequences);
    data.split = split_for(plan, index_of(sequences));
    data.class_count = sequences.vocabulary_size;
    if (spec.task.type == TaskType::causal_lm) {
        data.training = causal_samples(sequences);
    } else {
        if (has_short_rows(sequences) && sequences.padding) data.padding = *sequences.padding;
        data.training = masked_samples(sequences, {.seed = std::uint64_t(spec.train.seed)});
        data.evaluation = masked_samples(sequences, {.seed = 0, .anew = false});
    }
    require_labels(*data.training, data.split.train, "training");
    require_labels(*data.training, data.split.val, "validation");
    return data;
}

}    // namespace slipway
