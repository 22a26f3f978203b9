#pragma once

#include <vector>

#include "executor/nn/convolution.h"
#include "executor/nn/layer_normalization.h"
#include "executor/nn/linear.h"

/// MLP-Mixer (Tolstikhin and others 2021) with timm's parameter names and initial values.
namespace slipway {

/// fc1, gelu, fc2 over the last axis.
struct MixerMlp {
    Linear fc1, fc2;

    Tensor operator()(const Tensor& x) const;
};

/// Mixes the tokens of each channel, then the channels of each token; both beside a shortcut.
struct MixerBlock {
    LayerNormalization norm1, norm2;
    MixerMlp mlp_tokens, mlp_channels;

    /// x [n, tokens, hidden] -> the same
    Tensor operator()(const Tensor& x) const;
};

/// A square image in patches, `layers` blocks, norm, mean over the tokens, head.
struct Mixer {
    Convolution stem;    ///< stem.proj: one step per patch
    std::vector<MixerBlock> blocks;
    LayerNormalization norm;
    Linear head;    ///< zeros at first

    struct Options {
        std::int64_t image_size, patch_size;
        std::int64_t layers, hidden, token_width, channel_width;
        std::int64_t channels = 3;    ///< of an image
        std::int64_t classes = 10;

        std::int64_t tokens() const {
            return (image_size / patch_size) * (image_size / patch_size);
        }
    };
    static Mixer create(ParameterList& parameters, Init& init, const Options& options);
    /// x f32 [n, channels, image_size, image_size] -> logits f32 [n, classes]
    Tensor operator()(const Tensor& x) const;
};

}    // namespace slipway
