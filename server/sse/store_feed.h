#pragma once

#include "server/sse/hub.h"

namespace slipway {

/// The feed of the real service: reads with the store's connections, listens on one of its own.
/// `store` must outlive the hub.
EventFeed store_feed(store::Store& store);

}    // namespace slipway
