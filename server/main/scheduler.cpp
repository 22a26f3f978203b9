#include "server/main/scheduler.h"

#include "server/main/parts.h"

namespace slipway {

Scheduler::~Scheduler() {
    stop(nullptr);
}

void Scheduler::start(store::Store& store, AgentOptions agent, UpkeepOptions upkeep,
                      const Clock& clock) {
    agent.on_freed = [this] { wake_upkeep(); };
    upkeep.on_placed = [this] { wake_agent(); };
    agent_ = std::make_unique<Agent>(store, std::move(agent), clock);
    upkeep_ = std::make_unique<UpkeepLoop>(store, std::move(upkeep), clock);
    const std::lock_guard lock(mutex_);
    awake_agent_ = agent_.get();
    awake_upkeep_ = upkeep_.get();
}

void Scheduler::stop(const std::function<void(Agent&)>& between) {
    {
        const std::lock_guard lock(mutex_);
        awake_upkeep_ = nullptr;
    }
    upkeep_.reset();
    if (agent_ && between) between(*agent_);
    {
        const std::lock_guard lock(mutex_);
        awake_agent_ = nullptr;
    }
    agent_.reset();
}

void Scheduler::wake_upkeep() {
    const std::lock_guard lock(mutex_);
    if (awake_upkeep_ != nullptr) awake_upkeep_->wake();
}

void Scheduler::wake_agent() {
    const std::lock_guard lock(mutex_);
    if (awake_agent_ != nullptr) awake_agent_->wake();
}

std::vector<Figure> Scheduler::figures() {
    const std::lock_guard lock(mutex_);
    if (awake_agent_ == nullptr || awake_upkeep_ == nullptr) return {};
    return figures_of(awake_agent_->counts(), awake_upkeep_->counts());
}

}    // namespace slipway
