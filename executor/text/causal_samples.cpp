#include "executor/text/causal_samples.h"

#include <algorithm>

#include "executor/text/masked_samples.h"

namespace slipway {

namespace {

class CausalSamples final : public Samples {
public:
    explicit CausalSamples(const TokenSequences& sequences)
        : Samples({.features = {DType::i32, {sequences.length - 1}},
                   .labels = {DType::i32, {sequences.length - 1}}}),
          sequences_(sequences) {}

    void read(const SampleUse& use, const SampleRow& to) const override {
        const auto row = sequences_.row(use.sample);
        const auto labels = integers_of(to.labels);
        const auto counted = std::size_t(label_count(use.sample));
        std::ranges::copy(row.first(row.size() - 1), integers_of(to.features).begin());
        std::ranges::copy(row.subspan(1, counted), labels.begin());
        std::ranges::fill(labels.subspan(counted), uncounted_label);
    }

    std::int64_t label_count(std::int64_t sample) const override {
        return sequences_.token_counts[std::size_t(sample)] - 1;
    }

private:
    const TokenSequences& sequences_;
};

}    // namespace

std::unique_ptr<Samples> causal_samples(const TokenSequences& sequences) {
    return std::make_unique<CausalSamples>(sequences);
}

}    // namespace slipway
