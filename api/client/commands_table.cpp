#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/base/printable.h"
#include "api/client/commands.h"

namespace slipway::client {
namespace {

std::size_t characters(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; }));
}

}    // namespace

void print_table(const std::vector<std::string>& head,
                 const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths;
    for (std::size_t column = 0; column < head.size(); ++column) {
        std::size_t width = characters(head[column]);
        for (const auto& row : rows)
            width = std::max(width, characters(row[column]));
        widths.push_back(width);
    }
    const auto print_row = [&](const std::vector<std::string>& row) {
        std::string line;
        for (std::size_t column = 0; column < row.size(); ++column) {
            line += row[column];
            if (column + 1 < row.size())
                line += std::string(widths[column] - characters(row[column]) + 2, ' ');
        }
        fmt::print("{}\n", line);
    };
    print_row(head);
    for (const auto& row : rows)
        print_row(row);
}

std::string cell(const Json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end() || found->is_null()) return "–";
    if (found->is_string()) return printable_line(found->get_ref<const std::string&>());
    if (found->is_number_float()) return fmt::format("{:.5g}", found->get<double>());
    return printable_line(found->dump());
}

std::string value_cell(const Json& point) {
    return cell(point, point.contains("nonfinite") ? "nonfinite" : "value");
}

}    // namespace slipway::client
