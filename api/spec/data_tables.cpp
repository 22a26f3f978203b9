#include "api/spec/data_version.h"
#include "api/spec/table/collections.h"
#include "api/spec/tables.h"

namespace slipway {

namespace {

const TextForm data_version_form{
    "8 to 64 lowercase hexadecimal digits, with an optional \"sha256:\" prefix",
    "^(sha256:)?[0-9a-f]{8,64}$", is_data_version};

/// What a tokenizer is read from, or trained to.
void judge_tokenizer(const Json&, TokenizerSpec& spec, const Reader& at) {
    const Reader file = at.at("file");
    const bool reads = spec.type == TokenizerType::wordpiece ||
                       spec.type == TokenizerType::unigram ||
                       (spec.type == TokenizerType::bpe && !spec.vocab_size);
    if (reads && spec.file.empty()) {
        file.report("missing_field",
                    fmt::format("{} is required with type {}{}", file.path(), to_string(spec.type),
                                spec.type == TokenizerType::bpe ? ", or vocab_size to train one"
                                                                : ": a file of the dataset"));
    }
    if (spec.vocab_size && !spec.file.empty()) {
        file.report(
            "conflicting_fields",
            fmt::format("{} cannot be combined with vocab_size: read a tokenizer or train one",
                        file.path()));
    }
}

/// Samples are mixed when they are ready, and once.
void judge_mixing(const Json&, DataSpec& spec, const Reader& at) {
    const auto& steps = spec.augment;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (!mixes_samples(steps[i].name)) continue;
        const Reader here = at.at("augment").at(i).at("name");
        const std::string_view name = to_string(steps[i].name);
        if (i + 1 < steps.size() && !mixes_samples(steps[i + 1].name)) {
            here.report(
                "inconsistent",
                fmt::format("{} is {}, which mixes finished samples; move it after the other steps",
                            here.path(), name));
        }
        for (std::size_t earlier = 0; earlier < i; ++earlier) {
            if (steps[earlier].name != steps[i].name) continue;
            here.report(
                "inconsistent",
                fmt::format("{} is {}, which the list already contains; leave one of them out",
                            here.path(), name));
            break;
        }
    }
}

}    // namespace

const Object<SplitSpec>& split_table() {
    static const auto table =
        Object<SplitSpec>(
            "SplitSpec",
            "Validation split: a random fraction, named parts, or a fold of a stored split.")
            .variants("", {"random", "parts", "stored"}, "random",
                      [](const SplitSpec& spec) {
                          if (!spec.id.empty()) return "stored";
                          return spec.train_part.empty() ? "random" : "parts";
                      })
            .field("val_fraction", &SplitSpec::val_fraction,
                   "Fraction of the samples to hold back for validation; 0: train on all samples, "
                   "without evaluations.",
                   Number{.min = 0, .below = 1}, {.only = {"random"}})
            .field("seed", &SplitSpec::seed, "Random seed of the split.", Integer{},
                   {.only = {"random"}})
            .field("group_by", &SplitSpec::group_by,
                   "Group column of the dataset: groups are held back as a whole, so that none is "
                   "in both training and validation.",
                   Text{}, {.only = {"random"}, .absent_when_empty = true})
            .field("stratify", &SplitSpec::stratify, "Hold back the same fraction of every class.",
                   Flag{}, {.only = {"random"}})
            .field("train", &SplitSpec::train_part, "Part of the dataset to train on.", Text{},
                   {.required = true, .only = {"parts"}})
            .field("val", &SplitSpec::val_part, "Part of the dataset to validate on.", Text{},
                   {.required = true, .only = {"parts"}})
            .field("id", &SplitSpec::id, "Id of a stored split of the dataset (spl_…).",
                   Text{.max = 4000}, {.required = true, .only = {"stored"}})
            .field("fold", &SplitSpec::fold, "Fold to validate on, counted from 0.",
                   Integer{.max = split_folds_max - 1}, {.only = {"stored"}})
            .rule([](const Json&, SplitSpec& spec, const Reader& at) {
                if (spec.train_part.empty() || spec.train_part != spec.val_part) return;
                const Reader here = at.at("val");
                here.report(
                    "inconsistent",
                    fmt::format("{} must be a different part than train, got \"{}\" for both",
                                here.path(), shortened(spec.val_part)));
            });
    return table;
}

const Object<NormalizeSpec>& normalize_table() {
    static const auto table =
        Object<NormalizeSpec>("NormalizeSpec",
                              "Normalisation: each feature becomes (x - mean) / std.")
            .field("mean", &NormalizeSpec::mean, "Mean: one number, or one per channel or column.",
                   NumberOrList{{.item = {}, .min = 1}}, {.required = true})
            .field("std", &NormalizeSpec::std,
                   "Standard deviation: one number, or one per channel or column.",
                   NumberOrList{{.item = {.above = 0}, .min = 1}}, {.required = true})
            .rule([](const Json&, NormalizeSpec& spec, const Reader& at) {
                if (spec.mean.size() == spec.std.size()) return;
                const Reader here = at.at("std");
                here.report("inconsistent",
                            fmt::format("{} must have as many numbers as mean ({}), got {}",
                                        here.path(), spec.mean.size(), spec.std.size()));
            });
    return table;
}

