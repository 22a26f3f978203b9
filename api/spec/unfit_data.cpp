#include "api/spec/unfit_data.h"

#include <fmt/format.h>

#include "api/spec/dataset_format.h"

namespace slipway {

namespace {

std::string_view likely_cause(std::string_view format) {
    if (format == "image_folder") {
        return "each class needs a folder of its own, CLASS/IMAGE; there is probably one level of "
               "folders too many or too few";
    }
    const auto known = parse_word<DatasetFormat>(format);
    if (known && traits(*known).has_columns) {
        return "label_column is probably not the column of the class labels";
    }
    return "the labels are probably those of another dataset";
}

}    // namespace

std::string one_class_message(std::string_view name, std::string_view format) {
    return fmt::format(
        "all samples belong to one class, \"{}\", but classification requires at least 2; {}", name,
        likely_cause(format));
}

std::string mixed_sizes_message(const PixelSize& least, const PixelSize& most) {
    return fmt::format(
        "the images have from {} x {} to {} x {} pixels, but a network requires one size; set "
        "data.image_size, or start data.augment with a resize",
        least.width, least.height, most.width, most.height);
}

}    // namespace slipway
