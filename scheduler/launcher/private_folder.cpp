#include "scheduler/launcher/private_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "api/base/error.h"

namespace slipway {

namespace fs = std::filesystem;

void make_private_folder(const fs::path& folder) {
    std::error_code problem;
    std::vector<fs::path> absent;
    for (fs::path each = folder; !each.empty() && !fs::exists(each, problem);
         each = each.parent_path())
        absent.push_back(each);
    for (auto each = absent.rbegin(); each != absent.rend(); ++each) {
        const mode_t mode = *each == folder ? 0700 : 0711;
        // Another attempt may make the same parent at this moment.
        if (mkdir(each->c_str(), mode) == 0 || errno == EEXIST) continue;
        const std::error_code reason(errno, std::generic_category());
        const bool full = reason == std::errc::no_space_on_device;
        throw Error{full ? ErrorCode::exhausted : ErrorCode::unavailable,
                    fmt::format("cannot make {}: {}", each->string(), reason.message())};
    }
}

}    // namespace slipway
