#include "scheduler/store/avoided_hosts.h"

namespace slipway::store {

namespace {

constexpr std::string_view key_begin = "not_started on:";
constexpr char separator = '/';    // no name of a host has one

}    // namespace

std::string key_of_avoided(const std::set<std::string>& hosts) {
    std::string key(key_begin);
    for (const std::string& host : hosts)
        key += host + separator;
    return key;
}

std::set<std::string> avoided_hosts(std::string_view crash_key) {
    std::set<std::string> hosts;
    if (!crash_key.starts_with(key_begin)) return hosts;
    crash_key.remove_prefix(key_begin.size());
    for (auto end = crash_key.find(separator); end != std::string_view::npos;
         end = crash_key.find(separator)) {
        hosts.emplace(crash_key.substr(0, end));
        crash_key.remove_prefix(end + 1);
    }
    return hosts;
}

}    // namespace slipway::store
