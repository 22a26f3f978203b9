#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/store/store.h"

namespace slipway::store {

/// The id of the store that all hosts share. None: nobody has claimed one.
std::optional<std::string> find_store_id(Store& store);
/// `offered`, unless there is an id already.
std::string claim_store_id(Store& store, std::string_view offered);

/// What a host has written into its store, for others to find there: 32 hexadecimal digits.
struct StoreMark {
    std::string host{};
    std::string mark{};
};
/// errors  throws when the host is not registered
void keep_store_mark(Store& store, const StoreMark& mark);
/// Those of the hosts that live, by name, but for the hosts of this home folder (Host::home).
std::vector<StoreMark> list_store_marks(
    Store& store, std::string_view home,
    std::chrono::milliseconds silence_max = std::chrono::seconds{10});

}    // namespace slipway::store
