#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "executor/cache/object_cache.h"
#include "executor/codegen/jit/compiler.h"
#include "executor/codegen/jit/kernel_loader.h"
#include "executor/program/program.h"

namespace slipway {

/// A kernel as it runs.
struct LoopCode {
    LoopFunctionPointer function = nullptr;
    std::int64_t bytes = 0;    ///< of machine code
};

/// Compiled kernels by their text: what is asked for twice is compiled once, and with a cache on
/// disk once on this machine. The functions live as long as the store. Safe from every thread.
class KernelStore {
public:
    /// cache  may be null; outlives the store. Its environment is
    /// cache_environment(compiler_version()).
    explicit KernelStore(ObjectCache* cache = nullptr) : target_(host_target()), cache_(cache) {}

    /// errors  invalid_argument for what no program runs (f64)
    /// Valid as long as the store; the same object for equal kernels.
    const LoopCode& get(const LoopKernel& kernel);

    /// Kernels in the store.
    std::size_t size() const;
    /// Those of them that were compiled here, not found on disk.
    std::size_t compiled() const;

private:
    std::optional<std::vector<std::byte>> find_on_disk(const CacheKey& key);
    std::vector<std::byte> object_of(const LoopKernel& kernel, const std::string& text);

    const CompileTarget target_;
    ObjectCache* const cache_;
    KernelLoader loader_;
    mutable std::mutex mutex_;
    // Guarded by mutex_.
    std::unordered_map<std::string, LoopCode> codes_;
    std::size_t compiled_ = 0;
};

/// A step's kernel that runs the code of this store. Shared: programs and their copies keep the
/// store alive.
Kernel kernel_of(std::shared_ptr<const KernelStore> store, const LoopCode& code);

}    // namespace slipway
