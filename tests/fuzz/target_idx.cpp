#include "tests/fuzz/input.h"
#include "tests/fuzz/read_dataset.h"
#include "tests/fuzz/target.h"
#include "tests/support/temp_folder.h"

namespace slipway {

std::string run_idx(std::span<const std::byte> input) {
    const auto [images, labels] = two_parts(input);
    const TempFolder folder;
    folder.write("train-images-idx3-ubyte", images);
    folder.write("train-labels-idx1-ubyte", labels);
    return read_dataset("idx", folder.path());
}

}    // namespace slipway
