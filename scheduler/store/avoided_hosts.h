#pragma once

#include <set>
#include <string>
#include <string_view>

namespace slipway::store {

/// The crash key (AttemptEnd) of a job that could not start on these hosts, and is to be tried on
/// others.
std::string key_of_avoided(const std::set<std::string>& hosts);

/// The hosts in such a key; none in any other one.
std::set<std::string> avoided_hosts(std::string_view crash_key);

}    // namespace slipway::store
