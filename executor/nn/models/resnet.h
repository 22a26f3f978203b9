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

/// Convolutions in a row beside a shortcut; the shortcut is a 1x1 convolution where the shape
/// changes. A basic block has two of 3x3; a bottleneck has 1x1, 3x3 and 1x1, which widens to four
/// times the channels. The stride is on the first 3x3.
struct ResidualBlock {
    struct Layer {
        Convolution convolution;
        BatchNormalization norm;
    };
    std::vector<Layer> layers;          ///< conv1 and bn1, conv2 and bn2, …
    std::optional<Layer> downsample;    ///< downsample.0 and downsample.1

    Tensor operator()(const Tensor& x, ForwardPass& pass) const;
};

/// 7x7 stem, maximum pooling, four stages of blocks at 1, 2, 4 and 8 times `width` channels (four
/// times that with bottlenecks), mean, head.
struct ResNet {
    Convolution conv1;
    BatchNormalization bn1;
    std::array<std::vector<ResidualBlock>, 4> layers;    ///< layer1 … layer4
    Linear fc;

    struct Options {
        std::array<std::int64_t, 4> blocks{2, 2, 2, 2};    ///< 18: 2 2 2 2   34 and 50: 3 4 6 3
        bool bottleneck = false;                           ///< 50
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
