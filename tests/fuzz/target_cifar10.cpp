#include "tests/fuzz/input.h"
#include "tests/fuzz/read_dataset.h"
#include "tests/fuzz/target.h"
#include "tests/support/temp_folder.h"

namespace slipway {

std::string run_cifar10(std::span<const std::byte> input) {
    const auto [names, batch] = two_parts(input);
    const TempFolder folder;
    if (!names.empty()) folder.write("batches.meta.txt", names);
    folder.write("data_batch_1.bin", batch);
    return read_dataset("cifar10", folder.path());
}

}    // namespace slipway
