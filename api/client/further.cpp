#include "api/client/further.h"

#include <fmt/format.h>

#include "api/base/printable.h"

namespace slipway::client {

void print_further(const HttpClient& client, std::string_view what,
                   std::span<const std::string> commands, std::string_view page) {
    fmt::print("More about this {}:\n", what);
    for (const std::string& command : commands)
        fmt::print("  slipway {}\n", printable_line(command));
    fmt::print("  {}/#/{}\n", to_string(client.options().url), printable_line(page));
}

}    // namespace slipway::client
