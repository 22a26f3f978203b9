#pragma once

#include <vector>

#include "executor/nn/convolution.h"
#include "executor/nn/forward_pass.h"
#include "executor/nn/layer_normalization.h"
#include "executor/nn/linear.h"

/// The vision transformer (Dosovitskiy and others 2020) with timm's parameter names and initial
/// values: linear layers N(0, 0.02) and zeros, patches as torch.nn.Conv2d.
namespace slipway {

/// Attention and then a multilayer perceptron, each behind a norm and beside a shortcut.
struct VitBlock {
    LayerNormalization norm1, norm2;
    Linear qkv, proj;    ///< attn.qkv: queries, keys and values in one; attn.proj
    Linear fc1, fc2;     ///< mlp.fc1, mlp.fc2
    std::int64_t heads = 1;

    /// x [n, tokens, hidden] -> the same
    Tensor operator()(const Tensor& x, ForwardPass& pass) const;
};

/// A square image in patches behind a token of its own, each with a learned position; blocks; the
/// head reads the first token.
struct Vit {
    Tensor cls_token;       ///< [1, 1, hidden]
    Tensor pos_embed;       ///< [1, 1 + patches, hidden]
    Convolution patches;    ///< patch_embed.proj: one step per patch
    std::vector<VitBlock> blocks;
    LayerNormalization norm;
    Linear head;

    struct Options {
        std::int64_t image_size, patch_size;
        std::int64_t layers, hidden, heads;
        std::int64_t channels = 3;    ///< of an image
        std::int64_t classes = 10;

        std::int64_t patch_count() const {
            return (image_size / patch_size) * (image_size / patch_size);
        }
    };
    static Vit create(ParameterList& parameters, Init& init, const Options& options);
    /// x f32 [n, channels, image_size, image_size] -> logits f32 [n, classes]
    Tensor operator()(const Tensor& x, ForwardPass& pass) const;
};

}    // namespace slipway
