#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "executor/text/tokenizer.h"

namespace slipway {

/// A special token and how it is written.
using NamedToken = std::pair<std::string, std::int32_t>;

/// Tells by their names which special token stands for what: [PAD] and <pad>, [UNK] and <unk>,
/// [MASK] and <mask>, [CLS], [SEP], <|endoftext|>. Others are in `all` only.
SpecialTokens known_special_tokens(const std::vector<NamedToken>& tokens);

}    // namespace slipway
