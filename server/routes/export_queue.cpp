#include "server/routes/export_queue.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/base/error.h"
#include "api/base/id.h"

// A request asks, is told "not yet", leaves its worker and asks again a little later (the server's
// again_after_s). So an entry lives as long as somebody asks: that is also how the queue learns
// that a client has gone. The file loses its name as soon as it is open; what keeps it is the
// entry, then the answer that sends it, so that a crash of either leaves nothing on the disk.

namespace slipway {

namespace fs = std::filesystem;

ExportQueue::ExportQueue(fs::path folder, Make make, const Clock& clock, ExportLimits limits)
    : folder_(std::move(folder)), make_(std::move(make)), clock_(clock), limits_(limits) {
    thread_ = std::thread([this] { work(); });
}

ExportQueue::~ExportQueue() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

std::optional<OpenedFile> ExportQueue::ask(const WeightsExport& wanted, const std::string& token) {
    const Key key{wanted.checkpoint.string(), wanted.dtype, wanted.weights};
    const std::lock_guard lock(mutex_);
    forget_old();
    if (!entries_.contains(key)) add(key, wanted, token);
    Entry& entry = entries_.at(key);
    // Before the time of this question is kept: a failure is forgotten however often one asks.
    if (entry.state == State::failed) throw Error{ErrorCode::unavailable, entry.failure};
    entry.asked_at = clock_.tick();
    if (entry.state != State::made) return std::nullopt;
    return entry.file;
}

void ExportQueue::add(const Key& key, const WeightsExport& wanted, const std::string& token) {
    const auto of_token = std::ranges::count_if(entries_, [&](const auto& one) {
        const Entry& entry = one.second;
        return entry.token == token &&
               (entry.state == State::waiting || entry.state == State::being_made);
    });
    if (std::size_t(of_token) >= limits_.of_token)
        throw Error{ErrorCode::exhausted,
                    fmt::format("{} exports of this token are in progress, which is the maximum; "
                                "wait until one is complete",
                                of_token)};
    if (entries_.size() >= limits_.in_all)
        throw Error{ErrorCode::unavailable, "too many exports are waiting; try again later"};
    entries_[key] = {.wanted = wanted, .token = token, .number = ++numbers_};
    changed_.notify_all();
}

void ExportQueue::forget_old() {
    std::erase_if(entries_, [&](const auto& one) {
        return one.second.state != State::being_made &&
               clock_.tick() - one.second.asked_at > limits_.forget_after;
    });
}

std::optional<ExportQueue::Key> ExportQueue::next() const {
    const Entry* first = nullptr;
    std::optional<Key> found;
    for (const auto& [key, entry] : entries_) {
        if (entry.state != State::waiting || (first && first->number < entry.number)) continue;
        first = &entry;
        found = key;
    }
    return found;
}

void ExportQueue::work() {
    std::unique_lock lock(mutex_);
    while (!stop_) {
        forget_old();
        if (const auto key = next())
            make_one(lock, *key);
        else if (entries_.empty())
            changed_.wait(lock);
        else    // a file that nobody takes is given up in time
            changed_.wait_for(lock, limits_.forget_after);
    }
}

void ExportQueue::make_one(std::unique_lock<std::mutex>& lock, const Key& key) {
    entries_.at(key).state = State::being_made;
    const WeightsExport wanted = entries_.at(key).wanted;
    const std::string name = random_hex(16) + ".safetensors";
    lock.unlock();
    std::optional<OpenedFile> file;
    std::string failure = "the exported weights are missing";
    try {
        make_(wanted, folder_ / name, stop_);
        file = open_below(folder_, name);
    } catch (const std::exception& error) {
        failure = error.what();
    }
    std::error_code ignored;    // what stays goes when the service starts again
    fs::remove(folder_ / name, ignored);
    lock.lock();
    Entry& entry = entries_.at(key);    // one that is being made is not forgotten
    entry.asked_at = clock_.tick();
    entry.state = file ? State::made : State::failed;
    if (file) entry.file = *std::move(file);
    entry.failure = failure;
}

}    // namespace slipway
