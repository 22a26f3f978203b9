#include "server/main/scheduler.h"

#include "server/main/parts.h"

namespace slipway {

Scheduler::~Scheduler() {
    stop(nullptr);
}

void Scheduler::start(store::Store& store, AgentOptions agent, MaintenanceOptions maintenance,
                      const Clock& clock) {
    agent.on_freed = [this] { wake_maintenance(); };
    maintenance.on_placed = [this] { wake_agent(); };
    agent_ = std::make_unique<Agent>(store, std::move(agent), clock);
    maintenance_ = std::make_unique<MaintenanceLoop>(store, std::move(maintenance), clock);
    const std::lock_guard lock(mutex_);
    awake_agent_ = agent_.get();
    awake_maintenance_ = maintenance_.get();
}

void Scheduler::stop(const std::function<void(Agent&)>& between) {
    {
        const std::lock_guard lock(mutex_);
        awake_maintenance_ = nullptr;
    }
    maintenance_.reset();
    if (agent_ && between) between(*agent_);
    {
        const std::lock_guard lock(mutex_);
        awake_agent_ = nullptr;
    }
    agent_.reset();
}

void Scheduler::wake_maintenance() {
    const std::lock_guard lock(mutex_);
    if (awake_maintenance_ != nullptr) awake_maintenance_->wake();
}

void Scheduler::wake_agent() {
    const std::lock_guard lock(mutex_);
    if (awake_agent_ != nullptr) awake_agent_->wake();
}

std::vector<PrometheusSample> Scheduler::metric_samples() {
    const std::lock_guard lock(mutex_);
    if (awake_agent_ == nullptr || awake_maintenance_ == nullptr) return {};
    return samples_of(awake_agent_->counts(), awake_maintenance_->counts());
}

}    // namespace slipway
