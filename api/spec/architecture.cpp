#include "api/spec/architecture.h"

namespace slipway {

std::vector<std::string_view> architectures_where(bool (*holds)(const ArchitectureTraits&)) {
    std::vector<std::string_view> words;
    for (const std::string_view word : all_words<Arch>())
        if (holds(traits(*parse_word<Arch>(word)))) words.push_back(word);
    return words;
}

}    // namespace slipway
