#pragma once

#include <span>

#include "api/base/clock.h"
#include "executor/main/ending.h"
#include "executor/main/frames/order_socket.h"

namespace slipway {

/// Runs one attempt after the other, as orders come, each as run_attempt() does, in a thread, a log
/// file and a working folder of its own: nothing of one is left for the next but what the trainer
/// keeps on purpose. Goes on as long as attempts leave it clean (ending.h), within little memory,
/// and somebody gives orders. `shown` is where the process shows what it works on, in its command
/// line; it may be empty. Returns the exit code of the last attempt.
int run_worker(OrderSocket& orders, const Trainer& trainer, const Clock& clock,
               std::span<char> shown);

}    // namespace slipway
