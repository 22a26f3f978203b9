#pragma once

#include <filesystem>
#include <memory>

#include "executor/text/tokenizer.h"

namespace slipway {

/// Writes `folder`/tokenizer/ with the tokenizer's file and spec.json, a job spec's data.tokenizer
/// that reads it: what a checkpoint's weights are worth nothing without. Written aside, synced and
/// renamed; one that is there is replaced. `folder` is made when absent.
/// errors  throws exhausted when the disk is full, unavailable otherwise
void save_tokenizer(const std::filesystem::path& folder, const TokenizerOptions& options,
                    const Tokenizer& tokenizer);

/// Reads what save_tokenizer wrote.
/// errors  throws not_found without it; DataError when it is damaged
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& folder);

}    // namespace slipway
