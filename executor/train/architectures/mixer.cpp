#include "executor/train/architectures/architecture.h"

#include "executor/nn/models/mixer.h"

namespace slipway {

namespace {

void build_mixer(Model& model, Init& init, const NetworkRequest& request, std::int64_t layers,
                 std::int64_t hidden) {
    model.forward =
        without_pass(Mixer::create(model.parameters, init,
                                   {.image_size = side_in_patches(request, published_patch_size),
                                    .patch_size = published_patch_size,
                                    .layers = layers,
                                    .hidden = hidden,
                                    .token_width = hidden / 2,
                                    .channel_width = 4 * hidden,
                                    .channels = request.sample_dims[0],
                                    .classes = request.classes}));
}

}    // namespace

void build_mixer_s16(Model& model, Init& init, const NetworkRequest& request) {
    build_mixer(model, init, request, 8, 512);
}

void build_mixer_b16(Model& model, Init& init, const NetworkRequest& request) {
    build_mixer(model, init, request, 12, 768);
}

}    // namespace slipway
