#pragma once

#include <cstdint>
#include <memory>

#include "executor/data/samples.h"
#include "executor/text/token_sequences.h"

/// The samples of a masked language model (Devlin, Chang, Lee and Toutanova 2018, 3.1): 15 % of a
/// row's tokens are to be predicted. Of these 80 % are shown as the mask token, 10 % as some token
/// of the vocabulary, and 10 % as they are. Tokens that stand for no text are neither predicted nor
/// drawn.
namespace slipway {

/// The label of a token that counts nothing, as torch has it.
inline constexpr std::int32_t uncounted_label = -100;

struct MaskOptions {
    std::uint64_t seed = 0;
    bool anew = true;    ///< other tokens in each epoch; false: always those of epoch 0
};

/// How many of so many tokens are predicted: 15 %, rounded, and at least one; 0 of none.
std::int64_t prediction_count(std::int64_t tokens);

/// T = sequences.length, P = prediction_count(T).
///   features   i32 [T]: the tokens as shown
///   labels     i32 [2, P]: positions in ascending order, then the tokens there; where fewer are
///              predicted position 0 and uncounted_label
/// What is chosen is a function of seed, epoch and row alone. `sequences` must outlive the result.
/// errors  invalid_argument when the tokenizer has no mask token, or rows are padded and it has no
///         padding token
std::unique_ptr<Samples> masked_samples(const TokenSequences& sequences,
                                        const MaskOptions& options);

}    // namespace slipway
