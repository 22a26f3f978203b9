#pragma once

#include <array>
#include <optional>
#include <vector>

#include "executor/nn/batch_normalization.h"
#include "executor/nn/convolution.h"
#include "executor/nn/linear.h"

/// Residual networks (He, Zhang, Ren and Sun 2015) with torchvision's parameter names and initial
/// values: convolutions N(0, sqrt(2 / fan_out)), the head as torch.nn.Linear.
namespace slipway {

/// Two 3x3 convolutions beside a shortcut; the shortcut is a 1x1 convolution where the shape
/// changes.
struct BasicBlock {
    struct Shortcut {
        Convolution convolution;    ///< downsample.0
        BatchNormalization norm;    ///< downsample.1
    };
    Convolution conv1, conv2;
    BatchNormalization bn1, bn2;
    std::optional<Shortcut> downsample;

    Tensor operator()(const Tensor& x, ForwardPass& pass) const;
};

/// 7x7 stem, maximum pooling, four stages of blocks at 1, 2, 4 and 8 times `width` channels, mean,
/// head.
struct ResNet {
    Convolution conv1;
    BatchNormalization bn1;
    std::array<std::vector<BasicBlock>, 4> layers;    ///< layer1 … layer4
    Linear fc;

    struct Options {
        std::array<std::int64_t, 4> blocks{2, 2, 2, 2};    ///< 18: 2 2 2 2   34: 3 4 6 3
        std::int64_t channels = 3;                         ///< of an image
        std::int64_t classes = 10;
        std::int64_t width = 64;
        bool sync_norms = false;    ///< BatchNormalization::sync
    };
    static ResNet create(ParameterList& parameters, Init& init, const Options& options);
    /// x f32 [n, channels, height, width] -> logits f32 [n, classes]
    Tensor operator()(const Tensor& x, ForwardPass& pass) const;
};

}    // namespace slipway
