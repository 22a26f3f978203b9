#pragma once

#include <algorithm>
#include <barrier>
#include <cstddef>
#include <span>
#include <vector>

#include "executor/runtime/collectives.h"
#include "executor/runtime/reduction_tree.h"
#include "executor/tensor/dtype.h"

namespace slipway {

/// Several "processes" of this one: each rank is a thread with a runtime of its own. A simulated
/// transport; what the test is about is the order of the additions and who calls when.
class LinkedProcesses {
public:
    explicit LinkedProcesses(int count) : values_(std::size_t(count)), barrier_(count) {}

    class Member final : public Collectives {
    public:
        Member(LinkedProcesses& all, int rank) : all_(all), rank_(rank) {}
        void all_reduce(Combine how, DType dtype, std::span<std::byte> values) override {
            all_.values_[std::size_t(rank_)].assign(values.begin(), values.end());
            all_.barrier_.arrive_and_wait();
            std::vector<std::vector<std::byte>> copies = all_.values_;
            all_.barrier_.arrive_and_wait();
            std::vector<std::byte*> roots;
            for (std::vector<std::byte>& copy : copies)
                roots.push_back(copy.data());
            combine_roots({0, how}, dtype, roots, 0,
                          std::int64_t(values.size() / size_in_bytes(dtype)));
            std::ranges::copy(copies.front(), values.begin());
            ++calls;
        }
        void reduce_scatter(Combine how, DType dtype,
                            std::span<const std::span<std::byte>> shards) override {
            for (int rank = 0; rank < int(shards.size()); ++rank) {
                const std::span<std::byte> shard = shards[std::size_t(rank)];
                std::vector<std::byte> sum(shard.begin(), shard.end());
                all_reduce(how, dtype, sum);
                --calls;
                // What a process does not own is of no use to it.
                std::ranges::fill(shard, std::byte{0xFF});
                if (rank == rank_) std::ranges::copy(sum, shard.begin());
            }
            ++scattered;
        }
        void gather_shards(std::span<const std::span<std::byte>> shards) override {
            const std::span<std::byte> own = shards[std::size_t(rank_)];
            all_.values_[std::size_t(rank_)].assign(own.begin(), own.end());
            all_.barrier_.arrive_and_wait();
            for (std::size_t rank = 0; rank < shards.size(); ++rank)
                std::ranges::copy(all_.values_[rank], shards[rank].begin());
            all_.barrier_.arrive_and_wait();
            ++gathered;
        }
        int rank() const override { return rank_; }
        int count() const override { return int(all_.values_.size()); }
        std::int64_t staging_bytes(std::int64_t value_bytes) const override { return value_bytes; }
        int calls = 0, scattered = 0, gathered = 0;

    private:
        LinkedProcesses& all_;
        int rank_;
    };

private:
    std::vector<std::vector<std::byte>> values_;    ///< by rank
    std::barrier<> barrier_;
};

}    // namespace slipway
