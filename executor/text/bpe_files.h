#pragma once

#include <string>

#include "executor/data/files.h"
#include "executor/text/bpe_model.h"

namespace slipway {

/// Reads `name` as Hugging Face's tokenizer.json of a byte-level BPE, or, when it is called
/// vocab.json, as GPT-2's with merges.txt beside it.
/// errors  DataError naming the file and the line, merge or token; also for what a tokenizer.json
///         can ask for and we do not do (another normaliser, another division into words, …)
BpeDefinition read_bpe(const Folder& folder, const std::string& name);

/// A trained definition as a tokenizer.json that read_bpe and Hugging Face's libraries read.
std::string write_bpe(const BpeDefinition& definition);

}    // namespace slipway
