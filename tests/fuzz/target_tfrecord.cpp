#include "tests/fuzz/input.h"
#include "tests/fuzz/read_dataset.h"
#include "tests/fuzz/target.h"
#include "tests/support/temp_folder.h"

namespace slipway {

std::string run_tfrecord(std::span<const std::byte> input) {
    const TempFolder folder;
    folder.write("train.tfrecord", text_of(input));
    return read_dataset("tfrecord", folder.path());
}

}    // namespace slipway
