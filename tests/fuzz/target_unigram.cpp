#include "tests/fuzz/input.h"
#include "tests/fuzz/read_tokenizer.h"
#include "tests/fuzz/target.h"
#include "tests/support/temp_folder.h"

namespace slipway {

std::string run_unigram(std::span<const std::byte> input) {
    const TempFolder folder;
    folder.write("spm.model", text_of(input));
    return read_tokenizer({.type = TokenizerType::unigram, .file = "spm.model"}, folder.path());
}

}    // namespace slipway
