#include "api/client/commands_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "api/base/printable.h"
#include "api/client/listing.h"

namespace slipway::client {
namespace {

std::string joined_cells(const Json& items) {
    std::vector<std::string> words;
    for (const Json& item : items)
        words.push_back(item.is_string() ? item.get<std::string>() : item.dump());
    return words.empty() ? "–" : printable_line(fmt::format("{}", fmt::join(words, ", ")));
}

}    // namespace

void print_table(const std::vector<std::string>& head,
                 const std::vector<std::vector<std::string>>& rows) {
    fmt::print("{}", listing_text({.head = head, .rows = rows}, OutputForm::table, false));
}

std::string cell(const Json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end() || found->is_null()) return "–";
    if (found->is_string()) return printable_line(found->get_ref<const std::string&>());
    if (found->is_number_float()) return fmt::format("{:.5g}", found->get<double>());
    if (found->is_array()) return joined_cells(*found);
    return printable_line(found->dump());
}

std::string value_cell(const Json& point) {
    return cell(point, point.contains("nonfinite") ? "nonfinite" : "value");
}

}    // namespace slipway::client
