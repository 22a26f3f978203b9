#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "executor/data/problem.h"
#include "executor/text/code_points.h"
#include "executor/text/kinds.h"
#include "executor/text/special_names.h"

namespace slipway {

namespace {

constexpr std::array<const char*, 3> character_names{"[PAD]", "[UNK]", "[MASK]"};
constexpr std::int32_t unknown_character = 1, first_character = 3;

class CharacterTokenizer final : public Tokenizer {
public:
    explicit CharacterTokenizer(const std::vector<UChar32>& characters) {
        special_ = known_special_tokens(
            {{character_names[0], 0}, {character_names[1], 1}, {character_names[2], 2}});
        for (const UChar32 character : characters) {
            tokens_.emplace(character, first_character + std::int32_t(texts_.size()));
            append_utf8(texts_.emplace_back(), character);
        }
    }

    std::int64_t vocabulary_size() const override {
        return first_character + std::int64_t(texts_.size());
    }

    void encode(std::string_view text, std::vector<std::int32_t>& tokens) const override {
        each_code_point(text, [&](UChar32 character) {
            const auto found = tokens_.find(character);
            tokens.push_back(found == tokens_.end() ? unknown_character : found->second);
        });
    }

    std::string decode(std::span<const std::int32_t> tokens) const override {
        std::string text;
        for (const std::int32_t token : tokens) {
            check_token(token, vocabulary_size());
            text += token < first_character ? character_names[std::size_t(token)]
                                            : texts_[std::size_t(token - first_character)];
        }
        return text;
    }

    TokenizerFile file() const override {
        return {"characters.json", nlohmann::json(texts_).dump() + "\n"};
    }

private:
    std::unordered_map<UChar32, std::int32_t> tokens_;
    std::vector<std::string> texts_;
};

std::vector<UChar32> read_characters(const Folder& folder, const std::string& name) {
    const nlohmann::json list = read_tokenizer_json(folder, name);
    const auto refuse = [&](const std::string& message) {
        throw DataError({.file = name, .message = message});
    };
    if (!list.is_array()) refuse("it is not a JSON list of characters");
    std::vector<UChar32> characters;
    std::set<UChar32> seen;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const std::string text = list[i].is_string() ? list[i].get<std::string>() : "";
        std::vector<UChar32> points;
        each_code_point(text, [&](UChar32 point) { points.push_back(point); });
        if (points.size() != 1) refuse(fmt::format("item {} is not one character", i));
        if (!seen.insert(points[0]).second) {
            refuse(fmt::format("item {}, \"{}\", is there twice", i, text));
        }
        characters.push_back(points[0]);
    }
    return characters;
}

}    // namespace

std::unique_ptr<Tokenizer> make_character_tokenizer(const TokenizerOptions& options,
                                                    const Folder& folder, TrainingTexts texts) {
    if (!options.file.empty()) {
        return std::make_unique<CharacterTokenizer>(read_characters(folder, options.file));
    }
    std::unordered_set<UChar32> seen;
    for (const std::string_view text : texts) {
        each_code_point(text, [&](UChar32 character) { seen.insert(character); });
    }
    std::vector<UChar32> characters(seen.begin(), seen.end());
    std::sort(characters.begin(), characters.end());
    return std::make_unique<CharacterTokenizer>(characters);
}

}    // namespace slipway
