#include "api/client/listing.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "api/base/check.h"
#include "api/base/printable.h"

namespace slipway::client {
namespace {

constexpr std::string_view no_value = "–";

struct StateColour {
    std::string_view word;
    int code;    // of "Select Graphic Rendition": 31 red, 32 green, 33 yellow, 36 cyan
};
constexpr std::array state_colours{
    StateColour{"succeeded", 32}, StateColour{"ready", 32},      StateColour{"finished", 32},
    StateColour{"completed", 32}, StateColour{"delivered", 32},  StateColour{"running", 36},
    StateColour{"compiling", 36}, StateColour{"starting", 36},   StateColour{"finishing", 36},
    StateColour{"training", 36},  StateColour{"predicting", 36}, StateColour{"failed", 31},
    StateColour{"timed_out", 31}, StateColour{"expired", 31},    StateColour{"lost", 31},
    StateColour{"queued", 33},    StateColour{"waiting", 33},    StateColour{"paused", 33},
    StateColour{"pausing", 33},   StateColour{"preempting", 33}, StateColour{"cancelling", 33},
    StateColour{"checking", 33},  StateColour{"drained", 33},
};

std::size_t characters(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; }));
}

std::string coloured(const std::string& text, std::string_view title) {
    if (title != "state") return text;
    const auto found = std::ranges::find(state_colours, text, &StateColour::word);
    return found == state_colours.end() ? text
                                        : fmt::format("\x1b[{}m{}\x1b[0m", found->code, text);
}

std::string table_text(const Listing& listing, std::size_t columns, bool in_colour) {
    std::vector<std::size_t> widths;
    for (std::size_t column = 0; column < columns; ++column) {
        std::size_t width = characters(listing.head[column]);
        for (const auto& row : listing.rows)
            width = std::max(width, characters(row[column]));
        widths.push_back(width);
    }
    std::string text;
    const auto add_row = [&](const std::vector<std::string>& row, bool is_head) {
        for (std::size_t column = 0; column < columns; ++column) {
            text +=
                in_colour && !is_head ? coloured(row[column], listing.head[column]) : row[column];
            if (column + 1 < columns)
                text += std::string(widths[column] - characters(row[column]) + 2, ' ');
        }
        text += '\n';
    };
    add_row(listing.head, true);
    for (const auto& row : listing.rows)
        add_row(row, false);
    return text;
}

// RFC 4180: what has a comma, a quote or a line break is quoted.
std::string csv_cell(const std::string& text) {
    if (text == no_value) return {};
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char letter : text)
        quoted += letter == '"' ? std::string("\"\"") : std::string(1, letter);
    return quoted + "\"";
}

std::string csv_text(const Listing& listing) {
    std::string text;
    const auto add_row = [&](const std::vector<std::string>& row) {
        for (std::size_t column = 0; column < row.size(); ++column)
            text += (column == 0 ? "" : ",") + csv_cell(row[column]);
        text += '\n';
    };
    add_row(listing.head);
    for (const auto& row : listing.rows)
        add_row(row);
    return text;
}

std::string lines_text(const Json& items) {
    std::string text;
    for (const Json& item : items)
        text += item.dump() + "\n";
    return text;
}

}    // namespace

std::string listing_text(const Listing& listing, OutputForm form, bool in_colour) {
    const std::size_t all = listing.head.size();
    switch (form) {
        case OutputForm::table:
            return table_text(listing, all - listing.wide_count, in_colour);
        case OutputForm::wide:
            return table_text(listing, all, in_colour);
        case OutputForm::json:
            return listing.items.dump(2) + "\n";
        case OutputForm::jsonl:
            return lines_text(listing.items);
        case OutputForm::csv:
            return csv_text(listing);
    }
    check(false, "every form of output has a text");
    return {};
}

bool colours_wanted() {
    const char* no_colour = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    if (no_colour != nullptr && *no_colour != '\0') return false;
    if (terminal != nullptr && std::string_view(terminal) == "dumb") return false;
    return isatty(STDOUT_FILENO) == 1;
}

ExitCode print_listing(const Listing& listing, std::string_view form) {
    const auto found = std::ranges::find(output_forms, form);
    check(found != output_forms.end(), "the form of output is one of the table's");
    const auto chosen = static_cast<OutputForm>(found - output_forms.begin());
    const std::string text = listing_text(listing, chosen, colours_wanted());
    // The cells of a table are printable already, and its colours are ours.
    const bool is_table = chosen == OutputForm::table || chosen == OutputForm::wide;
    fmt::print("{}", is_table ? text : printable_text(text));
    if (!listing.note.empty()) fmt::print(stderr, "{}\n", listing.note);
    return ExitCode::ok;
}

}    // namespace slipway::client
