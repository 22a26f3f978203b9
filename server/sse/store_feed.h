#pragma once

#include "server/sse/hub.h"
#include "server/sse/project_feed.h"

namespace slipway {

/// The feed of the real service: reads with the store's connections, listens on one of its own.
/// What a request waits for (EventFeed::head) is asked through `of_requests`, so that requests
/// never hold what streams are fed with. Both must outlive the hub.
/// `hear` is told each topic that is heard: one connection listens for all.
EventFeed store_feed(store::Store& store, store::Store& of_requests,
                     std::function<void(const std::string& topic)> hear = {});
inline EventFeed store_feed(store::Store& store) {
    return store_feed(store, store);
}

/// The same for the streams of projects.
ProjectFeed project_feed(store::Store& store, store::Store& of_requests);

}    // namespace slipway
