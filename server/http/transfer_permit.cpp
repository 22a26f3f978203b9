#include "server/http/transfer_permit.h"

#include <utility>

namespace slipway {

void TransferPermit::end(Refusal why) {
    const std::lock_guard lock(mutex_);
    if (!why_) why_ = std::move(why);
}

std::optional<Refusal> TransferPermit::ended() const {
    const std::lock_guard lock(mutex_);
    return why_;
}

}    // namespace slipway
