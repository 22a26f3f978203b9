// The stage between spawn and run: takes from itself what an executor must not have, then becomes
// it. A program of its own, because a service of many threads cannot do this between fork and exec,
// and because the program that it starts is not trusted to confine itself. The order matters: what
// needs privileges first, then the user, then what binds every process alike. The program may lie
// below a folder that only the service can enter, such as a clone in /root: it and the library
// beside it are opened, and the rules for paths are made, while we still can.

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "api/base/collectives_library.h"
#include "api/base/compiler_library.h"
#include "api/base/error.h"
#include "api/base/executor_socket.h"
#include "api/base/posix.h"
#include "scheduler/launcher/confine/limits.h"
#include "scheduler/launcher/confine/paths.h"
#include "scheduler/launcher/confine/privileges.h"
#include "scheduler/launcher/confine/system_calls.h"

namespace {

using namespace slipway;

/// As shells say that a program was found and could not be run.
constexpr int exit_not_started = 126;

struct Request {
    std::optional<uid_t> user;
    std::vector<gid_t> shared_groups;
    ResourceLimits limits;
    AllowedPaths paths;
    std::filesystem::path socket_folder;
    std::filesystem::path compiler;
    std::filesystem::path collectives;
    std::vector<std::string> command;
};

void add_options(CLI::App& app, Request& request) {
    app.add_option("--user", request.user, "number of the user and group to become");
    app.add_option("--shared-group", request.shared_groups, "another group to be in")
        ->allow_extra_args(false);
    app.add_option("--memory-bytes", request.limits.memory_bytes);
    app.add_option("--file-bytes", request.limits.file_bytes, "of one file");
    app.add_option("--cpu-seconds", request.limits.cpu_seconds);
    app.add_option("--processes", request.limits.processes, "and threads, of the user");
    app.add_option("--read", request.paths.readable)->allow_extra_args(false);
    app.add_option("--execute", request.paths.executable)->allow_extra_args(false);
    app.add_option("--write", request.paths.writable)->allow_extra_args(false);
    app.add_option("--socket-folder", request.socket_folder,
                   "folder in which the program inherits a socket to listen at");
    app.add_option("--compiler", request.compiler, "library that the program may load");
    app.add_option(
        "--collectives", request.collectives,
        "library that the program may load to connect to other hosts, which it then may");
    app.add_option("command", request.command, "the program and its arguments")->required();
}

/// The program finds the library by a descriptor that stays open: also when it may not enter the
/// folder, and when another version is put there meanwhile.
void hand_on(const std::filesystem::path& library, const char* variable) {
    if (library.empty()) return;
    const int opened = open(library.c_str(), O_PATH);
    if (opened >= 0) setenv(variable, fmt::format("/proc/self/fd/{}", opened).c_str(), 1);
}

/// Made as the program's own user, while it may still be made.
void hand_on_socket(const std::filesystem::path& folder) {
    if (folder.empty()) return;
    const UniqueFd socket = listen_unix(folder, executor_socket_name);
    const int inherited = fcntl(socket.get(), F_DUPFD, 0);
    if (inherited >= 0) setenv(executor_socket_variable, fmt::format("{}", inherited).c_str(), 1);
}

int become(Request& request) {
    // What an executor makes is for its user alone, whatever mode a library asks for.
    umask(S_IRWXG | S_IRWXO);
    set_limits(request.limits);
    const UniqueFd program(open(request.command.front().c_str(), O_PATH | O_CLOEXEC));
    hand_on(request.compiler, compiler_library_variable);
    hand_on(request.collectives, collectives_library_variable);
    request.paths.connects = !request.collectives.empty();
    // Gloo looks for network cards and their modules before it opens a connection.
    if (request.paths.connects)
        for (const char* path : {"/proc/modules", "/sys/bus/pci/devices", "/sys/devices"})
            request.paths.readable.emplace_back(path);
    const UniqueFd path_rules = make_path_rules(request.paths);
    drop_privileges(request.user, request.shared_groups);
    hand_on_socket(request.socket_folder);
    // What the kernel does not have is left out: whether to start at all without it is the
    // service's decision (--confinement), which asks confinement_features().
    enforce_path_rules(path_rules);
    allow_system_calls(request.paths.connects);
    std::vector<char*> arguments;
    for (std::string& word : request.command)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    set_memory_limit(request.limits);
    execv(arguments.front(), arguments.data());
    if (errno == EACCES && program)
        execv(fmt::format("/proc/self/fd/{}", program.get()).c_str(), arguments.data());
    throw Error{ErrorCode::unavailable,
                fmt::format("cannot run {}: {}", request.command.front(), std::strerror(errno))};
}

}    // namespace

int main(int argc, char** argv) {
    Request request;
    CLI::App app{"Runs a program with few rights: own user, listed files, no network, limits."};
    add_options(app, request);
    try {
        app.parse(argc, argv);
        return become(request);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : exit_not_started;
    } catch (const std::exception& error) {
        fmt::print(stderr, "slipway-confine: {}\n", error.what());
        // At once: what a program does at its end may be refused by now.
        std::fflush(stderr);
        _exit(exit_not_started);
    }
}
