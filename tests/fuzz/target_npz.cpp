#include "tests/fuzz/input.h"
#include "tests/fuzz/read_dataset.h"
#include "tests/fuzz/target.h"
#include "tests/support/temp_folder.h"

namespace slipway {

std::string run_npz(std::span<const std::byte> input) {
    const TempFolder folder;
    folder.write("train.npz", text_of(input));
    return read_dataset("npz", folder.path());
}

}    // namespace slipway
