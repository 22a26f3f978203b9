#include "scheduler/store/pg/leader.h"

#include "scheduler/store/pg/connection.h"
#include "scheduler/store/queries.h"

namespace slipway::store {

struct Leader::State {
    StoreOptions options;
    std::string name;
    std::unique_ptr<Connection> connection;
    bool leads = false;
};

Leader::Leader(const StoreOptions& options, std::string name)
    : state_(std::make_unique<State>(State{options, std::move(name), nullptr, false})) {
    state_->options.application_name += " leader";
}

Leader::~Leader() = default;

bool Leader::leads() {
    try {
        // The lock went with a connection that the server has closed; a free one may be had anew.
        if (!state_->connection || state_->connection->stale()) {
            state_->leads = false;
            state_->connection.reset();
            state_->connection = std::make_unique<Connection>(state_->options);
        }
        if (state_->leads) {
            state_->connection->run(queries::ping);
        } else {
            state_->leads =
                state_->connection->run(queries::try_lead, {state_->name})[0].flag("leads");
        }
    } catch (const Error&) {
        // Without the connection there is no lock: the next call begins again.
        state_->connection.reset();
        state_->leads = false;
    }
    return state_->leads;
}

void Leader::resign() {
    state_->connection.reset();
    state_->leads = false;
}

}    // namespace slipway::store
