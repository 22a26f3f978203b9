#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/collectives/member.h"
#include "executor/data/loader.h"
#include "executor/engine/engine.h"
#include "executor/runtime/exchange_plan.h"
#include "executor/train/attempt_plan.h"
#include "executor/train/reporter.h"

namespace slipway {

/// What is asked of a run between two steps.
struct RunRequests {
    StopReason stop = StopReason::none;
    bool save = false;
};

/// What must be the same in all members, or they would train different networks.
struct AgreedFact {
    std::string name;
    std::uint64_t value = 0;
    bool is_digest = false;    ///< of something larger: people read it in hexadecimal
};

/// The processes of an attempt as its run in one of them sees them. An attempt of one process has
/// no others: then nothing here waits or fails. Rank 0 reports and saves for all.
/// Training thread only.
/// errors  MemberLost, see Member
class AttemptMembers {
public:
    /// Joins the others, logs how sums travel between them, and is busy from then on: until
    /// start().
    AttemptMembers(const AttemptPlan& plan, Reporter& reporter);

    /// For the engine; null: there are no others.
    Collectives* collectives() const { return member_.get(); }
    bool leads() const { return member_ == nullptr || member_->rank() == 0; }
    /// The cores of a global batch that this process computes.
    CoreRange own(std::int64_t cores) const;

    /// Waits until all can begin. Alone, it asks for no facts: to compute them takes a pass over
    /// all weights.
    /// errors  TrainError members_differ, naming the fact and the members
    void start(const std::function<std::vector<AgreedFact>()>& facts);
    /// The same for facts of a moment when nobody is busy; `phase` is what errors call it.
    void require_same(std::span<const AgreedFact> facts, const std::string& phase) const;
    /// Which members compute with another instruction set than the first one, in words; empty:
    /// none. All ask.
    std::string other_instruction_sets() const;
    /// What was asked of any of them: the same answer in all, at the same step.
    RunRequests agreed(const RunRequests& mine) const;
    /// Rows that each core keeps, of all members' cores.
    std::vector<Value> rows_of_all(std::span<const Value> rows) const;

    /// Rank 0 begins to write what the others wait for at `barrier`.
    void begin_saving();
    /// Waits for all; longer than the time limit for rank 0 that is saving.
    void barrier(const std::string& name);

private:
    std::unique_ptr<Member> member_;    ///< null: alone
};

/// A number that depends on every bit of the arrays.
std::uint64_t digest_of(std::span<const Array> arrays);

std::uint64_t digest_of(std::string_view text);

/// What the programs of all members must have in common: what they add up over the cores and give
/// each other, in the order in which it is exchanged.
std::uint64_t digest_of_exchange(const Program& program, const ExchangePlan& plan);

}    // namespace slipway
