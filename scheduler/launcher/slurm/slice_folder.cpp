#include "scheduler/launcher/slurm/slice_folder.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "api/base/error.h"
#include "api/base/json.h"
#include "api/base/posix.h"
#include "scheduler/launcher/private_folder.h"
#include "scheduler/launcher/slurm/start_order.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr const char* held_ending = ".held";
constexpr const char* let_go_ending = ".order";
constexpr const char* exit_ending = ".exit";

fs::path file_of(const fs::path& folder, int rank, const char* ending) {
    return folder / fmt::format("{}{}", rank, ending);
}

std::optional<std::string> read_file(const fs::path& path) {
    std::ifstream file(path);
    if (!file) return std::nullopt;
    return std::string{std::istreambuf_iterator<char>(file), {}};
}

std::optional<int> rank_of(const fs::path& file) {
    const std::string name = file.stem().string();
    int rank = -1;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), rank);
    if (parsed.ec != std::errc{} || parsed.ptr != name.data() + name.size()) return std::nullopt;
    return rank;
}

}    // namespace

fs::path SliceFolder::order_of(int rank) const {
    return file_of(folder_, rank, let_go_ending);
}

void SliceFolder::hold_order(int rank, const std::string& text) const {
    make_private_folder(folder_.parent_path());
    make_private_folder(folder_);
    write_file_aside(file_of(folder_, rank, held_ending), text);
}

void SliceFolder::let_go(int rank) const {
    const fs::path order = order_of(rank);
    if (rename(file_of(folder_, rank, held_ending).c_str(), order.c_str()) == 0) return;
    const int reason = errno;
    if (reason == ENOENT && fs::exists(order)) return;    // by the service before this one
    throw Error{ErrorCode::unavailable,
                fmt::format("cannot write {}: {}", order.string(), std::strerror(reason))};
}

std::optional<StartOrder> SliceFolder::read_order(int rank) const {
    for (const char* ending : {let_go_ending, held_ending}) {
        const auto text = read_file(file_of(folder_, rank, ending));
        if (text) return read_start_order(*text);
    }
    return std::nullopt;
}

int SliceFolder::count(const char* ending) const {
    int found = 0;
    std::error_code absent;
    for (const auto& entry : fs::directory_iterator(folder_, absent))
        if (entry.path().extension() == ending && rank_of(entry.path())) ++found;
    return found;
}

int SliceFolder::count_let_go() const {
    return count(let_go_ending);
}

int SliceFolder::count_exits() const {
    return count(exit_ending);
}

void SliceFolder::keep_begin(int rank, const std::string& node) const {
    write_file_aside(file_of(folder_, rank, begun_ending), node);
}

std::optional<std::string> SliceFolder::begun_on(int rank) const {
    return read_file(file_of(folder_, rank, begun_ending));
}

void SliceFolder::keep_exit(int rank, const MemberExit& exit) const {
    const Json text{{"status", exit.status}, {"ended_ns", exit.ended_ns}, {"node", exit.node}};
    write_file_aside(file_of(folder_, rank, exit_ending), text.dump());
}

std::optional<MemberExit> SliceFolder::exit_of(int rank) const {
    const auto text = read_file(file_of(folder_, rank, exit_ending));
    if (!text) return std::nullopt;
    const Json stored = Json::parse(*text, nullptr, false);
    if (!stored.is_object()) return std::nullopt;
    try {
        return MemberExit{.status = stored.at("status").get<int>(),
                          .ended_ns = stored.at("ended_ns").get<std::int64_t>(),
                          .node = stored.at("node").get<std::string>()};
    } catch (const Json::exception&) {
        return std::nullopt;    // a field is missing, or is something else
    }
}

std::optional<int> SliceFolder::first_failed_before(int rank) const {
    const std::optional<MemberExit> own = exit_of(rank);
    std::optional<int> first;
    std::int64_t first_ns = own ? own->ended_ns : INT64_MAX;
    std::error_code absent;
    for (const auto& entry : fs::directory_iterator(folder_, absent)) {
        const std::optional<int> other = rank_of(entry.path());
        if (entry.path().extension() != exit_ending || !other || *other == rank) continue;
        const std::optional<MemberExit> exit = exit_of(*other);
        if (!exit || exit->status == 0 || exit->ended_ns >= first_ns) continue;
        first = other;
        first_ns = exit->ended_ns;
    }
    return first;
}

void SliceFolder::remove(int rank) const {
    std::error_code next_time;    // the launcher's remove_left() finds it
    for (const char* ending : {held_ending, let_go_ending})
        fs::remove(file_of(folder_, rank, ending), next_time);
    // How this one ended may still tell another one who the cause was.
    if (count(let_go_ending) + count(held_ending) == 0) fs::remove_all(folder_, next_time);
}

}    // namespace slipway
