#include "api/base/check.h"
#include "executor/text/token_sequences.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/read_dataset.h"
#include "tests/fuzz/target.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace {

/// Why a training run could not read it; empty: it can.
std::string reads_whole(const std::filesystem::path& folder, TokenizerType type) {
    try {
        const TokenizedText text = open_token_sequences(folder, {.type = type}, {.length = 8});
        check(text.sequences.count() > 0, "a text that is read has a row");
        return {};
    } catch (const Error& error) {    // the allowed end; what else is thrown is a bug
        check(error.code() != ErrorCode::internal, "a file is never our fault");
        return error.what();
    }
}

}    // namespace

std::string run_text(std::span<const std::byte> input) {
    const TempFolder folder;
    folder.write("train.txt", text_of(input));
    const std::string found = read_dataset("text", folder.path());
    for (const TokenizerType type : {TokenizerType::byte, TokenizerType::character}) {
        const std::string reason = reads_whole(folder.path(), type);
        check(reason.empty() == found.ends_with(" classes"),
              "an inspection without problems is of a text that can be read");
    }
    return found;
}

}    // namespace slipway
