#pragma once

#include <filesystem>
#include <string>

#include "executor/text/tokenizer.h"

namespace slipway {

/// Makes a tokenizer of the files in `folder`, encodes and decodes a text with it, keeps it as a
/// checkpoint does and reads it from there, and says how many tokens it has, or what is wrong.
/// A broken invariant: a token out of range, other tokens after it was kept, a problem that does
/// not name its file, an Error that is ours (internal).
std::string read_tokenizer(const TokenizerOptions& options, const std::filesystem::path& folder);

/// The same of a checkpoint's folder.
std::string read_kept_tokenizer(const std::filesystem::path& checkpoint);

}    // namespace slipway
