#include "tests/fuzz/input.h"
#include "tests/fuzz/read_tokenizer.h"
#include "tests/fuzz/target.h"
#include "tests/support/temp_folder.h"

namespace slipway {

std::string run_bpe(std::span<const std::byte> input) {
    const TempFolder folder;
    folder.write("tokenizer.json", text_of(input));
    return read_tokenizer({.type = TokenizerType::bpe, .file = "tokenizer.json"}, folder.path());
}

}    // namespace slipway
