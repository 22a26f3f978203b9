#include "server/main/scheduler.h"

#include "server/main/parts.h"

namespace slipway {

Scheduler::~Scheduler() {
    stop(nullptr);
}

void Scheduler::start(store::Store& store, AgentOptions agent, MaintenanceOptions maintenance,
                      CoordinatorOptions coordinator, const Clock& clock) {
    coordinator.on_changed = [this] {
        wake_placement();
        wake_agent();
    };
    agent.on_freed = [this] { wake_maintenance(); };
    maintenance.on_placed = [this] { wake_agent(); };
    agent_ = std::make_unique<Agent>(store, std::move(agent), clock);
    maintenance_ = std::make_unique<MaintenanceLoop>(store, std::move(maintenance), clock);
    cross_validations_ =
        std::make_unique<CrossValidationLoop>(store, std::move(coordinator), clock);
    const std::lock_guard lock(mutex_);
    awake_agent_ = agent_.get();
    awake_maintenance_ = maintenance_.get();
    awake_cross_validations_ = cross_validations_.get();
}

void Scheduler::stop(const std::function<void(Agent&)>& between) {
    {
        const std::lock_guard lock(mutex_);
        awake_maintenance_ = nullptr;
        awake_cross_validations_ = nullptr;
    }
    cross_validations_.reset();
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
    if (awake_cross_validations_ != nullptr) awake_cross_validations_->wake();
    if (awake_maintenance_ != nullptr) awake_maintenance_->wake();
}

void Scheduler::wake_placement() {
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
