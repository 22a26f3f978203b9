#include "executor/text/tokenizer.h"

#include <fmt/core.h>

#include <array>

#include "api/base/check.h"
#include "api/base/parsed_json.h"
#include "api/spec/tables.h"
#include "executor/data/problem.h"
#include "executor/data/utf8.h"
#include "executor/text/kinds.h"

namespace slipway {

namespace {

constexpr std::int64_t file_bytes_max = 256 << 20;

struct Kind {
    TokenizerType type;
    std::string_view name;
    bool needs_file;
    std::unique_ptr<Tokenizer> (*make)(const TokenizerOptions&, const Folder&, TrainingTexts);
};

constexpr auto kinds = std::to_array<Kind>({
    {TokenizerType::byte, "byte", false, make_byte_tokenizer},
    {TokenizerType::character, "character", false, make_character_tokenizer},
    {TokenizerType::wordpiece, "wordpiece", true, make_wordpiece_tokenizer},
    {TokenizerType::bpe, "bpe", false, make_bpe_tokenizer},
    {TokenizerType::unigram, "unigram", true, make_unigram_tokenizer},
});

}    // namespace

TokenizerOptions tokenizer_options(const TokenizerSpec& spec) {
    return {.type = spec.type,
            .file = spec.file,
            .vocabulary_size = spec.vocab_size.value_or(0),
            .lower_case = spec.lower_case};
}

std::unique_ptr<Tokenizer> make_tokenizer(const TokenizerOptions& options, const Folder& folder,
                                          std::span<const std::string_view> training_texts) {
    for (const Kind& kind : kinds) {
        if (kind.type != options.type) continue;
        if (kind.needs_file && options.file.empty()) {
            throw Error{ErrorCode::invalid_argument,
                        fmt::format("a {} tokenizer needs its file", kind.name)};
        }
        return kind.make(options, folder, training_texts);
    }
    check(false, "every type of tokenizer has a row");
    return nullptr;
}

std::string read_tokenizer_file(const Folder& folder, const std::string& name) {
    const std::vector<std::byte> bytes = folder.read(name, file_bytes_max);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return std::string(without_byte_order_mark(text));
}

nlohmann::json read_tokenizer_json(const Folder& folder, const std::string& name) {
    Result<ParsedJson> parsed =
        parse_json(read_tokenizer_file(folder, name),
                   {.bytes_max = file_bytes_max, .depth_max = 32, .items_max = 20'000'000});
    if (!parsed) throw DataError({.file = name, .message = parsed.error().what()});
    if (!parsed->duplicates.empty()) {
        throw DataError({.file = name, .message = parsed->duplicates[0].message});
    }
    return std::move(parsed).value().value;
}

std::string write_tokenizer_spec(const TokenizerSpec& spec) {
    return tokenizer_table().write(spec).dump() + "\n";
}

TokenizerSpec read_tokenizer_spec(const Folder& folder, const std::string& name) {
    TokenizerSpec spec;
    std::vector<Problem> problems;
    tokenizer_table().read(read_tokenizer_json(folder, name), spec,
                           Reader(problems, tokenizer_table()));
    if (!problems.empty()) throw DataError({.file = name, .message = problems[0].message});
    return spec;
}

void check_token(std::int32_t token, std::int64_t vocabulary_size) {
    if (token >= 0 && token < vocabulary_size) return;
    throw Error{ErrorCode::invalid_argument,
                fmt::format("{} is not a token: tokens are 0 to {}", token, vocabulary_size - 1)};
}

}    // namespace slipway
