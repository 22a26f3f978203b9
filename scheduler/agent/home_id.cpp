#include "scheduler/agent/home_id.h"

#include <fmt/format.h>
#include <unistd.h>

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
    if (known && known->empty()) known.reset();
    return known;
}

std::string home_id(const std::filesystem::path& home) {
    if (auto known = find_home_id(home)) return std::move(*known);
    std::filesystem::create_directories(home);
    // A link never replaces a file: of agents of one home that begin at once, one makes the id, and
    // none registers its host with an id that another one has overwritten.
    const std::string made = random_hex(id_bytes);
    const std::filesystem::path file = file_of(home);
    const std::filesystem::path aside = fmt::format("{}.{}", file.string(), made);
    write_file_aside(aside, made);
    const bool is_first = link(aside.c_str(), file.c_str()) == 0;
    unlink(aside.c_str());
    if (is_first) return made;
    if (auto known = find_home_id(home)) return std::move(*known);
    write_file_aside(file, made);    // an empty file is what a crash of the machine left
    return made;
}

}    // namespace slipway
