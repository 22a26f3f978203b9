#include "server/routes/transfers.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>

#include "api/base/log.h"
#include "scheduler/store/datasets.h"

namespace slipway {

namespace {

constexpr std::chrono::seconds pause_after_failure{1};

struct Transfer {
    std::weak_ptr<TransferPermit> permit;
    std::vector<store::Right> rights;
    std::string upload_id;
};

/// Of what the transfers need, that which is lost; asked about once.
template <class T>
std::set<T> lost_of(const std::function<std::vector<T>(const std::vector<T>&)>& ask,
                    const std::set<T>& needed) {
    if (needed.empty()) return {};
    const std::vector<T> lost = ask({needed.begin(), needed.end()});
    return {lost.begin(), lost.end()};
}

}    // namespace

struct Transfers::State {
    State(TransferChecks checks_, std::chrono::milliseconds interval_)
        : checks(std::move(checks_)), interval(interval_) {}

    // constant after construction
    const TransferChecks checks;
    const std::chrono::milliseconds interval;

    std::mutex mutex;
    std::condition_variable changed;
    // guarded by mutex
    std::map<const TransferPermit*, Transfer> open;
    bool wanted = false;
    bool stopping = false;

    void run();
    std::vector<Transfer> transfers();
    void check(const std::vector<Transfer>& transfers) const;
};

std::vector<Transfer> Transfers::State::transfers() {
    const std::lock_guard lock(mutex);
    std::vector<Transfer> found;
    for (const auto& [key, transfer] : open)
        found.push_back(transfer);
    return found;
}

void Transfers::State::check(const std::vector<Transfer>& transfers) const {
    std::set<store::Right> needed;
    std::set<std::string> needed_uploads;
    for (const Transfer& one : transfers) {
        needed.insert(one.rights.begin(), one.rights.end());
        if (!one.upload_id.empty()) needed_uploads.insert(one.upload_id);
    }
    const auto rights = lost_of(checks.lost_rights, needed);
    const auto uploads = lost_of(checks.lost_uploads, needed_uploads);
    const auto is_lost = [&](const store::Right& right) { return rights.contains(right); };
    for (const Transfer& one : transfers) {
        const auto permit = one.permit.lock();
        if (!permit) continue;
        if (std::ranges::any_of(one.rights, is_lost))
            permit->end({401, "unauthenticated",
                         "the token was revoked, has expired or has lost a right meanwhile"});
        else if (uploads.contains(one.upload_id))
            permit->end({404, "not_found", "the upload was deleted or has expired meanwhile"});
    }
}

void Transfers::State::run() {
    bool failing = false;
    std::unique_lock lock(mutex);
    for (;;) {
        changed.wait(lock, [this] { return stopping || !open.empty(); });
        const auto pause =
            failing ? std::min<std::chrono::milliseconds>(pause_after_failure, interval) : interval;
        changed.wait_for(lock, pause, [&] { return stopping || (wanted && !failing); });
        if (stopping) return;
        wanted = false;
        lock.unlock();
        try {
            check(transfers());
            failing = false;
        } catch (const std::exception& error) {
            if (!failing) log_warn("cannot ask about transfers", {{"error", error.what()}});
            failing = true;
        }
        lock.lock();
    }
}

Transfers::Transfers(TransferChecks checks, std::chrono::milliseconds recheck)
    : state_(std::make_shared<State>(std::move(checks), recheck)),
      thread_([state = state_.get()] { state->run(); }) {}

Transfers::~Transfers() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->stopping = true;
    }
    state_->changed.notify_all();
    thread_.join();
}

std::shared_ptr<TransferPermit> Transfers::permit(std::vector<store::Right> rights,
                                                  std::string upload_id) {
    const auto permit = std::make_shared<TransferPermit>();
    {
        const std::lock_guard lock(state_->mutex);
        state_->open[permit.get()] = {permit, std::move(rights), std::move(upload_id)};
    }
    state_->changed.notify_all();
    return {permit.get(), [state = state_, permit](TransferPermit*) {
                const std::lock_guard lock(state->mutex);
                state->open.erase(permit.get());
            }};
}

void Transfers::recheck() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->wanted = true;
    }
    state_->changed.notify_all();
}

TransferChecks store_transfer_checks(store::Store& store) {
    return {
        .lost_rights =
            [&store](const std::vector<store::Right>& rights) {
                return store::list_lost_rights(store, rights);
            },
        .lost_uploads =
            [&store](const std::vector<std::string>& ids) {
                return store::list_lost_uploads(store, ids);
            },
    };
}

}    // namespace slipway
