#include "executor/data/formats/zip_reader.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <cstdint>
#include <utility>

#include "executor/data/formats/archive_library.h"
#include "executor/data/problem.h"
#include "executor/data/utf8.h"

namespace slipway {

namespace {

constexpr std::int64_t inflated_always_allowed = 64 << 20;
constexpr std::int64_t inflated_ratio_max = 100;

}    // namespace

struct ZipReader::State {
    std::string name;
    UniqueFd file;
    std::int64_t file_bytes = 0;
    std::int64_t inflated = 0;    // of the member
    std::string member;
    std::unique_ptr<archive, FreeArchive> handle;    // last: it reads from what is above

    [[noreturn]] void refuse(const std::string& message) const {
        throw DataError({.file = name, .field = member, .message = message});
    }

    [[noreturn]] void damaged() const {
        const char* reason = archive_library().error_string(handle.get());
        std::string words = reason != nullptr ? reason : "unreadable";
        while (words.ends_with('\n'))
            words.pop_back();
        refuse(fmt::format("the file is damaged or is not a zip file: {}", words));
    }
};

ZipReader::ZipReader(UniqueFd file, std::string name) : state_(std::make_unique<State>()) {
    State& state = *state_;
    state.name = std::move(name);
    state.file = std::move(file);
    struct stat facts {};
    fstat(state.file.get(), &facts);
    state.file_bytes = facts.st_size;
    if (facts.st_size == 0) state.refuse("the file is empty");
    state.handle.reset(archive_library().read_new());
    archive_library().read_support_format_zip_seekable(state.handle.get());
    if (archive_library().read_open_fd(state.handle.get(), state.file.get(), 1 << 16) != ARCHIVE_OK)
        state.damaged();
}

ZipReader::~ZipReader() = default;
ZipReader::ZipReader(ZipReader&&) noexcept = default;
ZipReader& ZipReader::operator=(ZipReader&&) noexcept = default;

bool ZipReader::next(std::string& member) {
    State& state = *state_;
    state.member.clear();
    state.inflated = 0;
    archive_entry* entry = nullptr;
    do {
        const int status = archive_library().read_next_header(state.handle.get(), &entry);
        if (status == ARCHIVE_EOF) return false;
        // A warning is about a name outside of the locale's characters: UTF-8 is all we want.
        if (status != ARCHIVE_OK && status != ARCHIVE_WARN) state.damaged();
    } while (archive_library().entry_filetype(entry) == AE_IFDIR);
    const char* name = archive_library().entry_pathname_utf8(entry);
    if (name == nullptr) name = archive_library().entry_pathname(entry);
    if (name == nullptr || !is_utf8(name)) state.refuse("the name of a member is not in UTF-8");
    member = state.member = name;
    if (archive_library().entry_filetype(entry) != AE_IFREG)
        state.refuse("it is not a regular file");
    if (archive_library().entry_is_encrypted(entry) != 0)
        state.refuse("it is encrypted; store it without a password");
    return true;
}

std::size_t ZipReader::read(std::span<std::byte> buffer) {
    State& state = *state_;
    std::size_t filled = 0;
    while (filled < buffer.size()) {
        const la_ssize_t count = archive_library().read_data(
            state.handle.get(), buffer.data() + filled, buffer.size() - filled);
        if (count < 0) state.damaged();
        if (count == 0) break;
        filled += std::size_t(count);
    }
    state.inflated += std::int64_t(filled);
    if (state.inflated > inflated_always_allowed &&
        state.inflated / inflated_ratio_max > state.file_bytes) {
        state.refuse(
            fmt::format("it inflates to more than {} times the size of the file; store it "
                        "without compression",
                        inflated_ratio_max));
    }
    return filled;
}

const std::string& ZipReader::file() const {
    return state_->name;
}

}    // namespace slipway
