#include "executor/train/architectures/architecture.h"

#include <fmt/format.h>

#include "executor/nn/models/gpt2.h"
#include "executor/train/train_error.h"

namespace slipway {

namespace {

struct Gpt2Size {
    std::int64_t layers, hidden, heads;
};

void build_gpt2(Model& model, Init& init, const NetworkRequest& request, const Gpt2Size& size) {
    if (request.spec.model.head.replace)
        throw TrainError("spec_error",
                         fmt::format("{} has no head to replace: its output weights are those of "
                                     "its token embeddings; leave model.head out",
                                     request.arch()));
    model.base = "transformer";
    model.dropout = request.spec.model.dropout;
    model.forward = Gpt2::create(model.parameters, init,
                                 {.layers = size.layers,
                                  .hidden = size.hidden,
                                  .heads = heads_of(request, size.hidden, size.heads),
                                  .vocabulary = request.classes,
                                  .positions = positions_of(request, 1024)});
}

}    // namespace

void build_gpt_tiny(Model& model, Init& init, const NetworkRequest& request) {
    build_gpt2(model, init, request, {.layers = 4, .hidden = 128, .heads = 4});
}

void build_gpt2(Model& model, Init& init, const NetworkRequest& request) {
    build_gpt2(model, init, request, {.layers = 12, .hidden = 768, .heads = 12});
}

}    // namespace slipway
