#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "executor/checkpoint/checkpoint.h"
#include "executor/text/tokenizer.h"

namespace slipway {

/// What a checkpoint keeps of a tokenizer, without which its weights are worth nothing: the
/// tokenizer's file, and tokenizer_spec.json, a job spec's data.tokenizer that reads it.
std::vector<CheckpointFile> tokenizer_files(const TokenizerOptions& options,
                                            const Tokenizer& tokenizer);

/// Reads them again from a checkpoint's folder.
/// errors  DataError naming the file that is missing or damaged
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& checkpoint);

}    // namespace slipway
