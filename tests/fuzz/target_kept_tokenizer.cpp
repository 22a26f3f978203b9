#include "tests/fuzz/input.h"
#include "tests/fuzz/read_tokenizer.h"
#include "tests/fuzz/target.h"
#include "tests/support/temp_folder.h"

namespace slipway {

std::string run_kept_tokenizer(std::span<const std::byte> input) {
    const auto [spec, characters] = two_parts(input);
    const TempFolder checkpoint;
    checkpoint.write("tokenizer_spec.json", spec);
    checkpoint.write("characters.json", characters);
    return read_kept_tokenizer(checkpoint.path());
}

}    // namespace slipway
