// All members run the same loop on the same numbers: what is decided on values that were reduced
// over all cores is decided alike in each. What is not reduced is shared here: what somebody was
// asked (the agent of any host may ask), and the rows of an evaluation. What could make members
// drift apart without a sign (another version of the data, another checkpoint, another program) is
// compared before the first step, and the weights at each checkpoint.
#include "executor/train/attempt_members.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "executor/collectives/library/join.h"
#include "executor/processor/instruction_set.h"
#include "executor/program/program.h"
#include "executor/train/train_error.h"

namespace slipway {

namespace {

/// The most wanted last: an answer that leaves more to do gives way.
constexpr std::array stop_order{StopReason::none, StopReason::orphaned, StopReason::drain,
                                StopReason::timeout, StopReason::cancel};

/// FNV-1a over words.
std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
    return std::rotl((hash ^ word) * 1099511628211U, 23);
}

std::uint64_t mixed_bytes(std::uint64_t hash, std::span<const std::byte> bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof hash) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
        hash = mixed(hash, word);
    }
    return hash;
}

constexpr std::uint64_t hash_start = 14695981039346656037U;

std::string shown(const AgreedFact& fact, std::uint64_t value) {
    return fact.is_digest ? fmt::format("{:016x}", value) : fmt::to_string(value);
}

}    // namespace

AttemptMembers::AttemptMembers(const AttemptPlan& plan, Reporter& reporter) {
    if (!plan.member) return;
    member_ = join_members(*plan.member);
    reporter.log("info", member_->adds_in_shared_memory()
                             ? "the members run on one machine and sum in shared memory"
                             : "the members sum over TCP");
    member_->busy();
}

CoreRange AttemptMembers::own(std::int64_t cores) const {
    if (member_ == nullptr) return {.first = 0, .count = cores};
    const std::int64_t count = cores / member_->count();
    check(count * member_->count() == cores, "members have equally many cores");
    return {.first = member_->rank() * count, .count = count};
}

void AttemptMembers::start(const std::function<std::vector<AgreedFact>()>& facts) {
    if (member_ == nullptr) return;
    barrier("the start of training");
    require_same(facts(), "the start of training");
}

void AttemptMembers::require_same(std::span<const AgreedFact> facts,
                                  const std::string& phase) const {
    if (member_ == nullptr) return;
    std::vector<std::uint64_t> mine, all(facts.size() * std::size_t(member_->count()));
    for (const AgreedFact& fact : facts)
        mine.push_back(fact.value);
    member_->all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)),
                        phase);
    for (int rank = 1; rank < member_->count(); ++rank)
        for (std::size_t i = 0; i < facts.size(); ++i) {
            const std::uint64_t value = all[std::size_t(rank) * facts.size() + i];
            if (value == all[i]) continue;
            throw TrainError("members_differ",
                             fmt::format("at {}: {} is {} in {} and {} in {}", phase, facts[i].name,
                                         shown(facts[i], all[i]), member_->name_of(0),
                                         shown(facts[i], value), member_->name_of(rank)));
        }
}

std::string AttemptMembers::other_instruction_sets() const {
    if (member_ == nullptr) return {};
    const std::array mine{std::uint64_t(instruction_set())};
    std::vector<std::uint64_t> all(std::size_t(member_->count()));
    member_->all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)),
                        "the start of training");
    const auto name_of = [&](std::uint64_t set) {
        return to_string(instruction_sets[std::min<std::size_t>(set, instruction_sets.size() - 1)]);
    };
    std::vector<std::string> others;
    for (int rank = 1; rank < member_->count(); ++rank)
        if (const std::uint64_t set = all[std::size_t(rank)]; set != all[0])
            others.push_back(fmt::format("{} with {}", member_->name_of(rank), name_of(set)));
    if (others.empty()) return {};
    return fmt::format(
        "{} computes with {} and {}: the last digits of weights and metrics will differ from those "
        "of hosts with one kind of processor",
        member_->name_of(0), name_of(all[0]), fmt::join(others, ", "));
}

RunRequests AttemptMembers::agreed(const RunRequests& mine) const {
    if (member_ == nullptr) return mine;
    const auto urgency = std::ranges::find(stop_order, mine.stop) - stop_order.begin();
    std::array<std::int32_t, 2> asked{std::int32_t(urgency), mine.save ? 1 : 0};
    member_->all_reduce(Combine::maximum, DType::i32, std::as_writable_bytes(std::span(asked)));
    return {.stop = stop_order[std::size_t(asked[0])], .save = asked[1] != 0};
}

std::vector<Value> AttemptMembers::rows_of_all(std::span<const Value> rows) const {
    if (member_ == nullptr) return {rows.begin(), rows.end()};
    std::vector<Value> all;
    for (const Value& value : rows) {
        std::vector<std::byte> mine;
        for (const Array& core : value.arrays)
            mine.insert(mine.end(), core.bytes(), core.bytes() + core.byte_count());
        std::vector<std::byte> gathered(mine.size() * std::size_t(member_->count()));
        member_->all_gather(mine, gathered, "the evaluation");
        Value& whole = all.emplace_back();
        const std::byte* from = gathered.data();
        for (int rank = 0; rank < member_->count(); ++rank)
            for (const Array& core : value.arrays) {
                Array copy(core.shape());
                std::copy_n(from, core.byte_count(), copy.bytes());
                from += core.byte_count();
                whole.arrays.push_back(std::move(copy));
            }
    }
    return all;
}

void AttemptMembers::begin_saving() {
    if (member_ != nullptr && leads()) member_->busy();
}

void AttemptMembers::barrier(const std::string& name) {
    if (member_ != nullptr) member_->barrier(name);
}

std::uint64_t digest_of(std::span<const Array> arrays) {
    std::uint64_t hash = hash_start;
    for (const Array& array : arrays)
        hash = mixed_bytes(hash, {array.bytes(), std::size_t(array.byte_count())});
    return hash;
}

std::uint64_t digest_of(std::string_view text) {
    return mixed_bytes(hash_start, std::as_bytes(std::span(text)));
}

std::uint64_t digest_of_exchange(const Program& program, const ExchangePlan& plan) {
    std::uint64_t hash = hash_start;
    for (const ExchangePart& part : plan.parts) {
        hash = mixed(hash, part.sums.size());
        for (const std::size_t number : part.sums) {
            const Sum& sum = program.stages[part.stage].sums[number];
            const Shape& shape = program.buffers[sum.buffer].shape;
            for (const auto word :
                 {std::uint64_t(sum.combine), std::uint64_t(sum.by_block),
                  std::uint64_t(sum.rounds_to_bf16), std::uint64_t(shape.dtype),
                  std::uint64_t(shape.byte_count()),
                  std::uint64_t(std::ranges::binary_search(plan.shards.sums, sum.buffer))})
                hash = mixed(hash, word);
        }
        for (const std::size_t input : part.gathered)
            hash = mixed(hash, std::uint64_t(program.inputs[input].shape.byte_count()));
    }
    return hash;
}

}    // namespace slipway
