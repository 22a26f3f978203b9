#include "executor/main/frames/frame_listener.h"

#include <sys/stat.h>

namespace slipway {

namespace {

constexpr const char* socket_name = "executor.sock";

}    // namespace

int FrameListener::listen_in(const std::filesystem::path& run_folder) {
    if (!socket_ || entry_in(run_folder) != entry_) {
        socket_ = listen_unix(run_folder, socket_name);
        entry_ = entry_in(run_folder);
    }
    return socket_.get();
}

FrameListener::Entry FrameListener::entry_in(const std::filesystem::path& run_folder) {
    struct stat facts {};
    if (stat((run_folder / socket_name).c_str(), &facts) != 0) return {};
    return {facts.st_dev, facts.st_ino};
}

}    // namespace slipway
