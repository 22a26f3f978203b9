#pragma once

#include <memory>

#include "executor/data/samples.h"
#include "executor/text/token_sequences.h"

/// The samples of a causal language model: every position predicts the token after it.
namespace slipway {

/// A row of T = sequences.length tokens.
///   features   i32 [T - 1]: all but its last
///   labels     i32 [T - 1]: all but its first; uncounted_label where it is filled up
/// The use's epoch changes nothing. `sequences` must outlive the result.
std::unique_ptr<Samples> causal_samples(const TokenSequences& sequences);

}    // namespace slipway
