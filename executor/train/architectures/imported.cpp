#include "executor/train/architectures/architecture.h"
#include "executor/train/train_error.h"

namespace slipway {

void build_imported(Model&, Init&, const NetworkRequest&) {
    throw TrainError("spec_error", "this build cannot train imported networks");
}

}    // namespace slipway
