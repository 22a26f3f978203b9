#pragma once

#include "executor/data/shared/copy_records.h"
#include "executor/text/token_sequences.h"

namespace slipway {

/// Rows of tokens as a shared copy has them.
void write_sequences(CopyWriter& to, const TokenSequences& sequences);
/// errors  throws data_loss when they do not fit together
TokenSequences read_sequences(CopyReader& from);

}    // namespace slipway
