#include "executor/train/architectures/architecture.h"

#include <fmt/format.h>

#include "executor/nn/models/resnet.h"
#include "executor/train/train_error.h"

namespace slipway {

namespace {

/// A variance needs two values; a residual network's last norm has a 32nd of the image's sides.
void require_variance(const NetworkRequest& request, const ImageShape& image) {
    constexpr std::int64_t reduction = 32;
    const auto reduced = [](std::int64_t side) { return (side + reduction - 1) / reduction; };
    const std::int64_t samples = normalized_together(request.spec);
    if (samples * reduced(image.height) * reduced(image.width) > 1) return;
    throw TrainError("spec_error",
                     fmt::format("batch norm needs more than one value per channel, and the last "
                                 "one of {} has a single one with train.batch_size_per_core 1 and "
                                 "images of {} x {}; set train.batch_size_per_core to 2 or more",
                                 request.arch(), image.height, image.width));
}

enum class Block { basic, bottleneck };

void build_resnet(Model& model, Init& init, const NetworkRequest& request,
                  const std::array<std::int64_t, 4>& blocks, Block block) {
    const ImageShape image = image_of(request);
    require_variance(request, image);
    model.forward = ResNet::create(model.parameters, init,
                                   {.blocks = blocks,
                                    .bottleneck = block == Block::bottleneck,
                                    .channels = image.channels,
                                    .classes = request.classes,
                                    .sync_norms = normalizes_together(request.spec)});
}

}    // namespace

void build_resnet18(Model& model, Init& init, const NetworkRequest& request) {
    build_resnet(model, init, request, {2, 2, 2, 2}, Block::basic);
}

void build_resnet34(Model& model, Init& init, const NetworkRequest& request) {
    build_resnet(model, init, request, {3, 4, 6, 3}, Block::basic);
}

void build_resnet50(Model& model, Init& init, const NetworkRequest& request) {
    build_resnet(model, init, request, {3, 4, 6, 3}, Block::bottleneck);
}

}    // namespace slipway
