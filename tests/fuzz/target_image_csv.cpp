#include "executor/data/formats/jpeg_writer.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/read_dataset.h"
#include "tests/fuzz/target.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace {

std::string small_jpeg() {
    return text_of(encode_jpeg({1, 4, 4, std::vector<std::uint8_t>(16, 90)}, 50));
}

}    // namespace

std::string run_image_csv(std::span<const std::byte> input) {
    const TempFolder folder;
    for (const char* name : {"a.jpg", "below/b.jpg"})
        folder.write(name, small_jpeg());
    folder.write("labels.csv", text_of(input));
    DatasetOptions options;
    options.group_column = "group";
    return read_dataset("image_csv", folder.path(), options);
}

}    // namespace slipway
