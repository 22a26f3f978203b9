#include "executor/main/frames/frame_listener.h"

#include <sys/stat.h>

#include <cstdlib>

#include "api/base/descriptors.h"
#include "api/base/executor_socket.h"

namespace slipway {

namespace {

/// What was made for this process, once.
UniqueFd take_inherited() {
    UniqueFd socket(inherited_descriptor(executor_socket_variable));
    unsetenv(executor_socket_variable);
    if (socket) close_on_exec(socket.get());
    return socket;
}

}    // namespace

int FrameListener::listen_in(const std::filesystem::path& run_folder) {
    if (!socket_ || entry_in(run_folder) != entry_) {
        UniqueFd inherited = take_inherited();
        socket_ = inherited ? std::move(inherited) : listen_unix(run_folder, executor_socket_name);
        entry_ = entry_in(run_folder);
    }
    return socket_.get();
}

FrameListener::Entry FrameListener::entry_in(const std::filesystem::path& run_folder) {
    struct stat facts {};
    if (stat((run_folder / executor_socket_name).c_str(), &facts) != 0) return {};
    return {facts.st_dev, facts.st_ino};
}

}    // namespace slipway
