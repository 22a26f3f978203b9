#include "scheduler/launcher/worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>

#include "api/base/error.h"
#include "api/base/executor_socket.h"
#include "api/protocol/run_position.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

/// Of a run folder: what the next run uses again.
constexpr auto kept_files = std::to_array<KeptFile>({
    {.name = run_position_file},
    {.name = executor_socket_name},
    {.name = "output.log", .when_empty = true},
});

[[noreturn]] void fail_worker(const char* doing, int reason) {
    throw Error{ErrorCode::unavailable, fmt::format("cannot {}: {}", doing, std::strerror(reason))};
}

UniqueFd make_epoll(const std::array<int, 2>& watched) {
    UniqueFd events(epoll_create1(EPOLL_CLOEXEC));
    if (!events) fail_worker("watch a worker", errno);
    for (const int fd : watched) {
        epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
        if (epoll_ctl(events.get(), EPOLL_CTL_ADD, fd, &event) != 0)
            fail_worker("watch a worker", errno);
    }
    return events;
}

void send_with_descriptor(int socket, const std::string& text, int descriptor) {
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    iovec part{.iov_base = const_cast<char*>(text.data()), .iov_len = text.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
    if (sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) != ssize_t(text.size()))
        fail_worker("give an attempt to a worker", errno);
}

/// An empty folder with the owner of another one.
void make_like(const fs::path& folder, const fs::path& other) {
    struct stat facts {};
    if (stat(other.c_str(), &facts) != 0 || mkdir(folder.c_str(), 0700) != 0 ||
        (facts.st_uid != geteuid() && chown(folder.c_str(), facts.st_uid, facts.st_gid) != 0))
        fail_worker("make a folder for a run", errno);
}

/// Another build in the same place is another file, or has another time.
std::string file_identity(const fs::path& program) {
    struct stat facts {};
    if (stat(program.c_str(), &facts) != 0) return program.string();
    return fmt::format("{} {} {} {} {}.{}", program.string(), facts.st_dev, facts.st_ino,
                       facts.st_size, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
}

}    // namespace

WorkerKey key_of(const LaunchRequest& request) {
    WorkerKey key{{file_identity(request.process.program), fmt::to_string(request.project_number),
                   fmt::to_string(request.memory_bytes), fmt::to_string(request.cpu_seconds)}};
    const auto add = [&key](const char* kind, const std::vector<fs::path>& paths) {
        for (const fs::path& path : paths)
            key.parts.push_back(fmt::format("{} {}", kind, path.string()));
    };
    const auto& own = request.stay->own;
    std::vector<fs::path> common;
    std::ranges::copy_if(request.writable, std::back_inserter(common), [&](const fs::path& path) {
        return std::ranges::find(own, path) == own.end();
    });
    key.parts.push_back(fmt::to_string(own.size()));
    add("read", request.readable);
    add("own", request.owned);
    add("share", request.shared);
    add("write", common);
    return key;
}

Worker::Worker(WorkerKey key, fs::path folder, const StayRequest& first,
               std::unique_ptr<LaunchedProcess> process, Sockets sockets)
    : key_(std::move(key)),
      folder_(std::move(folder)),
      process_(std::move(process)),
      sockets_(std::move(sockets)),
      events_(make_epoll({sockets_.ours.get(), process_->end_fd()})) {
    for (const fs::path& path : first.own)
        lent_.push_back({path, folder_id(path), path == first.run_folder});
}

void Worker::begin(const StayRequest& run, int lock_fd) {
    send_with_descriptor(sockets_.ours.get(), to_message(WorkerOrder{run.run_folder.string()}),
                         lock_fd);
}

void Worker::give(const StayRequest& run, int lock_fd) {
    take_folders_back();
    for (const fs::path& target : run.own)
        lend(run, target);
    begin(run, lock_fd);
}

void Worker::lend(const StayRequest& run, const fs::path& target) {
    const fs::path ours = folder_ / fmt::to_string(lent_.size());
    const FolderId id = folder_id(ours);
    const bool alone = move_folder(ours, target);
    if (!alone) exchange_folders(ours, target);
    lent_.push_back({target, id, target == run.run_folder, alone});
}

void Worker::take_folders_back() {
    while (!lent_.empty()) {
        take_back(lent_.back(), folder_ / fmt::to_string(lent_.size() - 1));
        lent_.pop_back();
    }
}

void Worker::take_back(const LentFolder& lent, const fs::path& place) const {
    if (lent.stands_alone) {
        if (move_empty_folder(lent.path, place, lent.id)) return;
        make_like(place, lent.path);
    }
    const std::span<const KeptFile> kept(kept_files);
    exchange_folders(place, lent.path, lent.id, lent.is_run_folder ? kept : kept.first(0));
}

bool Worker::has_lent(const fs::path& path) const {
    return std::ranges::any_of(lent_, [&](const LentFolder& folder) {
        return std::ranges::mismatch(folder.path, path).in1 == folder.path.end();
    });
}

std::optional<WorkerAnswer> Worker::take_answer() {
    std::array<char, worker_message_bytes_max> text{};
    const ssize_t got = recv(sockets_.ours.get(), text.data(), text.size(), MSG_DONTWAIT);
    if (got <= 0) return std::nullopt;
    return read_worker_answer(std::string_view(text.data(), std::size_t(got)));
}

bool Worker::has_ended() const {
    pollfd ended{process_->end_fd(), POLLIN, 0};
    return poll(&ended, 1, 0) != 0;
}

void Worker::set_idle(bool idle, Tick now) {
    const fs::path mark = folder_ / worker_idle_file;
    const fs::path kept =
        folder_ / "busy";    // renamed, since a file costs more to make than to name
    if (!idle) {
        rename(mark.c_str(), kept.c_str());
        return;
    }
    idle_since_ = now;
    if (rename(kept.c_str(), mark.c_str()) != 0)
        UniqueFd(open(mark.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

}    // namespace slipway