const Object<ColumnsSpec>& columns_table() {
    static const auto table =
        Object<ColumnsSpec>("ColumnsSpec", "Columns of a table, to override those of the dataset.")
            .field("label", &ColumnsSpec::label,
                   "Label column: the classes; for multilabel and regression, the numeric labels.",
                   Text{}, {.unless = "labels", .absent_when_empty = true})
            .field("labels", &ColumnsSpec::labels,
                   "Numeric label columns, for multilabel and regression.",
                   List<Text>{.item = {}, .min = 1, .max = 1000, .unique = true},
                   {.absent_when_empty = true})
            .field("features", &ColumnsSpec::features,
                   "Feature columns. Default: all except the label and group columns, including "
                   "those of the dataset.",
                   List<Text>{.item = {}, .min = 1, .unique = true}, {.absent_when_empty = true});
    return table;
}

const Object<TokenizerSpec>& tokenizer_table() {
    static const auto table =
        Object<TokenizerSpec>("TokenizerSpec", "Tokenizer.")
            .variants("type", {"byte", "character", "wordpiece", "bpe", "unigram"}, "",
                      [](const TokenizerSpec& spec) { return to_string(spec.type); })
            .field("type", &TokenizerSpec::type,
                   "byte: one token per byte; character: the characters of the training text; "
                   "wordpiece: as BERT; bpe: byte-level, as GPT-2; unigram: a sentencepiece model.",
                   Choice<TokenizerType>{}, {.required = true})
            .field(
                "file", &TokenizerSpec::file,
                "Tokenizer file in the dataset. wordpiece: vocab.txt; bpe: tokenizer.json, or "
                "vocab.json with merges.txt next to it; unigram: the model; character: a list "
                "(characters.json) instead of the characters of the text.",
                Text{.max = 1000},
                {.only = {"character", "wordpiece", "bpe", "unigram"}, .absent_when_empty = true})
            .field("vocab_size", &TokenizerSpec::vocab_size,
                   "Train a tokenizer with this many tokens on the training text, instead of "
                   "reading a file.",
                   Integer{.min = 260, .max = 1000000}, {.only = {"bpe"}})
            .field("lower_case", &TokenizerSpec::lower_case,
                   "Convert to lower case and strip accents, as for uncased vocabularies.", Flag{},
                   {.only = {"wordpiece"}})
            .rule(judge_tokenizer);
    return table;
}

const Object<DataSpec>& data_table() {
    static const auto table =
        Object<DataSpec>("DataSpec", "Data to train and validate on.")
            .field("dataset", &DataSpec::dataset, "Id or name of a dataset.", Text{},
                   {.required = true})
            .field("split", &DataSpec::split, "Validation split.",
                   Nested<SplitSpec>{&split_table()})
            .field("image_size", &DataSpec::image_size,
                   "Resize images to squares of this side, in pixels. Default: the dataset's "
                   "image_size.",
                   Integer{.min = 1, .max = 4096})
            .field("augment", &DataSpec::augment,
                   "Augmentation of training images, applied in this order. mixup and cutmix come "
                   "last and mix samples with one another.",
                   List<Nested<AugmentSpec>>{.item = {&augment_table()}, .max = 32},
                   {.absent_when_empty = true})
            .field("normalize", &DataSpec::normalize,
                   "Normalisation: each feature becomes (x - mean) / std.",
                   Nested<NormalizeSpec>{&normalize_table()})
            .field("columns", &DataSpec::columns,
                   "Columns of a table, to override those of the dataset.",
                   Nested<ColumnsSpec>{&columns_table()})
            .field("truncated_images", &DataSpec::truncated_images,
                   "Handling of damaged images. fail: the job fails and names the image; skip: the "
                   "image is skipped; accept: the part that can be decoded is used, the rest is "
                   "gray. Default: the dataset's truncated_images.",
                   Choice<TruncatedImages>{})
            .field("packed", &DataSpec::packed,
                   "Cache decoded images in a file that later jobs read instead of decoding them "
                   "again.",
                   Flag{})
            .field("max_length", &DataSpec::max_length,
                   "Length of the sequences that text is cut into, in tokens. Default: 128.",
                   Integer{.min = 2, .max = 65536})
            .field("tokenizer", &DataSpec::tokenizer, "Tokenizer. Default: one token per byte.",
                   Nested<TokenizerSpec>{&tokenizer_table()})
            .field("version", &DataSpec::version,
                   "Required content_hash of the dataset, or a prefix of it. Default: any.",
                   Text{.form = &data_version_form}, {.absent_when_empty = true})
            .rule(judge_mixing);
    return table;
}

}    // namespace slipway
