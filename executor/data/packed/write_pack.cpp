#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "executor/data/formats/crc32c.h"
#include "executor/data/packed/pack.h"
#include "executor/data/packed/pack_layout.h"
#include "executor/data/unfinished_file.h"
#include "executor/tensor/parallel.h"

// The file is written under a temporary name with a lock that ends with its process, so two jobs
// never write one, and what a killed one left behind is known by its free lock. It gets its name
// after it is on disk. Threads decode blocks of samples, which are written in the order of samples:
// memory is bounded by a block. Old packs go by the time of their last use.
namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr const char* pack_ending = ".pack";
constexpr const char* unfinished_ending = ".pack.tmp";

class PackWriter {
public:
    PackWriter(const fs::path& path, UniqueFd file, std::int64_t samples)
        : path_(path),
          file_(std::move(file)),
          entries_(std::size_t(samples)),
          at_(pack_pixels_at(std::size_t(samples))) {}
    ~PackWriter() {
        if (!finished_) unlink(path_.c_str());    // still locked: nobody else has begun
    }
    PackWriter(const PackWriter&) = delete;
    PackWriter& operator=(const PackWriter&) = delete;

    void add(std::int64_t sample, const PackedImage& made) {
        PackedEntry& entry = entries_[std::size_t(sample)];
        entry.offset = at_;
        entry.state = PackedState::whole;
        if (made.problem) {
            entry.state = made.image ? PackedState::accepted : PackedState::damaged;
            problems_.push_back({sample, *made.problem});
        }
        if (!made.image) return;
        entry.channels = std::uint64_t(made.image->channels);
        entry.height = std::uint64_t(made.image->height);
        entry.width = std::uint64_t(made.image->width);
        const auto pixels = std::as_bytes(std::span(made.image->pixels));
        entry.sum = crc32c(pixels);
        write(pixels, at_);
        at_ += pixels.size();
    }

    std::int64_t bytes() const { return std::int64_t(at_); }

    void finish(const fs::path& path) {
        const std::string text = to_text(problems_);
        write(std::as_bytes(std::span(text)), at_);
        write(pack_head(entries_, text), 0);
        if (fsync(file_.get()) != 0) fail_writing(path_);
        if (rename(path_.c_str(), path.c_str()) != 0) fail_writing(path);
        finished_ = true;
        const UniqueFd folder(open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (!folder || fsync(folder.get()) != 0) fail_writing(path);
    }

private:
    void write(std::span<const std::byte> bytes, std::uint64_t at) {
        while (!bytes.empty()) {
            const ssize_t count = pwrite(file_.get(), bytes.data(), bytes.size(), off_t(at));
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) fail_writing(path_);
            bytes = bytes.subspan(std::size_t(count));
            at += std::uint64_t(count);
        }
    }

    const fs::path path_;
    const UniqueFd file_;
    std::vector<PackedEntry> entries_;
    std::vector<PackedProblem> problems_;
    std::uint64_t at_;
    bool finished_ = false;
};

}    // namespace

PackOutcome write_pack(const fs::path& path, std::int64_t samples, std::int64_t bytes_max,
                       int threads, const std::function<PackedImage(std::int64_t sample)>& make) {
    constexpr std::int64_t block = 256;    // bounds the memory for pixels that wait to be written
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) {
        errno = error.value();
        fail_writing(path);
    }
    const fs::path unfinished = path.string() + ".tmp";
    std::optional<UniqueFd> file = lock_unfinished(unfinished);
    if (!file) return PackOutcome::made_elsewhere;
    PackWriter writer(unfinished, std::move(*file), samples);
    for (std::int64_t begin = 0; begin < samples; begin += block) {
        std::vector<PackedImage> images(std::size_t(std::min(block, samples - begin)));
        parallel_for(std::int64_t(images.size()), threads,
                     [&](std::int64_t i) { images[std::size_t(i)] = make(begin + i); });
        for (std::size_t i = 0; i < images.size(); ++i)
            writer.add(begin + std::int64_t(i), images[i]);
        if (writer.bytes() > bytes_max) return PackOutcome::too_large;
    }
    writer.finish(path);
    return PackOutcome::made;
}

void remove_old_packs(const fs::path& folder, const fs::path& keep, std::int64_t bytes_max) {
    struct Kept {
        fs::path path;
        std::int64_t bytes;
        fs::file_time_type used;
    };
    std::vector<Kept> packs;
    std::int64_t total = 0;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        const std::string name = entry.path().filename().string();
        if (name.ends_with(unfinished_ending)) remove_abandoned(entry.path());
        if (!name.ends_with(pack_ending)) continue;
        std::error_code gone;    // another job has removed it
        const auto bytes = entry.file_size(gone);
        const auto used = entry.last_write_time(gone);
        if (gone) continue;
        total += std::int64_t(bytes);
        packs.push_back({entry.path(), std::int64_t(bytes), used});
    }
    std::ranges::sort(packs, {}, &Kept::used);
    for (const Kept& pack : packs) {
        if (total <= bytes_max) return;
        if (pack.path == keep) continue;
        std::error_code gone;
        fs::remove(pack.path, gone);
        total -= pack.bytes;
    }
}

}    // namespace slipway
