#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "api/base/posix.h"
#include "api/base/result.h"

/// A copy is one file that processes map to read what one of them has made. Numbers are as this
/// machine has them.
///   0    8   "slipcopy"
///   8    8   version
///   16   8   bytes of the content
///   24   8   CRC-32C of these 64 bytes, with zeros here, and the sums
///   32   32  zeros
///   64       content
///            sums: of each MiB of the content its CRC-32C, 4
namespace slipway {

/// A copy that is mapped, whole when it was looked at, and stays mapped as long as `keeper` lives.
struct MappedCopy {
    std::shared_ptr<const void> keeper;
    std::span<const std::byte> content;
};

/// Maps the copy, compares all of it with its sums on `threads` threads, and marks it as used now.
/// None when there is no file of that name.
/// errors  data_loss when it is none, or not as it was written; unavailable when it cannot be read
Result<std::optional<MappedCopy>> find_copy(const std::filesystem::path& path, int threads);

/// A copy that this process makes. A process that ends at any moment leaves no half copy.
class CopyDraft {
public:
    CopyDraft(std::filesystem::path path, UniqueFd unfinished, std::int64_t bytes_max);
    /// Not published: nothing is left.
    ~CopyDraft();
    CopyDraft(CopyDraft&& other) noexcept;
    CopyDraft& operator=(CopyDraft&&) = delete;

    /// errors  throws exhausted when the disk is full or the copy has more than bytes_max bytes;
    ///         unavailable
    void write(std::span<const std::byte> bytes);
    /// Gives it its name.
    /// errors  as write()
    void publish();

private:
    void write_block();

    std::filesystem::path path_;
    UniqueFd file_;    // locked; none when it was moved from
    std::int64_t bytes_max_;
    std::vector<std::byte> block_;
    std::vector<std::uint32_t> sums_;
    std::int64_t written_ = 0;    // of the content
};

/// Begins the copy `path`, unless another process makes it: waits for that one's end, whatever it
/// is, for at most `wait_max`. None when the time is over, or when there is a file of that name.
/// `even_if_there`: there is one that is of no use.
/// errors  throws exhausted, unavailable
std::optional<CopyDraft> begin_copy(const std::filesystem::path& path, std::int64_t bytes_max,
                                    std::chrono::milliseconds wait_max, bool even_if_there);

}    // namespace slipway
