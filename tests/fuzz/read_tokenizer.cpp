#include "tests/fuzz/read_tokenizer.h"

#include <fmt/core.h>

#include "api/base/check.h"
#include "executor/data/problem.h"
#include "executor/data/utf8.h"
#include "executor/text/tokenizer_files.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace {

constexpr std::string_view encoded_text =
    "To be, or not to be: [MASK] don't \xC3\xA4\xC3\x96\xE2\x82\xAC \xE6\xBC\xA2\xE5\xAD\x97 12345"
    "<|endoftext|>\n\n  \xF0\x9F\x99\x82 e\xCC\x81";

std::vector<std::int32_t> tokens_of(const Tokenizer& tokenizer) {
    std::vector<std::int32_t> tokens;
    tokenizer.encode(encoded_text, tokens);
    const std::int64_t size = tokenizer.vocabulary_size();
    for (const std::int32_t token : tokens)
        check(token >= 0 && token < size, "a token is below the size of the vocabulary");
    for (const std::int32_t token : tokenizer.special().all)
        check(token >= 0 && token < size, "so is a special one");
    check(is_utf8(tokenizer.decode(tokens)), "what is decoded from text is text");
    return tokens;
}

std::string message_of(const Error& error) {
    check(is_utf8(error.what()), "a message is UTF-8");
    return error.what();
}

template <class Make>
std::string said_of(Make make) {
    try {
        return make();
    } catch (const DataError& error) {
        check(!error.problem().file.empty(), "a problem names its file");
        return message_of(error);
    } catch (const Error& error) {    // the allowed end; what else is thrown is a bug
        check(error.code() != ErrorCode::internal, "a file is never our fault");
        return message_of(error);
    }
}

std::string count_of(const Tokenizer& tokenizer) {
    return fmt::format("{} tokens, {} of them special, {} in the text", tokenizer.vocabulary_size(),
                       tokenizer.special().all.size(), tokens_of(tokenizer).size());
}

}    // namespace

std::string read_tokenizer(const TokenizerOptions& options, const std::filesystem::path& folder) {
    return said_of([&] {
        const auto tokenizer = make_tokenizer(options, Folder(folder), {});
        const std::vector<std::int32_t> tokens = tokens_of(*tokenizer);
        const TempFolder checkpoint;
        for (const CheckpointFile& file : tokenizer_files(options, *tokenizer))
            checkpoint.write(file.name, file.bytes);
        const auto kept = load_tokenizer(checkpoint.path());
        check(kept->vocabulary_size() == tokenizer->vocabulary_size(), "all tokens are kept");
        check(tokens_of(*kept) == tokens, "a kept tokenizer gives the same tokens");
        return count_of(*kept);
    });
}

std::string read_kept_tokenizer(const std::filesystem::path& checkpoint) {
    return said_of([&] { return count_of(*load_tokenizer(checkpoint)); });
}

}    // namespace slipway
