#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

namespace slipway {

/// How much each client has under way, by its counted_address. Safe from every thread.
class ClientCounts {
public:
    /// False, and nothing is counted, when the client has `most` already.
    bool enter(const std::string& client, std::size_t most) {
        const std::lock_guard lock(mutex_);
        std::size_t& count = counts_[client];
        if (count < most) return ++count, true;
        if (count == 0) counts_.erase(client);
        return false;
    }
    void leave(const std::string& client) {
        const std::lock_guard lock(mutex_);
        if (const auto found = counts_.find(client); --found->second == 0) counts_.erase(found);
    }

private:
    std::mutex mutex_;
    std::map<std::string, std::size_t> counts_;    // guarded by mutex_
};

/// One thing that a client has under way; nothing until it has entered.
class ClientTicket {
public:
    explicit ClientTicket(ClientCounts& counts) : counts_(counts) {}
    ~ClientTicket() {
        if (!client_.empty()) counts_.leave(client_);
    }
    ClientTicket(const ClientTicket&) = delete;
    ClientTicket& operator=(const ClientTicket&) = delete;

    /// True also when it has entered already.
    bool enter(std::string client, std::size_t most) {
        if (!client_.empty()) return true;
        if (!counts_.enter(client, most)) return false;
        client_ = std::move(client);
        return true;
    }

private:
    ClientCounts& counts_;
    std::string client_;
};

}    // namespace slipway
