#include "server/http/pending_connections.h"

#include <algorithm>

#include "server/http/connection.h"
#include "server/http/network.h"

namespace slipway {

void PendingConnections::enter(const std::shared_ptr<Connection>& connection) {
    connection->pending = true;
    const std::lock_guard lock(mutex_);
    const auto address = waiting_.try_emplace(counted_address(connection->peer)).first;
    const auto place = address->second.insert(address->second.end(), connection);
    places_[connection.get()] = {address, place};
}

void PendingConnections::leave(Connection& connection) {
    connection.pending = false;
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(&connection);
    if (found == places_.end()) return;
    remove(found->second);
    places_.erase(found);
}

std::shared_ptr<Connection> PendingConnections::take_oldest(const std::string& address) {
    const std::lock_guard lock(mutex_);
    const auto found = address.empty()
                           ? std::ranges::max_element(
                                 waiting_, {}, [](const auto& one) { return one.second.size(); })
                           : waiting_.find(address);
    if (found == waiting_.end()) return nullptr;
    std::shared_ptr<Connection> oldest = found->second.front().lock();
    if (oldest) places_.erase(oldest.get());
    remove({found, found->second.begin()});
    return oldest;
}

void PendingConnections::remove(const Place& place) {
    place.address->second.erase(place.connection);
    if (place.address->second.empty()) waiting_.erase(place.address);
}

}    // namespace slipway
