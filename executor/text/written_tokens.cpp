#include "executor/text/written_tokens.h"

#include <algorithm>

namespace slipway {

namespace {

constexpr std::string_view blanks_beside = " \t\n\r";

std::string_view without_blanks_behind(std::string_view text) {
    return text.substr(0, text.find_last_not_of(blanks_beside) + 1);
}

}    // namespace

WrittenTokens::WrittenTokens(std::vector<WrittenToken> tokens) : tokens_(std::move(tokens)) {
    std::stable_sort(tokens_.begin(), tokens_.end(),
                     [](const WrittenToken& one, const WrittenToken& other) {
                         return one.text.size() > other.text.size();
                     });
}

void WrittenTokens::divide(std::string_view text,
                           const std::function<void(std::string_view)>& plain,
                           const std::function<void(std::int32_t)>& written) const {
    // Where each is next: found once, not at every step, or many of one kind would cost a search
    // of the whole text for each of the others.
    std::vector<std::size_t> places;
    for (const WrittenToken& token : tokens_)
        places.push_back(text.find(token.text));
    std::size_t done = 0;
    while (true) {
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (places[i] < done) places[i] = text.find(tokens_[i].text, done);
        }
        const auto next = std::min_element(places.begin(), places.end());    // the first: longest
        const bool found = next != places.end() && *next != std::string_view::npos;
        std::string_view between = text.substr(done, found ? *next - done : std::string_view::npos);
        if (!found) {
            if (!between.empty()) plain(between);
            return;
        }
        const WrittenToken& token = tokens_[std::size_t(next - places.begin())];
        if (token.takes_spaces_before) between = without_blanks_behind(between);
        if (!between.empty()) plain(between);
        written(token.token);
        done = *next + token.text.size();
        if (token.takes_spaces_after) {
            done = std::min(text.find_first_not_of(blanks_beside, done), text.size());
        }
    }
}

}    // namespace slipway
