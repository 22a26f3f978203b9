#include "server/routes/upload_hashes.h"

namespace slipway {

namespace {

/// Of more uploads at once the hash is read from the file: ids sort by time, the oldest goes.
constexpr std::size_t entries_max = 10'000;

}    // namespace

void UploadHashes::add(const std::string& upload_id, std::uint64_t offset, std::string_view bytes) {
    std::shared_ptr<Entry> entry;
    {
        const std::scoped_lock lock(mutex_);
        const auto found = entries_.find(upload_id);
        if (found != entries_.end()) entry = found->second;
        const bool begins = offset == 0 && (!entry || entry->bytes == 0);
        if (!entry && begins) {
            if (entries_.size() >= entries_max) entries_.erase(entries_.begin());
            entry = entries_[upload_id] = std::make_shared<Entry>();
        }
        if (!entry) return;
        if (entry->bytes != offset || !entry->digest.empty()) {
            entries_.erase(upload_id);
            return;
        }
    }
    // Outside of the lock: other uploads go on. Parts of this one come one after the other.
    entry->hash.update(bytes);
    entry->bytes += bytes.size();
}

std::optional<std::string> UploadHashes::digest(const std::string& upload_id, std::uint64_t size) {
    const std::scoped_lock lock(mutex_);
    const auto found = entries_.find(upload_id);
    if (found == entries_.end() || found->second->bytes != size) return std::nullopt;
    Entry& entry = *found->second;
    if (entry.digest.empty()) entry.digest = entry.hash.finish();
    return entry.digest;
}

void UploadHashes::keep(const std::string& upload_id, std::uint64_t size, std::string digest) {
    const std::scoped_lock lock(mutex_);
    if (entries_.size() >= entries_max) entries_.erase(entries_.begin());
    auto entry = std::make_shared<Entry>();
    entry->bytes = size;
    entry->digest = std::move(digest);
    entries_[upload_id] = std::move(entry);
}

void UploadHashes::forget(const std::string& upload_id) {
    const std::scoped_lock lock(mutex_);
    entries_.erase(upload_id);
}

std::unique_lock<std::mutex> UploadHashes::try_reading() {
    return std::unique_lock(reading_, std::try_to_lock);
}

}    // namespace slipway
