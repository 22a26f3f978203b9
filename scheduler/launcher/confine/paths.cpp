#include "scheduler/launcher/confine/paths.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>

#include "api/base/error.h"
#include "api/base/posix.h"

// Landlock by the kernel's own version: each has the rights of those before it, and a ruleset must
// not name a right that the kernel does not know. The constants that Debian 12's headers lack are
// those of the kernel's documentation, Documentation/userspace-api/landlock.rst.
namespace slipway {

namespace {

constexpr std::uint64_t access_truncate = 1ULL << 14;           // version 3
constexpr std::uint64_t access_ioctl_of_device = 1ULL << 15;    // version 5
constexpr std::uint64_t access_bind_tcp = 1ULL << 0;            // version 4
constexpr std::uint64_t access_connect_tcp = 1ULL << 1;
constexpr std::uint64_t scope_abstract_socket = 1ULL << 0;    // version 6
constexpr std::uint64_t scope_signal = 1ULL << 1;

/// As newer kernels have it; older ones take a prefix.
struct RulesetAttributes {
    std::uint64_t handled_access_fs = 0;
    std::uint64_t handled_access_net = 0;
    std::uint64_t scoped = 0;
};

constexpr int rule_of_port = 2;    // version 4, LANDLOCK_RULE_NET_PORT

struct PortAttributes {
    std::uint64_t allowed_access = 0;
    std::uint64_t port = 0;
};

constexpr std::uint64_t read_rights = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t execute_rights = read_rights | LANDLOCK_ACCESS_FS_EXECUTE;
constexpr std::uint64_t write_rights =
    read_rights | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
    LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
    LANDLOCK_ACCESS_FS_REFER | access_truncate;
/// Those that make sense for something that is not a folder.
constexpr std::uint64_t file_rights = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                                      LANDLOCK_ACCESS_FS_READ_FILE | access_truncate;

RulesetAttributes attributes_of(int version) {
    RulesetAttributes all;
    all.handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;    // version 1
    if (version >= 2) all.handled_access_fs |= LANDLOCK_ACCESS_FS_REFER;
    if (version >= landlock_with_truncation) all.handled_access_fs |= access_truncate;
    if (version >= landlock_with_tcp) all.handled_access_net = access_bind_tcp | access_connect_tcp;
    if (version >= 5) all.handled_access_fs |= access_ioctl_of_device;
    if (version >= landlock_with_scopes) all.scoped = scope_abstract_socket | scope_signal;
    return all;
}

[[noreturn]] void throw_errno(const std::string& what) {
    throw Error{ErrorCode::unavailable, fmt::format("{}: {}", what, std::strerror(errno))};
}

void allow(const UniqueFd& rules, std::uint64_t handled, const std::filesystem::path& path,
           std::uint64_t rights) {
    const UniqueFd place(open(path.c_str(), O_PATH | O_CLOEXEC));
    if (!place && (errno == ENOENT || errno == ENOTDIR || errno == EACCES)) return;
    if (!place) throw_errno(fmt::format("{} cannot be allowed", path.string()));
    struct stat found {};
    if (fstat(place.get(), &found) != 0) throw_errno(path.string());
    if (!S_ISDIR(found.st_mode)) rights &= file_rights;
    landlock_path_beneath_attr rule{};
    rule.allowed_access = rights & handled;
    rule.parent_fd = place.get();
    if (syscall(SYS_landlock_add_rule, rules.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
        throw_errno(fmt::format("{} cannot be allowed", path.string()));
}

void allow_port(const UniqueFd& rules, std::uint64_t port, std::uint64_t rights) {
    const PortAttributes rule{.allowed_access = rights, .port = port};
    if (syscall(SYS_landlock_add_rule, rules.get(), rule_of_port, &rule, 0) != 0)
        throw_errno(fmt::format("TCP port {} cannot be allowed", port));
}

/// Members of a slice listen on ports that the system chooses. Those of other hosts may be others
/// than ours, by default they are Linux's.
void allow_chosen_ports(const UniqueFd& rules) {
    constexpr int linux_first = 32768, linux_last = 60999;
    int first = linux_first, last = linux_last;
    std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> first >> last;
    allow_port(rules, 0, access_bind_tcp);
    for (int port = std::min(first, linux_first); port <= std::max(last, linux_last); ++port)
        allow_port(rules, std::uint64_t(port), access_connect_tcp);
}

}    // namespace

int landlock_version() {
    const long version =
        syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return version > 0 ? int(version) : 0;
}

UniqueFd make_path_rules(const AllowedPaths& paths) {
    const int version = landlock_version();
    if (version == 0) return {};
    const RulesetAttributes attributes = attributes_of(version);
    UniqueFd rules(int(syscall(SYS_landlock_create_ruleset, &attributes, sizeof(attributes), 0)));
    // An older kernel refuses a larger structure only when what it does not know is not 0.
    if (!rules) throw_errno("the rules for files cannot be made");
    const auto allow_all = [&](const std::vector<std::filesystem::path>& all,
                               std::uint64_t rights) {
        for (const auto& path : all)
            allow(rules, attributes.handled_access_fs, path, rights);
    };
    allow_all(paths.readable, read_rights);
    allow_all(paths.executable, execute_rights);
    allow_all(paths.writable, write_rights);
    if (paths.connects && attributes.handled_access_net != 0) allow_chosen_ports(rules);
    return rules;
}

void enforce_path_rules(const UniqueFd& rules) {
    if (!rules) return;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) throw_errno("no_new_privs");
    if (syscall(SYS_landlock_restrict_self, rules.get(), 0) != 0)
        throw_errno("the rules for files cannot be enforced");
}

}    // namespace slipway
