#include "executor/text/masked_samples.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/base/error.h"
#include "executor/tensor/random.h"

namespace slipway {

namespace {

class MaskedSamples final : public Samples {
public:
    MaskedSamples(const TokenSequences& sequences, const MaskOptions& options)
        : Samples({.features = {DType::i32, {sequences.length}},
                   .labels = {DType::i32, {2, prediction_count(sequences.length)}}}),
          sequences_(sequences),
          options_(options) {
        counts_.reserve(std::size_t(sequences.count()));
        for (std::int64_t row = 0; row < sequences.count(); ++row)
            counts_.push_back(prediction_count(std::int64_t(positions_of_text(row).size())));
    }

    void read(const SampleUse& use, const SampleRow& to) const override {
        const auto shown = integers_of(to.features);
        const auto labels = integers_of(to.labels);
        const auto positions = labels.first(labels.size() / 2);
        const auto tokens = labels.last(labels.size() / 2);
        const auto row = sequences_.row(use.sample);
        std::ranges::copy(row, shown.begin());
        std::ranges::fill(tokens, uncounted_label);

        const std::uint64_t epoch = options_.anew ? std::uint64_t(use.epoch) : 0;
        RandomStream stream(options_.seed, site_mask, epoch << 32 | std::uint64_t(use.sample));
        std::size_t at = 0;
        for (const std::int32_t position : chosen(use.sample, stream)) {
            positions[at] = position;
            tokens[at++] = row[std::size_t(position)];
            shown[std::size_t(position)] = shown_for(row[std::size_t(position)], stream);
        }
    }

    std::int64_t label_count(std::int64_t sample) const override {
        return counts_[std::size_t(sample)];
    }

private:
    bool is_special(std::int32_t token) const {
        return std::ranges::binary_search(sequences_.special, token);
    }

    std::vector<std::int32_t> positions_of_text(std::int64_t sample) const {
        std::vector<std::int32_t> positions;
        const auto row = sequences_.row(sample);
        const std::int32_t count = sequences_.token_counts[std::size_t(sample)];
        for (std::int32_t i = 0; i < count; ++i)
            if (!is_special(row[std::size_t(i)])) positions.push_back(i);
        return positions;
    }

    /// The positions to predict, ascending; all choices are equally likely.
    std::vector<std::int32_t> chosen(std::int64_t sample, RandomStream& stream) const {
        std::vector<std::int32_t> positions = positions_of_text(sample);
        const auto count = std::size_t(label_count(sample));
        for (std::size_t i = 0; i < count; ++i)
            std::swap(positions[i], positions[i + stream.next_below(positions.size() - i)]);
        positions.resize(count);
        std::ranges::sort(positions);
        return positions;
    }

    std::int32_t shown_for(std::int32_t token, RandomStream& stream) const {
        constexpr std::uint64_t masked = 8, drawn = 1, of = 10;
        const std::uint64_t lot = stream.next_below(of);
        if (lot < masked) return *sequences_.mask;
        if (lot >= masked + drawn) return token;
        for (;;) {
            const auto other =
                std::int32_t(stream.next_below(std::uint64_t(sequences_.vocabulary_size)));
            if (!is_special(other)) return other;
        }
    }

    const TokenSequences& sequences_;
    const MaskOptions options_;
    std::vector<std::int64_t> counts_;    // per row: tokens that it predicts
};

void require_tokens(const TokenSequences& sequences) {
    const auto refuse = [](const char* what) { throw Error(ErrorCode::invalid_argument, what); };
    if (!sequences.mask)
        refuse(
            "masked_lm needs a mask token, and this tokenizer has none; use another "
            "data.tokenizer, or task.type causal_lm");
    const bool is_short = std::ranges::any_of(
        sequences.token_counts, [&](std::int32_t count) { return count < sequences.length; });
    if (is_short && !sequences.padding)
        refuse(
            "masked_lm pads short rows, and this tokenizer has no padding token; use another "
            "data.tokenizer");
    if (std::int64_t(sequences.special.size()) >= sequences.vocabulary_size)
        refuse("this tokenizer has no token that stands for text; use another data.tokenizer");
}

}    // namespace

std::int64_t prediction_count(std::int64_t tokens) {
    if (tokens == 0) return 0;
    return std::max<std::int64_t>(1, (15 * tokens + 50) / 100);
}

std::unique_ptr<Samples> masked_samples(const TokenSequences& sequences,
                                        const MaskOptions& options) {
    require_tokens(sequences);
    return std::make_unique<MaskedSamples>(sequences, options);
}

}    // namespace slipway
