#include "scheduler/launcher/slurm/command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "api/base/clock.h"
#include "api/base/error.h"
#include "api/base/posix.h"

// posix_spawn: the program is short, and nothing has to be kept before it begins. It ends with its
// output: programs that leave others behind would hold the reader, so there is a limit of time.
namespace slipway {

namespace {

[[noreturn]] void fail_command(const std::string& program, int reason) {
    throw Error{ErrorCode::unavailable,
                fmt::format("cannot run {}: {}", program, std::strerror(reason))};
}

/// Of SLURM_* the place of the configuration alone: others would change what a command does.
std::vector<std::string> command_environment() {
    std::vector<std::string> made{"LC_ALL=C", "TZ=UTC"};
    for (const char* name : {"PATH", "HOME", "USER", "SLURM_CONF", "LD_LIBRARY_PATH"}) {
        const char* value = std::getenv(name);
        if (value != nullptr) made.push_back(fmt::format("{}={}", name, value));
    }
    return made;
}

std::vector<char*> as_pointers(std::vector<std::string>& words) {
    std::vector<char*> made;
    for (std::string& word : words)
        made.push_back(word.data());
    made.push_back(nullptr);
    return made;
}

struct OutputPipe {
    UniqueFd ours;
    UniqueFd theirs;
    std::string text = {};
};

OutputPipe make_output_pipe(const std::string& program) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail_command(program, errno);
    return {.ours = UniqueFd(ends[0]), .theirs = UniqueFd(ends[1])};
}

/// A file in memory, so that a program that does not read cannot hold us.
UniqueFd input_file(const std::string& program, const std::string& text) {
    UniqueFd file(memfd_create("input", MFD_CLOEXEC));
    if (!file || write(file.get(), text.data(), text.size()) != ssize_t(text.size()) ||
        lseek(file.get(), 0, SEEK_SET) != 0)
        fail_command(program, errno);
    return file;
}

class Spawned {
public:
    Spawned(std::vector<std::string> words, const UniqueFd& input, const OutputPipe& output,
            const OutputPipe& error) {
        std::vector<std::string> environment = command_environment();
        const std::vector<char*> arguments = as_pointers(words);
        const std::vector<char*> variables = as_pointers(environment);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, input.get(), 0);
        posix_spawn_file_actions_adddup2(&actions, output.theirs.get(), 1);
        posix_spawn_file_actions_adddup2(&actions, error.theirs.get(), 2);
        posix_spawn_file_actions_addclosefrom_np(&actions, 3);
        posix_spawnattr_t attributes;
        posix_spawnattr_init(&attributes);
        sigset_t none;
        sigset_t all;
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        const int failure = posix_spawnp(&pid_, words.front().c_str(), &actions, &attributes,
                                         arguments.data(), variables.data());
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
        if (failure != 0) fail_command(words.front(), failure);
    }
    ~Spawned() { end(); }
    Spawned(const Spawned&) = delete;
    Spawned& operator=(const Spawned&) = delete;

    void kill() const { ::kill(pid_, SIGKILL); }

    /// Waits for its end.
    int wait() {
        siginfo_t info{};
        while (waitid(P_PID, id_t(pid_), &info, WEXITED) != 0 && errno == EINTR) {
        }
        pid_ = -1;
        return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
    }

private:
    void end() {
        if (pid_ <= 0) return;
        kill();
        wait();
    }

    pid_t pid_ = -1;
};

/// False at its end.
bool read_some(OutputPipe& pipe, std::size_t bytes_max) {
    std::array<char, 65536> chunk{};
    const ssize_t got = read(pipe.ours.get(), chunk.data(), chunk.size());
    if (got < 0) return errno == EINTR || errno == EAGAIN;
    const std::size_t room = bytes_max - std::min(bytes_max, pipe.text.size());
    pipe.text.append(chunk.data(), std::min(std::size_t(got), room));
    return got > 0;
}

}    // namespace

CommandResult run_command(const std::vector<std::string>& words, const CommandOptions& options) {
    const UniqueFd input = input_file(words.front(), options.input);
    std::array<OutputPipe, 2> pipes{make_output_pipe(words.front()),
                                    make_output_pipe(words.front())};
    Spawned program(words, input, pipes[0], pipes[1]);
    for (OutputPipe& pipe : pipes)
        pipe.theirs.reset();
    const Tick end = system_clock().tick() + options.limit;
    CommandResult result;
    while (pipes[0].ours || pipes[1].ours) {
        const auto rest =
            std::chrono::ceil<std::chrono::milliseconds>(end - system_clock().tick()).count();
        if (rest <= 0) {
            result.timed_out = true;
            program.kill();
            break;
        }
        std::array<pollfd, 2> polled{pollfd{pipes[0].ours.get(), POLLIN, 0},
                                     pollfd{pipes[1].ours.get(), POLLIN, 0}};
        poll(polled.data(), polled.size(), int(std::min<std::int64_t>(rest, 1000)));
        for (std::size_t i = 0; i < pipes.size(); ++i)
            if (polled[i].revents != 0 && !read_some(pipes[i], options.output_bytes_max))
                pipes[i].ours.reset();
    }
    result.status = program.wait();
    result.output = std::move(pipes[0].text);
    result.error = std::move(pipes[1].text);
    return result;
}

}    // namespace slipway
