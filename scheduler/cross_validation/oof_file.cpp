// A merge of sorted files: each part is ascending by sample, so the smallest of the parts' next
// rows is the next row of the result. Up to `parts_at_once` files are open at a time; more are
// merged in groups into files between, which have fold and repeat in their rows already. A row may
// hold line breaks inside quotes (RFC 4180), so rows end where quotes are balanced.
//
// Parts are written by executors, which the service does not trust: they are opened without
// following links, and only the first columns of a row are read.
#include "scheduler/cross_validation/oof_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <queue>

#include "api/base/check.h"
#include "api/base/id.h"
#include "api/base/posix.h"
#include "api/base/sha256.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t parts_at_once = 200;
constexpr std::size_t row_bytes_max = 16 << 20;

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// A part, or a file between.
struct MergeInput {
    fs::path file;
    std::optional<OofPart> part;    // none: its rows say fold and repeat
};

struct OofRow {
    std::int64_t sample = 0;
    std::int64_t repeat = 0;
    std::int64_t fold = 0;
    std::string rest;    // ",…" of the other columns
};

[[noreturn]] void refuse_part(const fs::path& file, const std::string& why) {
    throw Error{ErrorCode::conflict,
                fmt::format("the predictions {}/{} {}", file.parent_path().filename().string(),
                            file.filename().string(), why)};
}

