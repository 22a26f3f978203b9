#include "executor/train/text_data.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/text/causal_samples.h"
#include "executor/text/masked_samples.h"
#include "executor/text/tokenizer_files.h"

namespace slipway {

namespace {

TokenizerOptions tokenizer_of(const DataSpec& data) {
    const TokenizerSpec spec = data.tokenizer.value_or(TokenizerSpec{});
    return {.type = spec.type,
            .file = spec.file,
            .vocabulary_size = spec.vocab_size.value_or(0),
            .lower_case = spec.lower_case};
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

bool has_short_rows(const TokenSequences& sequences) {
    return std::ranges::any_of(sequences.token_counts,
                               [&](std::int32_t count) { return count < sequences.length; });
}

}    // namespace

TrainData open_text_data(const AttemptPlan& plan) {
    const JobSpec& spec = plan.spec;
    if (plan.dataset_format != "text") {
        throw TrainError("spec_error",
                         fmt::format("{} needs a text, and this data set is of the format {}; use "
                                     "another data.dataset, or another model.arch",
                                     to_string(spec.model.arch), plan.dataset_format));
    }
    TrainData data;
    data.text = std::make_unique<TokenizedText>(open_token_sequences(
        plan.dataset_path, tokenizer_of(spec.data), cut_of(spec), spec.data.split.train_part));
    data.files = tokenizer_files(tokenizer_of(spec.data), *data.text->tokenizer);
    const TokenSequences& sequences = data.text->sequences;
    data.split = split_of(index_of(sequences), spec.data.split);
    data.class_count = sequences.vocabulary_size;
    if (spec.task.type == TaskType::causal_lm) {
        data.training = causal_samples(sequences);
        return data;
    }
    if (has_short_rows(sequences) && sequences.padding) data.padding = *sequences.padding;
    data.training = masked_samples(sequences, {.seed = std::uint64_t(spec.train.seed)});
    data.evaluation = masked_samples(sequences, {.seed = 0, .anew = false});
    return data;
}

}    // namespace slipway
