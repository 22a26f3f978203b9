#include "executor/text/special_names.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace slipway {

namespace {

struct Meaning {
    std::string_view name;
    std::optional<std::int32_t> SpecialTokens::*token;
};

constexpr auto meanings = std::to_array<Meaning>({
    {"[PAD]", &SpecialTokens::padding},
    {"<pad>", &SpecialTokens::padding},
    {"[UNK]", &SpecialTokens::unknown},
    {"<unk>", &SpecialTokens::unknown},
    {"[MASK]", &SpecialTokens::mask},
    {"<mask>", &SpecialTokens::mask},
    {"[CLS]", &SpecialTokens::first},
    {"[SEP]", &SpecialTokens::last},
    {"<|endoftext|>", &SpecialTokens::end_of_text},
});

}    // namespace

SpecialTokens known_special_tokens(const std::vector<NamedToken>& tokens) {
    SpecialTokens special;
    for (const auto& [name, token] : tokens) {
        special.all.push_back(token);
        for (const Meaning& meaning : meanings) {
            if (meaning.name == name && !(special.*meaning.token)) special.*meaning.token = token;
        }
    }
    std::sort(special.all.begin(), special.all.end());
    return special;
}

}    // namespace slipway
