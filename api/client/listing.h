#pragma once

#include <nlohmann/json.hpp>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/json.h"
#include "api/client/service.h"

namespace slipway::client {

/// What a command found that lists things; how it is shown is the caller's choice.
struct Listing {
    std::vector<std::string> head = {};
    std::vector<std::vector<std::string>> rows = {};    ///< a cell for each of `head`
    Json items = Json::array();    ///< the same things as the service named them
    std::size_t wide_count = 0;    ///< so many columns at the end are shown in wide form only
    std::string note = {};         ///< for people, on stderr; empty: none
};

/// How a listing is printed; the words of `--output`.
enum class OutputForm { table, wide, json, jsonl, csv };
inline constexpr std::array<std::string_view, 5> output_forms{"table", "wide", "json", "jsonl",
                                                              "csv"};

/// The listing in this form. `in_colour`: states in tables are coloured.
std::string listing_text(const Listing& listing, OutputForm form, bool in_colour);

/// True for a terminal, unless NO_COLOR is set (https://no-color.org) or TERM is dumb.
bool colours_wanted();

/// Prints it, and its note on stderr. `form` is a word of `output_forms`.
ExitCode print_listing(const Listing& listing, std::string_view form);

}    // namespace slipway::client
