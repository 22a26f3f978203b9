#include "executor/train/architectures/architecture.h"

#include "executor/nn/models/bert.h"

namespace slipway {

namespace {

struct BertSize {
    std::int64_t layers, hidden, heads;
};

void build_bert(Model& model, Init& init, const NetworkRequest& request, const BertSize& size) {
    const Bert network = Bert::create(model.parameters, init,
                                      {.layers = size.layers,
                                       .hidden = size.hidden,
                                       .heads = heads_of(request, size.hidden, size.heads),
                                       .vocabulary = request.classes,
                                       .intermediate = 4 * size.hidden,
                                       .positions = positions_of(request, 512),
                                       .padding = request.details.padding});
    model.head = "cls";
    model.base = "bert";
    model.dropout = request.spec.model.dropout;
    model.forward = [network](const Tensor& tokens, ForwardPass& pass) {
        const Tensor everywhere = iota({DType::i32, tokens.dims()}, 1);
        return network.predict(network.encode(tokens, pass),
                               pass.positions.empty() ? everywhere : pass.positions);
    };
}

}    // namespace

void build_bert_tiny(Model& model, Init& init, const NetworkRequest& request) {
    build_bert(model, init, request, {.layers = 2, .hidden = 128, .heads = 2});
}

void build_bert_small(Model& model, Init& init, const NetworkRequest& request) {
    build_bert(model, init, request, {.layers = 4, .hidden = 512, .heads = 8});
}

void build_bert_base(Model& model, Init& init, const NetworkRequest& request) {
    build_bert(model, init, request, {.layers = 12, .hidden = 768, .heads = 12});
}

void build_bert_large(Model& model, Init& init, const NetworkRequest& request) {
    build_bert(model, init, request, {.layers = 24, .hidden = 1024, .heads = 16});
}

}    // namespace slipway
