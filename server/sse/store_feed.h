#pragma once

#include "server/sse/hub.h"

namespace slipway {

/// The feed of the real service: reads with the store's connections, listens on one of its own.
/// What a request waits for (EventFeed::head) is asked through `of_requests`, so that requests
/// never hold what streams are fed with. Both must outlive the hub.
EventFeed store_feed(store::Store& store, store::Store& of_requests);
inline EventFeed store_feed(store::Store& store) {
    return store_feed(store, store);
}

}    // namespace slipway
