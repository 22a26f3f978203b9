#include "executor/nn/forward_pass.h"

namespace slipway {

Tensor dropped(const Tensor& x, ForwardPass& pass) {
    if (pass.dropout.rate.empty()) return x;
    return dropout(x, pass.dropout.rate, pass.dropout.key, pass.dropout_count++,
                   pass.dropout.first_sample);
}

}    // namespace slipway
