#include "api/base/log_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <mutex>
#include <system_error>

#include "api/base/error.h"
#include "api/base/log_sinks.h"
#include "api/base/posix.h"

namespace slipway {

namespace {

// Not spdlog's rotating sink: that one makes files which everybody may read, and cannot be told to
// open its file again.
class LogFile : public spdlog::sinks::base_sink<std::mutex> {
public:
    explicit LogFile(LogFileOptions options) : options_(std::move(options)) {
        if (!open_file())
            throw Error(ErrorCode::unavailable,
                        fmt::format("the log {} cannot be written: {}", options_.path,
                                    std::system_category().message(errno)));
    }

    bool reopen() {
        const std::lock_guard lock(mutex_);
        return open_file();
    }

protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
        spdlog::memory_buf_t line;
        formatter_->format(message, line);
        if (bytes_ > 0 && bytes_ + line.size() > options_.bytes_max) rotate();
        const char* next = line.data();
        std::size_t left = line.size();
        while (left > 0) {
            const ssize_t written = write(file_.get(), next, left);
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) return;    // a full disk: the line is lost
            next += written;
            left -= static_cast<std::size_t>(written);
            bytes_ += static_cast<std::uint64_t>(written);
        }
    }
    void flush_() override {}

private:
    // Guarded by mutex_, which the base class locks around sink_it_.
    bool open_file() {
        UniqueFd file(open(options_.path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640));
        struct stat found {};
        if (!file || fchmod(file.get(), 0640) != 0 || fstat(file.get(), &found) != 0) return false;
        file_ = std::move(file);
        bytes_ = static_cast<std::uint64_t>(found.st_size);
        return true;
    }

    std::string old_name(int number) const { return fmt::format("{}.{}", options_.path, number); }

    void rotate() {
        for (int number = options_.old_files_max; number > 1; --number)
            std::rename(old_name(number - 1).c_str(), old_name(number).c_str());
        if (options_.old_files_max > 0)
            std::rename(options_.path.c_str(), old_name(1).c_str());
        else
            unlink(options_.path.c_str());
        if (!open_file()) bytes_ = 0;    // into the renamed file, until the next turn
    }

    const LogFileOptions options_;
    UniqueFd file_;
    std::uint64_t bytes_ = 0;
};

bool is_file(int descriptor) {
    struct stat found {};
    return fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode);
}

// The one log of the process; shared with its logger.
std::mutex current_mutex;
std::shared_ptr<LogFile> current;    // guarded by current_mutex

}    // namespace

void start_logging(LogLevel least, const LogFileOptions& file) {
    auto made = std::make_shared<LogFile>(file);
    start_logging_into(least, {.file = made, .to_stderr = !is_file(STDERR_FILENO)});
    const std::lock_guard lock(current_mutex);
    current = std::move(made);
}

void reopen_log() {
    std::shared_ptr<LogFile> file;
    {
        const std::lock_guard lock(current_mutex);
        file = current;
    }
    if (!file) return;
    if (file->reopen())
        log_info("the log was opened again");
    else
        log_error("the log could not be opened again",
                  {{"reason", std::system_category().message(errno)}});
}

}    // namespace slipway
