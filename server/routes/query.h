#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/spec/endpoints.h"
#include "api/spec/spelling.h"
#include "scheduler/store/store.h"
#include "server/http/message.h"

namespace slipway {

/// Refuses a query that the endpoint's row does not describe; afterwards the functions below only
/// read. errors  throws 422 `invalid_query` with every problem
void require_query(const Request& request, const Endpoint& endpoint);

/// The text, or empty when absent.
std::string query_text(const Request& request, std::string_view name);
/// The number, or `standard` when absent.
std::int64_t query_number(const Request& request, std::string_view name, std::int64_t standard);
/// Where a list by sequence numbers goes on: `cursor`, or `after`, or 0.
std::int64_t query_sequence(const Request& request);
/// The time, or none when absent.
std::optional<Instant> query_time(const Request& request, std::string_view name);
/// "true" is true; absent is false.
bool query_flag(const Request& request, std::string_view name);
/// The different parts of "a,b", in the order given.
std::vector<std::string> query_words(const Request& request, std::string_view name);
/// The pairs of "team:ct,stage:2".
std::map<std::string, std::string> query_pairs(const Request& request, std::string_view name);
/// `limit` and `cursor`.
store::PageRequest query_page(const Request& request);

/// The parts of "a,b" that are words of an enumeration.
template <Spelled E>
std::vector<E> query_enumerators(const Request& request, std::string_view name) {
    std::vector<E> values;
    for (const std::string& word : query_words(request, name))
        if (const auto value = parse_word<E>(word)) values.push_back(*value);
    return values;
}

/// Seconds of `Prefer: wait=N` (above 60 are cut), or none.
std::optional<double> preferred_wait_s(const Request& request);

}    // namespace slipway
