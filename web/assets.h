#pragma once

#include <span>
#include <string_view>

namespace slipway {

/// One file of the dashboard or of the documentation as built into the program.
struct Asset {
    std::string_view path;     ///< "/app.js"; the page itself is "/index.html"
    std::string_view bytes;    ///< lives as long as the program
};

/// Every file of web/dist.
std::span<const Asset> web_assets();

/// Every page of the documentation and what belongs to it: "/docs/index.html", "/docs/docs.css".
std::span<const Asset> documentation_assets();

}    // namespace slipway
