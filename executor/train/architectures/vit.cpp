#include "executor/train/architectures/architecture.h"

#include "executor/nn/models/vit.h"

namespace slipway {

namespace {

void build_vit(Model& model, Init& init, const NetworkRequest& request, std::int64_t hidden,
               std::int64_t heads) {
    model.forward = Vit::create(model.parameters, init,
                                {.image_size = side_in_patches(request, published_patch_size),
                                 .patch_size = published_patch_size,
                                 .layers = 12,
                                 .hidden = hidden,
                                 .heads = heads_of(request, hidden, heads),
                                 .channels = request.sample_dims[0],
                                 .classes = request.classes});
}

}    // namespace

void build_vit_tiny(Model& model, Init& init, const NetworkRequest& request) {
    build_vit(model, init, request, 192, 3);
}

void build_vit_small(Model& model, Init& init, const NetworkRequest& request) {
    build_vit(model, init, request, 384, 6);
}

void build_vit_base(Model& model, Init& init, const NetworkRequest& request) {
    build_vit(model, init, request, 768, 12);
}

}    // namespace slipway
