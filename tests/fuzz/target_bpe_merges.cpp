#include "tests/fuzz/input.h"
#include "tests/fuzz/read_tokenizer.h"
#include "tests/fuzz/target.h"
#include "tests/support/temp_folder.h"

namespace slipway {

std::string run_bpe_merges(std::span<const std::byte> input) {
    const auto [vocabulary, merges] = two_parts(input);
    const TempFolder folder;
    folder.write("vocab.json", vocabulary);
    folder.write("merges.txt", merges);
    return read_tokenizer({.type = TokenizerType::bpe, .file = "vocab.json"}, folder.path());
}

}    // namespace slipway
