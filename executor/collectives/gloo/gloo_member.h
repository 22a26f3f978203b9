#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "executor/collectives/gloo/mesh.h"
#include "executor/collectives/member.h"
#include "executor/collectives/shared_memory/shared_sums.h"

namespace slipway {

/// A member over Gloo's TCP transport. Values of all_reduce and its halves go through memory where
/// all members have inherited the same (MemberOrder::shared_memory).
class GlooMember final : public Member {
public:
    /// errors  see library/join.h
    explicit GlooMember(const MemberOrder& order);
    ~GlooMember() override;

    int rank() const override { return mesh_.order().rank; }
    int count() const override { return int(mesh_.order().hosts.size()); }
    std::string name_of(int rank) const override;
    bool adds_in_shared_memory() const override { return shared_sums_.has_value(); }
    void all_reduce(Combine how, DType dtype, std::span<std::byte> values) override;
    void reduce_scatter(Combine how, DType dtype,
                        std::span<const std::span<std::byte>> shards) override;
    void gather_shards(std::span<const std::span<std::byte>> shards) override;
    std::int64_t staging_bytes(std::int64_t value_bytes) const override;
    void broadcast(int from, std::span<std::byte> values, std::string_view phase) override;
    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all,
                    std::string_view phase) override;
    void barrier(std::string_view name) override;
    void busy() override;

private:
    void reduce_whole(Combine how, DType dtype, std::span<std::byte> values);
    void reduce_slices(Combine how, DType dtype, std::span<std::byte> values);
    void share_memory();
    void end_busy();
    void tell_life();

    Mesh mesh_;
    std::optional<SharedSums> shared_sums_;
    std::vector<std::byte> received_;    ///< of the others; kept for the next call
    std::mutex mutex_;
    std::condition_variable ended_busy_;
    bool is_busy_ = false;    ///< guarded by mutex_
    std::thread teller_;      ///< while busy
};

}    // namespace slipway