File open_part(const fs::path& path) {
    UniqueFd folder(
        open(path.parent_path().c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    UniqueFd file;
    if (folder) {
        file = UniqueFd(openat(folder.get(), path.filename().c_str(),
                               O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    }
    struct stat found {};
    if (!file || fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) {
        throw Error{ErrorCode::not_found,
                    fmt::format("the predictions {}/{} are not on this host's disk",
                                path.parent_path().filename().string(), path.filename().string())};
    }
    File opened(fdopen(dup(file.get()), "rb"));
    if (!opened) throw Error{ErrorCode::unavailable, "no file descriptor is left"};
    return opened;
}

class MergeReader {
public:
    explicit MergeReader(MergeInput input)
        : input_(std::move(input)), file_(open_part(input_.file)) {
        std::string header;
        if (!read_line(header)) refuse_part(input_.file, "are empty");
        constexpr std::string_view own = "sample";
        constexpr std::string_view between = "sample,fold,repeat";
        const std::string_view begin = input_.part ? own : between;
        if (!header.starts_with(begin)) refuse_part(input_.file, "do not begin with sample");
        columns_ = header.substr(begin.size());
    }

    const std::string& columns() const { return columns_; }
    const OofRow& row() const { return row_; }
    const fs::path& file() const { return input_.file; }

    /// False at the end.
    bool next() {
        std::string line;
        if (!read_line(line)) return false;
        std::string_view left = line;
        row_.sample = take_number(left);
        row_.fold = input_.part ? input_.part->fold : take_number(left);
        row_.repeat = input_.part ? input_.part->repeat : take_number(left);
        row_.rest.assign(left);
        return true;
    }

private:
    /// Up to the line break that is outside of quotes, without it.
    bool read_line(std::string& line) {
        line.clear();
        bool quoted = false;
        int byte = 0;
        while ((byte = getc_unlocked(file_.get())) != EOF) {
            if (byte == '\n' && !quoted) return true;
            if (byte == '"') quoted = !quoted;
            line += char(byte);
            if (line.size() > row_bytes_max) refuse_part(input_.file, "have a row without an end");
        }
        if (!line.empty()) refuse_part(input_.file, "end within a row");
        return false;
    }

    std::int64_t take_number(std::string_view& left) const {
        if (left.starts_with(',')) left.remove_prefix(1);
        std::int64_t number = 0;
        const auto [end, problem] = std::from_chars(left.data(), left.data() + left.size(), number);
        if (problem != std::errc{} || number < 0)
            refuse_part(input_.file, "have a row of no sample");
        left.remove_prefix(std::size_t(end - left.data()));
        return number;
    }

    MergeInput input_;
    File file_;
    std::string columns_;
    OofRow row_;
};

class MergeWriter {
public:
    explicit MergeWriter(const fs::path& path)
        : path_(path), file_(std::fopen(path.c_str(), "wbe")) {
        if (!file_) fail();
    }

    void write(const std::string& text) {
        if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) fail();
        hash_.update(text);
        bytes_ += std::int64_t(text.size());
    }

    /// On the disk.
    store::OofFile finish(std::int64_t rows) {
        if (std::fflush(file_.get()) != 0 || fsync(fileno(file_.get())) != 0) fail();
        file_.reset();
        return {.rows = rows, .bytes = bytes_, .sha256 = hash_.finish()};
    }

private:
    [[noreturn]] void fail() const {
        const int reason = errno;
        throw Error{reason == ENOSPC ? ErrorCode::exhausted : ErrorCode::unavailable,
                    fmt::format("{} cannot be written: {}", path_.string(), strerror(reason))};
    }

    fs::path path_;
    File file_;
    Sha256 hash_;
    std::int64_t bytes_ = 0;
};

/// Merges what is open; `row_text` makes a line of the result.
template <class RowText>
store::OofFile merge(const std::vector<MergeInput>& inputs, const fs::path& out,
                     const std::string& head, const RowText& row_text) {
    std::vector<std::unique_ptr<MergeReader>> readers;
    for (const MergeInput& input : inputs)
        readers.push_back(std::make_unique<MergeReader>(input));
    const auto later = [](const MergeReader* a, const MergeReader* b) {
        return std::pair(a->row().sample, a->row().repeat) >
               std::pair(b->row().sample, b->row().repeat);
    };
    std::priority_queue<MergeReader*, std::vector<MergeReader*>, decltype(later)> next(later);
    for (const auto& reader : readers) {
        if (reader->columns() != readers[0]->columns())
            refuse_part(reader->file(), "have other columns than those of other folds");
        if (reader->next()) next.push(reader.get());
    }
    MergeWriter writer(out);
    writer.write(head + readers[0]->columns() + "\n");
    std::int64_t rows = 0;
    std::pair<std::int64_t, std::int64_t> last{-1, -1};
    while (!next.empty()) {
        MergeReader* const reader = next.top();
        next.pop();
        const std::pair here{reader->row().sample, reader->row().repeat};
        if (here <= last)
            refuse_part(reader->file(), fmt::format("have sample {} a second time", here.first));
        last = here;
        writer.write(row_text(reader->row()));
        ++rows;
        if (reader->next()) next.push(reader);
    }
    return writer.finish(rows);
}

std::string row_between(const OofRow& row) {
    return fmt::format("{},{},{}{}\n", row.sample, row.fold, row.repeat, row.rest);
}

/// At most parts_at_once inputs: groups of them are merged until there are no more.
std::vector<MergeInput> few_inputs(std::vector<MergeInput> inputs, const fs::path& out) {
    while (inputs.size() > parts_at_once) {
        std::vector<MergeInput> merged;
        for (std::size_t begin = 0; begin < inputs.size(); begin += parts_at_once) {
            const std::size_t end = std::min(begin + parts_at_once, inputs.size());
            const fs::path between = fmt::format("{}.{}", out.string(), merged.size());
            merge({inputs.begin() + std::ptrdiff_t(begin), inputs.begin() + std::ptrdiff_t(end)},
                  between, "sample,fold,repeat", row_between);
            merged.push_back({.file = between, .part = std::nullopt});
        }
        inputs = std::move(merged);
    }
    return inputs;
}

}    // namespace

store::OofFile write_oof(const std::vector<OofPart>& parts, const fs::path& out, bool with_repeat) {
    check(!parts.empty(), "there are folds to collect predictions of");
    // A name of its own: a leader that was frozen may wake and write it, too.
    const fs::path aside = fmt::format("{}.{}.part", out.string(), random_hex(8));
    std::vector<MergeInput> inputs;
    for (const OofPart& part : parts)
        inputs.push_back({.file = part.file, .part = part});
    inputs = few_inputs(std::move(inputs), aside);
    const store::OofFile file =
        merge(inputs, aside, with_repeat ? "sample,fold,repeat" : "sample,fold",
              [with_repeat](const OofRow& row) {
                  if (with_repeat) return row_between(row);
                  return fmt::format("{},{}{}\n", row.sample, row.fold, row.rest);
              });
    std::error_code problem;
    for (const MergeInput& input : inputs)
        if (!input.part) fs::remove(input.file, problem);
    fs::rename(aside, out, problem);
    if (problem) {
        throw Error{ErrorCode::unavailable, fmt::format("{} cannot be put in its place: {}",
                                                        out.string(), problem.message())};
    }
    return file;
}

}    // namespace slipway
