#pragma once

#include <span>
#include <string_view>

namespace slipway {

/// One file of the dashboard as built into the program.
struct Asset {
    std::string_view path;     ///< "/app.js"; the page itself is "/index.html"
    std::string_view bytes;    ///< lives as long as the program
};

/// Every file of web/dist.
std::span<const Asset> web_assets();

}    // namespace slipway
