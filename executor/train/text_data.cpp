#include "executor/train/text_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "api/base/sha256.h"
#include "executor/data/shared/copy_key.h"
#include "executor/data/shared/use_copy.h"
#include "executor/text/causal_samples.h"
#include "executor/text/masked_samples.h"
#include "executor/text/sequence_records.h"
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
    if (!plan.resume_from && !plan.inference) return nullptr;
    try {
        return load_tokenizer(plan.inference ? plan.inference->checkpoint() : *plan.resume_from);
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

/// What the rows depend on beside the files.
std::string describe_rows(const TokenizerOptions& tokenizer, const CutOptions& cut,
                          const std::string& training_part, const Tokenizer* trained) {
    std::string text =
        fmt::format("{} {} {} {} {} {} {} {}\n", int(tokenizer.type), tokenizer.vocabulary_size,
                    tokenizer.lower_case, cut.length, cut.overlap, cut.framed,
                    tokenizer.file.size(), training_part.size());
    text += tokenizer.file + training_part;
    return trained == nullptr ? text : text + "\n" + sha256_hex(trained->file().bytes);
}

CopyFacts facts_of_text(const AttemptPlan& plan, const std::string& how,
                        std::chrono::seconds settled_after) {
    // The tokenizer's file lies beside a text that is a file.
    if (plan.spec.data.tokenizer && !plan.spec.data.tokenizer->file.empty() &&
        std::filesystem::is_regular_file(plan.dataset_path))
        return {.text = {}, .why_not = "its tokenizer is a file beside the dataset"};
    const FileFacts files = facts_of_files(plan.dataset_path, settled_after);
    return {.text = "text\n" + how + "\n" + files.text,
            .why_not = files.is_fresh ? "its files were changed a moment ago" : ""};
}

/// The rows and what checkpoints keep of the tokenizer, from a copy that is shared where there is
/// one; then the tokenizer itself is no longer needed and is dropped.
void tokenize(const AttemptPlan& plan, TrainData& data) {
    const TokenizerOptions options = tokenizer_of(plan.spec.data);
    const CutOptions cut = cut_of(plan.spec);
    // What a tokenizer has learned it need not see again: another text may lack the training part.
    const std::string part = plan.inference ? "" : plan.spec.data.split.train_part;
    std::unique_ptr<Tokenizer> trained = trained_tokenizer(plan);
    const std::string how = describe_rows(options, cut, part, trained.get());
    const SharingOptions sharing = sharing_of(plan);
    data.sharing =
        use_copy(sharing, [&] { return facts_of_text(plan, how, sharing.settled_after); },
                 {.open =
                      [&] {
                          data.text = std::make_unique<TokenizedText>(open_token_sequences(
                              plan.dataset_path, options, cut, part, std::move(trained)));
                          data.files = tokenizer_files(options, *data.text->tokenizer);
                      },
                  .write =
                      [&](CopyWriter& to) {
                          to.number(std::int64_t(data.files.size()));
                          for (const CheckpointFile& file : data.files) {
                              to.text(file.name);
                              to.text(file.bytes);
                          }
                          write_sequences(to, data.text->sequences);
                      },
                  .read =
                      [&](CopyReader& from) {
                          std::vector<CheckpointFile> files;
                          for (std::int64_t count = from.number(); count > 0; --count) {
                              std::string name = from.text();
                              files.push_back({.name = std::move(name), .bytes = from.text()});
                          }
                          data.text = std::make_unique<TokenizedText>(TokenizedText{
                              .tokenizer = nullptr, .sequences = read_sequences(from)});
                          data.files = std::move(files);
                      }});
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
    tokenize(plan, data);
    const TokenSequences& sequences = data.text->sequences;
    if (!plan.inference) require_rows(spec, sequences);
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
