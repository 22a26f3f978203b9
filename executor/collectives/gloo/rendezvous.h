#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "api/protocol/attempt_order.h"

namespace slipway {

/// Where a member can be reached: for each other rank an address, as the transport writes them; its
/// own place is empty.
using MemberAddresses = std::vector<std::string>;

/// Writes the file of this member into the order's rendezvous_folder.
/// errors  unavailable, exhausted when it cannot be written
void publish(const MemberOrder& order, const MemberAddresses& addresses);

/// Waits until `until` for the files of all members; by rank.
/// errors  MemberLost naming who did not come, or whose file is not proven by the secret
std::vector<MemberAddresses> meet(const MemberOrder& order,
                                  std::chrono::steady_clock::time_point until);

/// "rank 2 (training-3)".
std::string member_name(const MemberOrder& order, int rank);
/// "rank 1 (b) and rank 2 (c)".
std::string member_names(const MemberOrder& order, const std::vector<int>& ranks);

}    // namespace slipway
