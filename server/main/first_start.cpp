#include "server/main/first_start.h"

#include <poll.h>

#include "server/auth/authenticator.h"

namespace slipway {

std::string ensure_admin_token(const Home& home, store::Store& store, const Clock& clock) {
    Authenticator authenticator(store, clock);
    if (const auto text = home.admin_token()) {
        const auto who = authenticator.identify_token(*text);
        if (who && who->may(Access::admin) && !who->is_bound()) return "kept";
    }
    store::Token token;
    token.name = "admin";
    token.role = to_string(Role::admin);
    const IssuedToken issued = issue_token(store, std::move(token));
    home.keep_admin_token(issued.text);
    return "made";
}

void wait_for_database(store::Store& store, const Clock& clock, std::chrono::seconds limit) {
    const Tick end = clock.tick() + limit;
    for (;;) {
        try {
            return store.ping();
        } catch (const Error& error) {
            if (error.code() != ErrorCode::unavailable || clock.tick() >= end) throw;
        }
        poll(nullptr, 0, 200);
    }
}

}    // namespace slipway
