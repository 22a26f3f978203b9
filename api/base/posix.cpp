#include "api/base/posix.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string_view>

#include "api/base/check.h"
#include "api/base/error.h"

namespace slipway {

namespace {

/// The folder is opened and addressed through /proc/self/fd, so that its own length never counts.
struct ShortAddress {
    UniqueFd folder;
    sockaddr_un address{};
};

std::optional<ShortAddress> short_address(const std::filesystem::path& folder,
                                          const std::string& name) {
    ShortAddress result{.folder = UniqueFd(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC))};
    if (!result.folder) return std::nullopt;
    const std::string path = fmt::format("/proc/self/fd/{}/{}", result.folder.get(), name);
    check(path.size() < sizeof(result.address.sun_path), "a socket's own name is short");
    result.address.sun_family = AF_UNIX;
    std::memcpy(result.address.sun_path, path.c_str(), path.size() + 1);
    return result;
}

/// The mode comes from the umask: a confined process may not change it afterwards. Other threads
/// that make files meanwhile make them for their owner alone, which is right for all of ours.
bool bind_for_owner(int socket, const sockaddr_un& address) {
    const mode_t before = umask(S_IRWXG | S_IRWXO);
    const int result = bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    const int reason = errno;
    umask(before);
    errno = reason;
    return result == 0;
}

[[noreturn]] void throw_unavailable(const std::filesystem::path& path, std::string_view doing) {
    const int reason = errno;
    throw Error{reason == ENOSPC ? ErrorCode::exhausted : ErrorCode::unavailable,
                fmt::format("cannot {} {}: {}", doing, path.string(), std::strerror(reason))};
}

}    // namespace

UniqueFd& UniqueFd::operator=(UniqueFd&& other) noexcept {
    if (this != &other) {
        reset();
        fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
}

void UniqueFd::reset() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
}

UniqueFd listen_unix(const std::filesystem::path& folder, const std::string& name) {
    const auto place = short_address(folder, name);
    if (!place) throw_unavailable(folder, "open folder");
    unlinkat(place->folder.get(), name.c_str(), 0);
    UniqueFd listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!listener || !bind_for_owner(listener.get(), place->address))
        throw_unavailable(folder / name, "bind");
    if (listen(listener.get(), 8) != 0) throw_unavailable(folder / name, "listen at");
    return listener;
}

std::optional<UniqueFd> connect_unix(const std::filesystem::path& folder, const std::string& name) {
    const auto place = short_address(folder, name);
    if (!place) return std::nullopt;
    UniqueFd connection(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!connection) return std::nullopt;
    const auto* address = reinterpret_cast<const sockaddr*>(&place->address);
    if (connect(connection.get(), address, sizeof(place->address)) != 0) return std::nullopt;
    return connection;
}

bool send_available(const UniqueFd& socket, std::string& text) {
    std::size_t sent = 0;
    bool goes_on = true;
    while (sent < text.size()) {
        const ssize_t took =
            send(socket.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (took > 0) {
            sent += std::size_t(took);
            continue;
        }
        if (took < 0 && errno == EINTR) continue;
        goes_on = took < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
        break;
    }
    text.erase(0, sent);
    return goes_on;
}

UniqueFd make_event() {
    UniqueFd event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!event) {
        throw Error{ErrorCode::unavailable,
                    fmt::format("cannot make an eventfd: {}", std::strerror(errno))};
    }
    return event;
}

std::optional<std::int64_t> process_start_ticks(pid_t pid) {
    std::ifstream file(fmt::format("/proc/{}/stat", pid));
    std::string line;
    if (!std::getline(file, line)) return std::nullopt;
    // The command's name may hold spaces and brackets: count fields from the last bracket on.
    const std::size_t bracket = line.rfind(')');
    if (bracket == std::string::npos || bracket + 2 >= line.size()) return std::nullopt;
    std::string_view rest = std::string_view(line).substr(bracket + 2);
    const char state = rest[0];
    if (state == 'Z' || state == 'X') return std::nullopt;
    for (int field = 3; field < 22; ++field) {
        const std::size_t space = rest.find(' ');
        if (space == std::string_view::npos) return std::nullopt;
        rest.remove_prefix(space + 1);
    }
    std::int64_t ticks = 0;
    if (std::from_chars(rest.data(), rest.data() + rest.size(), ticks).ec != std::errc{}) {
        return std::nullopt;
    }
    return ticks;
}

void write_file_aside(const std::filesystem::path& path, const std::string& text) {
    const std::filesystem::path aside = path.string() + ".new";
    const UniqueFd file(open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!file) throw_unavailable(aside, "write");
    std::string_view rest = text;
    while (!rest.empty()) {
        const ssize_t wrote = write(file.get(), rest.data(), rest.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) throw_unavailable(aside, "write");
        rest.remove_prefix(std::size_t(wrote));
    }
    if (rename(aside.c_str(), path.c_str()) != 0) throw_unavailable(path, "rename to");
}

}    // namespace slipway
