#include "executor/train/architectures/architecture.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/base/check.h"
#include "executor/train/train_error.h"

namespace slipway {

ImageShape image_of(const NetworkRequest& request) {
    const Dims& dims = request.sample_dims;
    if (dims.size() == 3) return {dims[0], dims[1], dims[2]};
    throw TrainError("spec_error",
                     fmt::format("{} needs images, and this dataset is a table; use model.arch mlp",
                                 request.arch()));
}

std::int64_t side_in_patches(const NetworkRequest& request, std::int64_t patch_size) {
    const ImageShape image = image_of(request);
    if (image.height == image.width && image.width % patch_size == 0) return image.width;
    const std::int64_t longer = std::max(image.height, image.width);
    throw TrainError(
        "spec_error",
        fmt::format("{} cuts square images into patches of {} x {} pixels, got images of {} x {}; "
                    "set data.image_size to a multiple of {}, for instance {}",
                    request.arch(), patch_size, patch_size, image.height, image.width, patch_size,
                    (longer + patch_size - 1) / patch_size * patch_size));
}

std::int64_t heads_of(const NetworkRequest& request, std::int64_t features,
                      std::int64_t published) {
    const std::int64_t heads = request.spec.model.heads.value_or(published);
    if (features % heads == 0) return heads;
    throw TrainError("spec_error", fmt::format("model.heads must divide the {} features of {}, "
                                               "got {}; published are {}",
                                               features, request.arch(), heads, published));
}

std::int64_t positions_of(const NetworkRequest& request, std::int64_t published) {
    check(request.sample_dims.size() == 1, "a sample of a language model is a row of tokens");
    const std::int64_t positions = request.spec.model.max_length.value_or(published);
    if (request.sample_dims[0] <= positions) return positions;
    throw TrainError(
        "spec_error",
        fmt::format("{} has {} positions and samples have {} tokens; set "
                    "data.max_length to at most {}, or model.max_length to at least {}",
                    request.arch(), positions, request.sample_dims[0], positions,
                    request.sample_dims[0]));
}

std::int64_t normalized_together(const JobSpec& spec) {
    const std::int64_t cores = spec.model.sync_batch_norm ? spec.accelerator.cores : 1;
    return spec.train.batch_size_per_core * cores;
}

}    // namespace slipway
