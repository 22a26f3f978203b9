#include "executor/text/bpe_model.h"

#include <algorithm>
#include <tuple>

namespace slipway {

BpeModel::BpeModel(const BpeDefinition& definition) : bytes_(definition.bytes) {
    for (std::size_t rank = 0; rank < definition.merges.size(); ++rank) {
        const BpeMerge& merge = definition.merges[rank];
        rules_.emplace(pair_key(merge.left, merge.right), Rule{std::int32_t(rank), merge.result});
    }
}

const BpeModel::Rule* BpeModel::find(std::int32_t left, std::int32_t right) const {
    const auto found = rules_.find(pair_key(left, right));
    return found == rules_.end() ? nullptr : &found->second;
}

void BpeModel::encode_word(std::string_view word, BpeWorkspace& workspace,
                           std::vector<std::int32_t>& tokens) const {
    using Candidate = BpeWorkspace::Candidate;
    const auto later = [](const Candidate& one, const Candidate& other) {
        return std::tie(one.rank, one.place) > std::tie(other.rank, other.place);
    };
    auto& [symbols, queue] = workspace;
    symbols.clear();
    queue.clear();
    const auto propose = [&](std::int32_t place) {
        if (place < 0 || symbols[std::size_t(place)].after < 0) return;
        const std::int32_t left = symbols[std::size_t(place)].token;
        const std::int32_t right = symbols[std::size_t(symbols[std::size_t(place)].after)].token;
        const Rule* rule = find(left, right);
        if (rule == nullptr) return;
        queue.push_back({rule->rank, place, left, right});
        std::push_heap(queue.begin(), queue.end(), later);
    };
    const auto count = std::int32_t(word.size());
    for (std::int32_t i = 0; i < count; ++i) {
        symbols.push_back({bytes_[static_cast<unsigned char>(word[std::size_t(i)])], i - 1,
                           i + 1 < count ? i + 1 : -1});
    }
    for (std::int32_t i = 0; i < count; ++i)
        propose(i);
    while (!queue.empty()) {
        std::pop_heap(queue.begin(), queue.end(), later);
        const Candidate candidate = queue.back();
        queue.pop_back();
        BpeWorkspace::Symbol& left = symbols[std::size_t(candidate.place)];
        if (left.token != candidate.left || left.after < 0) continue;
        BpeWorkspace::Symbol& right = symbols[std::size_t(left.after)];
        if (right.token != candidate.right) continue;    // a neighbour has changed meanwhile
        left.token = find(candidate.left, candidate.right)->result;
        left.after = right.after;
        right.token = -1;
        if (left.after >= 0) symbols[std::size_t(left.after)].before = candidate.place;
        propose(left.before);
        propose(candidate.place);
    }
    for (const BpeWorkspace::Symbol& symbol : symbols)
        if (symbol.token >= 0) tokens.push_back(symbol.token);
}

}    // namespace slipway
