#include "scheduler/agent/home_id.h"

#include <utility>

#include "api/base/id.h"
#include "api/base/posix.h"
#include "scheduler/agent/run_folder.h"

namespace slipway {

namespace {

constexpr std::size_t id_bytes = 16;

std::filesystem::path file_of(const std::filesystem::path& home) {
    return home / "host.id";
}

}    // namespace

std::optional<std::string> find_home_id(const std::filesystem::path& home) {
    auto known = read_at_most(file_of(home), 2 * id_bytes);
    if (!known || known->empty()) return std::nullopt;
    return std::move(*known);
}

std::string home_id(const std::filesystem::path& home) {
    if (auto known = find_home_id(home)) return std::move(*known);
    std::filesystem::create_directories(home);
    std::string made = random_hex(id_bytes);
    write_file_aside(file_of(home), made);
    return made;
}

}    // namespace slipway
