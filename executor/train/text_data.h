#pragma once

#include "executor/text/token_sequences.h"
#include "executor/train/train_data.h"

namespace slipway {

/// Opens a text as the samples of the plan's task, masked_lm or causal_lm: cut into rows of
/// data.max_length tokens, which are split. What a tokenizer learns, it learns from the training
/// part where the split names one; a resumed run reads it from its checkpoint.
/// errors  DataError, Error as open_token_sequences; TrainError spec_error for another format,
///         checkpoint_corrupt for the tokenizer of a checkpoint, data_error for a part of the split
///         without a single label
TrainData open_text_data(const AttemptPlan& plan);

}    // namespace slipway
