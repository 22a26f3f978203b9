#include "executor/codegen/jit/kernel_store.h"

#include <cstring>

#include "api/base/sha256.h"
#include "executor/codegen/jit/object_file.h"

namespace slipway {

namespace {

/// What the machine code is made of beside the CPU and the compiler, which the cache's environment
/// names.
CacheKey key_of(const std::string& text, const CompileTarget& target) {
    const std::string hash = sha256_hex(std::to_string(target.lanes) +
                                        (target.rounds_to_bf16 ? " bf16\n" : "\n") + text);
    return {std::stoull(hash.substr(0, 16), nullptr, 16),
            std::stoull(hash.substr(16, 16), nullptr, 16)};
}

}    // namespace

std::optional<std::vector<std::byte>> KernelStore::find_on_disk(const CacheKey& key) {
    const std::optional<std::string> stored = cache_->find(key);
    if (!stored) return std::nullopt;
    std::vector<std::byte> object(stored->size());
    std::memcpy(object.data(), stored->data(), stored->size());
    return object;
}

std::vector<std::byte> KernelStore::object_of(const LoopKernel& kernel, const std::string& text) {
    const CacheKey key = key_of(text, target_);
    MakingTurn turn;
    if (cache_ != nullptr) {
        if (auto stored = find_on_disk(key)) return *std::move(stored);
        turn = cache_->take_turn(key);
        if (turn.waited)
            if (auto stored = find_on_disk(key)) return *std::move(stored);
    }
    std::vector<std::byte> object = compile(kernel, target_);
    ++compiled_;
    if (cache_ != nullptr)
        cache_->store(key, {reinterpret_cast<const char*>(object.data()), object.size()});
    return object;
}

const LoopCode& KernelStore::get(const LoopKernel& kernel) {
    std::string text = print(kernel);
    const std::lock_guard lock(mutex_);
    const auto known = codes_.find(text);
    if (known != codes_.end()) return known->second;
    const std::vector<std::byte> object = object_of(kernel, text);
    const LoopCode code{.function = loader_.load(object), .bytes = code_bytes(object)};
    return codes_.emplace(std::move(text), code).first->second;
}

std::size_t KernelStore::size() const {
    const std::lock_guard lock(mutex_);
    return codes_.size();
}

std::size_t KernelStore::compiled() const {
    const std::lock_guard lock(mutex_);
    return compiled_;
}

Kernel kernel_of(std::shared_ptr<const KernelStore> store, const LoopCode& code) {
    return [store = std::move(store), function = code.function](const KernelCall& call) {
        function(call.reads.data(), call.writes.data(), call.begin, call.end);
    };
}

}    // namespace slipway
