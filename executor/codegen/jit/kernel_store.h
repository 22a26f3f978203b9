#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "executor/cache/object_cache.h"
#include "executor/codegen/jit/compiler.h"
#include "executor/program/program.h"

namespace slipway {

/// Compiled kernels by their text: what is asked for twice is compiled once, and with a cache on
/// disk once on this machine. The functions live as long as the store. Safe from every thread.
class KernelStore {
public:
    /// cache  may be null; outlives the store. Its environment holds compiler_version().
    explicit KernelStore(ObjectCache* cache = nullptr) : target_(host_target()), cache_(cache) {}

    /// errors  invalid_argument for what no program runs (f64)
    LoopFunctionPointer get(const LoopKernel& kernel);

    /// Kernels in the store.
    std::size_t size() const;
    /// Those of them that were compiled here, not found on disk.
    std::size_t compiled() const;
    /// Bytes of their objects.
    std::size_t code_bytes() const;

private:
    std::vector<std::byte> object_of(const LoopKernel& kernel, const std::string& text);

    const CompileTarget target_;
    ObjectCache* const cache_;
    KernelLoader loader_;
    mutable std::mutex mutex_;
    // Guarded by mutex_.
    std::unordered_map<std::string, LoopFunctionPointer> functions_;
    std::size_t compiled_ = 0;
    std::size_t code_bytes_ = 0;
};

/// A step's kernel that runs the function. Shared: programs and their copies keep the store alive.
Kernel kernel_of(std::shared_ptr<KernelStore> store, const LoopKernel& kernel);

}    // namespace slipway
