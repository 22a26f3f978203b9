#include "tests/fuzz/input.h"
#include "tests/fuzz/read_tokenizer.h"
#include "tests/fuzz/target.h"
#include "tests/support/temp_folder.h"

namespace slipway {

std::string run_wordpiece(std::span<const std::byte> input) {
    const TempFolder folder;
    folder.write("vocab.txt", text_of(input));
    return read_tokenizer({.type = TokenizerType::wordpiece, .file = "vocab.txt"}, folder.path());
}

}    // namespace slipway
