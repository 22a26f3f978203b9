#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace slipway {

struct Connection;

/// The connections whose client is not authenticated (Response::identified) and of which nothing is
/// under way: they wait for a request, or have not read one to its end. When there are too many
/// connections, these make room for others. Safe from every thread.
class PendingConnections {
public:
    /// On the connection's strand, or before it is served.
    void enter(const std::shared_ptr<Connection>& connection);
    /// On the connection's strand. Harmless when it is not there.
    void leave(Connection& connection);
    /// Takes out the one that has waited longest, of this address as it is counted, or (empty) of
    /// the address that has most; null when there is none.
    std::shared_ptr<Connection> take_oldest(const std::string& address);

private:
    using Waiting = std::list<std::weak_ptr<Connection>>;    // oldest first
    struct Place {
        std::map<std::string, Waiting>::iterator address;
        Waiting::iterator connection;
    };
    void remove(const Place& place);

    std::mutex mutex_;
    // guarded by mutex_
    std::map<std::string, Waiting> waiting_;
    std::map<Connection*, Place> places_;
};

}    // namespace slipway
