#include "executor/main/event_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "api/base/error.h"
#include "executor/data/formats/tfrecord_reader.h"
#include "executor/data/formats/tfrecord_writer.h"
#include "executor/data/problem.h"
#include "executor/main/event_message.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr int names_max = 1000;

[[noreturn]] void refuse_event_file(const fs::path& path, int number) {
    throw Error{
        number == ENOSPC || number == EDQUOT ? ErrorCode::exhausted : ErrorCode::unavailable,
        fmt::format("cannot write {}: {}", path.string(), std::strerror(number))};
}

std::string host_name() {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
    return name.data();
}

/// How much of a file is of steps up to `done` and whole.
std::int64_t kept_bytes(const fs::path& path, std::int64_t done) {
    UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) refuse_event_file(path, errno);
    TfrecordReader reader(std::move(file), path.filename().string());
    try {
        while (const auto record = reader.next()) {
            const auto step = step_of_event(*record);
            if (!step || *step > done) return reader.begin();
        }
    } catch (const DataError&) {    // a torn end: whole records before it stay
    }
    return reader.begin();
}

}    // namespace

EventFile::EventFile(const fs::path& folder, std::int64_t done, const Clock& clock)
    : clock_(clock) {
    std::error_code problem;
    fs::create_directories(folder, problem);
    const auto started = std::int64_t(now());
    for (int number = 0; !file_ && number < names_max; ++number) {
        path_ = folder / fmt::format("events.out.tfevents.{:010}.{}.{}.{}", started, host_name(),
                                     getpid(), number);
        file_ =
            UniqueFd(open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644));
        if (!file_ && errno != EEXIST) break;
    }
    if (!file_) refuse_event_file(path_, errno);
    write(version_event(now()));
    write(restart_event(now(), done + 1));
}

void EventFile::add(const MetricPoint& point) {
    write(scalars_event(now(), point));
}

double EventFile::now() const {
    return std::chrono::duration<double>(clock_.now().time_since_epoch()).count();
}

void EventFile::write(const std::string& event) {
    const std::string record = tfrecord_of(event);
    ssize_t written = 0;
    do {
        written = ::write(file_.get(), record.data(), record.size());
    } while (written < 0 && errno == EINTR);
    if (written == ssize_t(record.size())) return;
    refuse_event_file(path_, written < 0 ? errno : ENOSPC);
}

namespace {

/// 0, or the system's reason. By a descriptor: a confined executor may cut no file by its path.
int cut(const fs::path& path, std::int64_t bytes) {
    const UniqueFd file(open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
    return file && ftruncate(file.get(), bytes) == 0 ? 0 : errno;
}

}    // namespace

void cut_event_files(const fs::path& folder, std::int64_t done) {
    std::error_code absent;
    for (const auto& entry : fs::directory_iterator(folder, absent)) {
        const fs::path& path = entry.path();
        if (!path.filename().string().starts_with("events.out.tfevents.")) continue;
        std::error_code problem;
        const auto size = std::int64_t(fs::file_size(path, problem));
        const std::int64_t kept = kept_bytes(path, done);
        if (!problem && kept < size) problem.assign(cut(path, kept), std::generic_category());
        if (problem) refuse_event_file(path, problem.value());
    }
}

}    // namespace slipway
