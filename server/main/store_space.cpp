#include "server/main/store_space.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <utility>

namespace slipway {

namespace {

constexpr std::chrono::seconds pause{20};
constexpr std::chrono::minutes silence_max{2};

std::optional<std::uint64_t> free_bytes_beside(const std::filesystem::path& home,
                                               const std::filesystem::path& store) {
    struct stat of_home {
    }, of_store{};
    struct statvfs disk {};
    if (stat(home.c_str(), &of_home) != 0 || stat(store.c_str(), &of_store) != 0 ||
        of_home.st_dev == of_store.st_dev || statvfs(store.c_str(), &disk) != 0)
        return std::nullopt;
    return std::uint64_t{disk.f_bavail} * disk.f_frsize;
}

}    // namespace

StoreSpace::StoreSpace(std::filesystem::path home, std::filesystem::path store, const Clock& clock)
    : home_(std::move(home)),
      store_(std::move(store)),
      clock_(clock),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

StoreSpace::~StoreSpace() = default;

std::optional<std::uint64_t> StoreSpace::free_bytes() const {
    const std::scoped_lock lock(mutex_);
    return clock_.tick() - asked_at_ < silence_max ? free_bytes_ : std::nullopt;
}

void StoreSpace::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        const std::optional<std::uint64_t> found = free_bytes_beside(home_, store_);
        std::unique_lock lock(mutex_);
        free_bytes_ = found;
        asked_at_ = clock_.tick();
        stopping_.wait_for(lock, stop, pause, [] { return false; });
    }
}

}    // namespace slipway
