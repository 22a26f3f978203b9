#include "scheduler/artifacts/below.h"

namespace slipway {

namespace fs = std::filesystem;

std::optional<fs::path> below(const fs::path& root, const std::string& relative) {
    const fs::path path(relative);
    if (relative.empty() || path.is_absolute()) return std::nullopt;
    for (const fs::path& part : path) {
        if (part == ".." || part == "." || part.empty()) return std::nullopt;
    }
    return root / path;
}

}    // namespace slipway
