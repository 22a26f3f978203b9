#include "tests/fuzz/input.h"
#include "tests/fuzz/read_dataset.h"
#include "tests/fuzz/target.h"
#include "tests/support/temp_folder.h"

namespace slipway {

std::string run_webdataset(std::span<const std::byte> input) {
    const TempFolder folder;
    folder.write("train.tar", text_of(input));
    DatasetOptions options;
    options.image_size =
        4;    // an inspection lets sizes differ, a training run without it does not
    return read_dataset("webdataset", folder.path(), options);
}

}    // namespace slipway
