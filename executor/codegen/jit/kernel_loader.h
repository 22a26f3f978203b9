#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace slipway {

/// A kernel's machine code: see loop_emitter.h for its arguments.
using LoopFunctionPointer = void (*)(const std::byte* const* reads, std::byte* const* writes,
                                     std::int64_t begin, std::int64_t end);

/// Loads objects into this process and keeps them for as long as it lives. Safe from every thread.
class KernelLoader {
public:
    KernelLoader() = default;
    ~KernelLoader();
    KernelLoader(const KernelLoader&) = delete;
    KernelLoader& operator=(const KernelLoader&) = delete;

    /// The function in an object that `compile` made for this machine. Bytes from elsewhere must
    /// have been checked before: code is not.
    /// errors  throws internal for what is no such object; exhausted when there is no memory
    LoopFunctionPointer load(std::span<const std::byte> object);

private:
    std::mutex mutex_;
    std::vector<std::span<std::byte>> images_;    // guarded by mutex_
};

}    // namespace slipway
