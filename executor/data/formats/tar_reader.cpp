#include "executor/data/formats/tar_reader.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "executor/data/formats/archive_library.h"
#include "executor/data/problem.h"
#include "executor/data/utf8.h"

namespace slipway {

namespace {

bool begins_as_gzip(int file) {
    std::array<unsigned char, 2> begin{};
    return pread(file, begin.data(), begin.size(), 0) == 2 && begin[0] == 0x1F && begin[1] == 0x8B;
}

}    // namespace

struct TarReader::State {
    std::string name;
    UniqueFd file;                       // plain: libarchive passes over data without reading it
    std::int64_t file_bytes = 0;         // of the plain file
    std::optional<ByteStream> stream;    // gzipped: zlib checks the sum, libarchive does not
    std::vector<std::byte> buffer;
    std::optional<DataProblem> stream_problem;    // carried past libarchive, which is C
    TarReader::Member member;
    std::unique_ptr<archive, FreeArchive> handle;    // last: it reads from what is above

    [[noreturn]] void refuse(const std::string& member_name, const std::string& message) const {
        if (stream_problem) throw DataError(*stream_problem);
        throw DataError({.file = name, .field = member_name, .message = message});
    }

    [[noreturn]] void damaged() const {
        const char* reason = archive_library().error_string(handle.get());
        refuse({}, fmt::format("the file is damaged or is not a tar file, at byte {}: {}",
                               archive_library().filter_bytes(handle.get(), 0),
                               reason != nullptr ? reason : "unreadable"));
    }

    void open() {
        handle.reset(archive_library().read_new());
        archive_library().read_support_format_tar(handle.get());
        const int status =
            stream ? archive_library().read_open(handle.get(), this, nullptr, read_more, nullptr)
                   : archive_library().read_open_fd(handle.get(), file.get(), 1 << 16);
        if (status != ARCHIVE_OK) damaged();
    }

    static la_ssize_t read_more(archive*, void* self, const void** bytes) {
        auto& state = *static_cast<State*>(self);
        *bytes = state.buffer.data();
        try {
            return la_ssize_t(state.stream->read(state.buffer));
        } catch (const DataError& error) {    // must not pass through C; next() throws it
            state.stream_problem = error.problem();
            return ARCHIVE_FATAL;
        }
    }

    /// The rest of a gzipped file, whose end has the checksum of all of it.
    void drain() {
        while (stream && stream->read(buffer) > 0) {
        }
    }

    void check_kind(archive_entry* entry) const {
        if (archive_library().entry_hardlink(entry) != nullptr ||
            archive_library().entry_symlink(entry) != nullptr) {
            refuse(member.name, "it is a link; links are not read");
        }
        if (archive_library().entry_filetype(entry) != AE_IFREG) {
            refuse(member.name, "it is not a regular file");
        }
        if (archive_library().entry_sparse_count(entry) > 0) {
            refuse(member.name, "it is stored as a sparse file; write it as a plain one");
        }
    }
};

TarReader::TarReader(UniqueFd file, std::string name) : state_(std::make_unique<State>()) {
    State& state = *state_;
    state.name = std::move(name);
    struct stat facts {};
    fstat(file.get(), &facts);
    state.file_bytes = facts.st_size;
    if (facts.st_size == 0) state.refuse({}, "the file is empty");
    if (begins_as_gzip(file.get())) {
        state.stream.emplace(std::move(file), state.name);
        state.buffer.resize(1 << 16);
    } else {
        state.file = std::move(file);
    }
    state.open();
}

TarReader::~TarReader() = default;
TarReader::TarReader(TarReader&&) noexcept = default;
TarReader& TarReader::operator=(TarReader&&) noexcept = default;

bool TarReader::next(Member& member) {
    State& state = *state_;
    archive_entry* entry = nullptr;
    do {
        const int status = archive_library().read_next_header(state.handle.get(), &entry);
        if (status == ARCHIVE_EOF) {
            state.drain();
            return false;
        }
        // A warning is about a name outside of the locale's characters: UTF-8 is all we want.
        if (status != ARCHIVE_OK && status != ARCHIVE_WARN) state.damaged();
        const char* name = archive_library().entry_pathname_utf8(entry);
        if (name == nullptr) name = archive_library().entry_pathname(entry);
        if (name == nullptr || !is_utf8(name)) {
            state.refuse({}, fmt::format("the name of the member at byte {} is not text in UTF-8",
                                         archive_library().filter_bytes(state.handle.get(), 0)));
        }
        state.member.name = name;
    } while (archive_library().entry_filetype(entry) == AE_IFDIR);
    state.check_kind(entry);
    state.member.begin = archive_library().filter_bytes(state.handle.get(), 0);
    state.member.bytes = archive_library().entry_size(entry);
    // libarchive seeks past the end without an error. Members are filled up to whole blocks.
    const std::int64_t rest = state.file_bytes - state.member.begin;
    if (!state.stream && (rest < 0 || state.member.bytes > rest / 512 * 512)) {
        state.refuse(state.member.name,
                     fmt::format("the file is truncated: of {} bytes at byte {} there are {}",
                                 state.member.bytes, state.member.begin, rest));
    }
    member = state.member;
    return true;
}

std::vector<std::byte> TarReader::read() {
    State& state = *state_;
    constexpr std::int64_t piece = 1 << 20;    // the file decides how much memory is taken
    std::vector<std::byte> bytes;
    while (std::int64_t(bytes.size()) < state.member.bytes) {
        const std::size_t before = bytes.size();
        bytes.resize(before +
                     std::size_t(std::min(piece, state.member.bytes - std::int64_t(before))));
        const la_ssize_t count =
            archive_library().read_data(state.handle.get(), &bytes[before], bytes.size() - before);
        if (count < 0) state.damaged();
        bytes.resize(before + std::size_t(count));
        if (count == 0) break;
    }
    if (std::int64_t(bytes.size()) != state.member.bytes) {
        state.refuse(state.member.name,
                     fmt::format("the file is truncated: of {} bytes there are {}",
                                 state.member.bytes, bytes.size()));
    }
    return bytes;
}

const std::string& TarReader::file() const {
    return state_->name;
}

bool TarReader::gzipped() const {
    return state_->stream.has_value();
}

}    // namespace slipway
