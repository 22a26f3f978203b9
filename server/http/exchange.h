#pragma once

#include "api/base/clock.h"
#include "server/http/byte_budget.h"
#include "server/http/client_counts.h"
#include "server/http/connection.h"
#include "server/http/head.h"
#include "server/http/message.h"
#include "server/http/router.h"

namespace slipway {

/// One request and its answer, on the connection's strand; `request` and `response` are a handler's
/// while it runs.
struct Exchange {
    explicit Exchange(ServerCore& core)
        : body_share(core.body_budget),
          answer_share(core.answer_budget),
          client(core.forwarded_clients) {}

    RequestHead head;
    Request request;
    ByteShare body_share;
    ByteShare answer_share;
    ClientTicket client;
    const Route* route = nullptr;
    Response response;
    Tick started;
    bool close = false;
    bool above_limit = false;    // of connections: only what must always be answered is
    bool broken = false;         // the client has gone: there is nobody to answer
    bool admits_late = false;    // with the handler: the body was there already
};

}    // namespace slipway
