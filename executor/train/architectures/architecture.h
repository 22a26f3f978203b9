#pragma once

#include <cstdint>
#include <string_view>

#include "executor/train/model.h"

namespace slipway {

/// What a network is built for.
struct NetworkRequest {
    const JobSpec& spec;
    const Dims& sample_dims;    ///< of one sample
    std::int64_t classes;       ///< outputs: classes, labels or tokens of the vocabulary
    const SampleDetails& details;
    const NetworkSource& source;

    std::string_view arch() const { return to_string(spec.model.arch); }
};

/// build_<name> for each row of architectures.def: fills in `model`, initial values from `init`.
/// errors  TrainError spec_error when the samples or fields of the spec do not fit the network
#define ARCHITECTURE(name, ...) \
    void build_##name(Model& model, Init& init, const NetworkRequest& request);
#include "api/spec/architectures.def"
#undef ARCHITECTURE

struct ImageShape {
    std::int64_t channels, height, width;
};

/// errors  TrainError spec_error when the samples are no images
ImageShape image_of(const NetworkRequest& request);

/// Side of the patches of vit and mixer, in pixels, as published.
inline constexpr std::int64_t published_patch_size = 16;

/// The side of a square image that can be cut into patches of this size.
/// errors  TrainError spec_error naming a data.image_size that fits
std::int64_t side_in_patches(const NetworkRequest& request, std::int64_t patch_size);

/// The heads of an attention over `features`: model.heads, else as published.
/// errors  TrainError spec_error when they do not divide the features
std::int64_t heads_of(const NetworkRequest& request, std::int64_t features, std::int64_t published);

/// Positions of a language model: model.max_length, else as published.
/// errors  TrainError spec_error when samples have more tokens
std::int64_t positions_of(const NetworkRequest& request, std::int64_t published);

/// Samples that a batch norm sees at once.
std::int64_t normalized_together(const JobSpec& spec);

}    // namespace slipway
