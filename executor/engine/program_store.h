#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "executor/graph/hash.h"

namespace slipway {

class Executable;

/// What a compiled program depends on beside its graph: the graph's hash has the precision already.
struct ProgramKey {
    Hash128 hash;
    int cores = 1;
    int workers = 1;
    bool in_blocks = false;    ///< of LowerOptions
    bool operator==(const ProgramKey&) const = default;
};

/// Compiled programs by what they are made of; of more than `programs_max` the least recently used
/// goes. Programs keep the machine code alive that they run. One thread at a time.
class ProgramStore {
public:
    // A job has a handful of programs (train, evaluate, a last batch); a runaway must not fill
    // memory.
    static constexpr std::size_t programs_max = 64;

    /// Null when there is none.
    std::shared_ptr<const Executable> find(const ProgramKey& key);
    void insert(const ProgramKey& key, std::shared_ptr<const Executable> executable);

    /// The most recently used first.
    const auto& entries() const { return recent_; }

private:
    using Entry = std::pair<ProgramKey, std::shared_ptr<const Executable>>;
    struct HashOfKey {
        std::size_t operator()(const ProgramKey& key) const {
            return key.hash.low ^
                   std::size_t(key.cores << 9 ^ key.workers << 1 ^ int(key.in_blocks));
        }
    };

    std::list<Entry> recent_;
    std::unordered_map<ProgramKey, std::list<Entry>::iterator, HashOfKey> by_key_;
};

}    // namespace slipway
