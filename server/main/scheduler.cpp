#include "server/main/scheduler.h"

#include "server/main/parts.h"

namespace slipway {

Scheduler::~Scheduler() {
    stop(nullptr);
}

void Scheduler::start(store::Store& store, std::vector<AgentOptions> agents,
                      MaintenanceOptions maintenance, CoordinatorOptions coordinator,
                      const Clock& clock) {
    coordinator.on_changed = [this] {
        wake_placement();
        wake_agent();
    };
    maintenance.on_placed = [this] {
        const std::lock_guard lock(mutex_);
        for (Agent* agent : awake_agents_)
            agent->wake_for_attempts();
    };
    const bool has_several = agents.size() > 1;
    for (AgentOptions& agent : agents) {
        agent.on_freed = [this, has_several] {
            wake_maintenance();
            if (has_several) wake_agent();    // a slice that ends frees hosts of other agents
        };
        agents_.push_back(std::make_unique<Agent>(store, std::move(agent), clock));
    }
    maintenance_ = std::make_unique<MaintenanceLoop>(store, std::move(maintenance), clock);
    cross_validations_ =
        std::make_unique<CrossValidationLoop>(store, std::move(coordinator), clock);
    const std::lock_guard lock(mutex_);
    for (const auto& agent : agents_)
        awake_agents_.push_back(agent.get());
    awake_maintenance_ = maintenance_.get();
    awake_cross_validations_ = cross_validations_.get();
}

void Scheduler::stop(const std::function<void(const Agents&)>& between) {
    {
        const std::lock_guard lock(mutex_);
        awake_maintenance_ = nullptr;
        awake_cross_validations_ = nullptr;
    }
    cross_validations_.reset();
    maintenance_.reset();
    if (!agents_.empty() && between) between(agents_);
    {
        const std::lock_guard lock(mutex_);
        awake_agents_.clear();
    }
    agents_.clear();
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
    for (Agent* agent : awake_agents_)
        agent->wake();
}

std::vector<PrometheusSample> Scheduler::metric_samples() {
    const std::lock_guard lock(mutex_);
    if (awake_agents_.empty() || awake_maintenance_ == nullptr) return {};
    AgentCounts counts;
    for (const Agent* agent : awake_agents_)
        counts = sum_of(counts, agent->counts());
    return samples_of(counts, awake_maintenance_->counts());
}

}    // namespace slipway
