#include "executor/data/packed/packed_images.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <utility>

#include "api/base/check.h"
#include "api/base/sha256.h"
#include "executor/data/augment/steps.h"
#include "executor/data/packed/pack.h"

// A pack is found by a hash of all that its pixels depend on: files with sizes and times, options,
// the steps before the first one that is drawn, and the version of the decoder. A sample's checksum
// is compared when it is first read; a pack with a wrong one is removed, its samples are decoded
// again, and the next job makes it anew. A job needs no pack: whatever goes wrong here is a
// warning.
namespace slipway {

namespace fs = std::filesystem;

namespace {

/// What the pixels depend on.
std::string key_of(const Dataset& images, const PackOptions& options) {
    // Raised whenever decoding or a step changes a bit, or samples come in another order.
    constexpr int pixels_version = 2;
    Sha256 sum;
    sum.update(fmt::format("{} {} {}\n", pixels_version, options.side_hint,
                           to_string(options.truncated_images)));
    for (const AugmentSpec& step : options.steps) {
        sum.update(to_string(step.name));
        for (const std::int64_t side : step.size)
            sum.update(fmt::format(" {}", side));
        sum.update("\n");
    }
    for (const std::int64_t dim : images.index().feature_dims)
        sum.update(fmt::format("{} ", dim));
    const bool single = fs::is_regular_file(options.data_path);
    const fs::path folder = single ? options.data_path.parent_path() : options.data_path;
    for (const std::string& name : images.files()) {
        struct stat facts {};
        if (stat((folder / name).c_str(), &facts) != 0) {
            throw Error{ErrorCode::unavailable,
                        fmt::format("{} cannot be looked at", (folder / name).string())};
        }
        sum.update(fmt::format("{}\n{} {} {}.{:09}\n", (folder / name).string(), facts.st_size,
                               facts.st_ino, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec));
    }
    return sum.finish();
}

Image prepared(const Dataset& images, const PackOptions& options, std::int64_t sample) {
    return unaugmented(images.image(sample, options.side_hint), options.steps);
}

PackedImage packed_image(const Dataset& images, const PackOptions& options, std::int64_t sample) {
    PackedImage made;
    try {
        if (options.truncated_images == TruncatedImages::accept)
            made.problem = images.damage(sample);
        made.image = prepared(images, options, sample);
    } catch (const DataError& error) {    // said when a job reads it, as without a pack
        made.problem = error.problem();
    }
    return made;
}

/// Packs must not be what fills the disk.
std::int64_t room_for_packs(const PackOptions& options) {
    std::error_code error;
    fs::create_directories(options.folder, error);
    const fs::space_info space = fs::space(options.folder, error);
    return error ? options.bytes_max
                 : std::min(options.bytes_max, std::int64_t(space.available / 2));
}

class PackedDataset final : public Dataset {
public:
    PackedDataset(const Dataset& images, PackOptions options, fs::path path, Pack pack)
        : images_(images),
          options_(std::move(options)),
          path_(std::move(path)),
          pack_(std::move(pack)),
          damages_(std::size_t(images.size())),
          seen_(std::make_unique<std::atomic<std::uint8_t>[]>(std::size_t(images.size()))) {
        index_ = images.index();
        for (const auto& [sample, problem] : pack_.problems()) {
            if (sample < 0 || sample >= size()) continue;
            if (pack_.entry(sample).state == PackedState::damaged)
                damages_[std::size_t(sample)] = problem;
            else
                accepted_.push_back(problem);
        }
    }

    void read(std::int64_t sample, std::span<float> features) const override {
        const Dims& dims = index_.feature_dims;
        check(options_.steps.empty(), "features are read where no step comes between");
        if (!is_good(sample)) return images_.read(sample, features);
        const PackedEntry& entry = pack_.entry(sample);
        const std::array sides{entry.channels, entry.height, entry.width};
        const bool fits = std::equal(sides.begin(), sides.end(), dims.begin(), dims.end(),
                                     [](auto a, auto b) { return std::int64_t(a) == b; });
        if (!fits) return images_.read(sample, features);    // it says what is wrong
        to_planes(pack_.pixels(sample), std::size_t(entry.channels), features);
    }

    Image image(std::int64_t sample, std::int64_t) const override {
        if (!is_good(sample)) return prepared(images_, options_, sample);
        const PackedEntry& entry = pack_.entry(sample);
        const auto pixels = pack_.pixels(sample);
        return {std::int64_t(entry.channels),
                std::int64_t(entry.height),
                std::int64_t(entry.width),
                {pixels.begin(), pixels.end()}};
    }

    bool decodes_images() const override { return true; }
    std::int64_t decoded_count() const override { return images_.decoded_count(); }
    std::optional<DataProblem> damage(std::int64_t sample) const override {
        return damages_[std::size_t(sample)];
    }
    std::vector<DataProblem> take_accepted() const override {
        const std::lock_guard lock(mutex_);
        return std::exchange(accepted_, {});
    }
    DataProblem place(std::int64_t sample) const override { return images_.place(sample); }
    std::vector<std::string> files() const override { return images_.files(); }

    std::int64_t refused_count() const { return refused_; }

private:
    enum Seen : std::uint8_t { not_yet, good, bad };

    /// Looks at the pixels when they are first wanted.
    bool is_good(std::int64_t sample) const {
        if (const auto& damage = damages_[std::size_t(sample)]) throw DataError(*damage);
        std::atomic<std::uint8_t>& seen = seen_[std::size_t(sample)];
        if (seen.load(std::memory_order_relaxed) == not_yet) {
            const std::uint8_t found = pack_.is_whole(sample) ? good : bad;
            if (seen.exchange(found, std::memory_order_relaxed) == not_yet && found == bad)
                refuse_pack();
        }
        return seen.load(std::memory_order_relaxed) == good;
    }

    /// The next job makes it anew.
    void refuse_pack() const {
        if (refused_++ > 0) return;
        std::error_code gone;
        fs::remove(path_, gone);
    }

    // constant after construction
    const Dataset& images_;
    const PackOptions options_;
    const fs::path path_;
    const Pack pack_;
    std::vector<std::optional<DataProblem>> damages_;    // by sample

    const std::unique_ptr<std::atomic<std::uint8_t>[]> seen_;
    mutable std::atomic<std::int64_t> refused_ = 0;
    mutable std::mutex mutex_;
    mutable std::vector<DataProblem> accepted_;    // not yet taken; guarded by mutex_
};

PackedImages use(const Dataset& images, const PackOptions& options, const fs::path& path, Pack pack,
                 bool made) {
    PackedImages result{.made = made};
    for (std::int64_t sample = 0; sample < images.size(); ++sample)
        result.bytes += std::int64_t(pack.entry(sample).bytes());
    auto dataset = std::make_unique<PackedDataset>(images, options, path, std::move(pack));
    result.refused_count = [packed = dataset.get()] { return packed->refused_count(); };
    result.dataset = std::move(dataset);
    return result;
}

/// errors  throws as write_pack, Pack::open
PackedImages make_and_use(const Dataset& images, const PackOptions& options, const fs::path& path) {
    const std::int64_t room = room_for_packs(options);
    const PackOutcome packing =
        write_pack(path, images.size(), room, options.threads,
                   [&](std::int64_t sample) { return packed_image(images, options, sample); });
    images.take_accepted();    // the pack remembers them
    if (packing == PackOutcome::made_elsewhere)
        return {.why_not = "another job is making the pack of this dataset now"};
    if (packing == PackOutcome::too_large) {
        return {.why_not =
                    fmt::format("the pack would be larger than {} bytes, the most that packs "
                                "may have or half of what is free on the disk",
                                room)};
    }
    remove_old_packs(options.folder, path, options.bytes_max);
    std::optional<Pack> pack = Pack::open(path, images.size()).value();
    if (!pack) return {.why_not = "the pack was removed again at once"};
    return use(images, options, path, std::move(*pack), true);
}

}    // namespace

PackedImages pack_images(const Dataset& images, const PackOptions& options) {
    try {
        const fs::path path = options.folder / (key_of(images, options) + ".pack");
        Result<std::optional<Pack>> found = Pack::open(path, images.size());
        if (!found && found.error().code() == ErrorCode::data_loss) {
            std::error_code gone;
            fs::remove(path, gone);
            return {.why_not = fmt::format("{}; it was removed and will be created again",
                                           found.error().what())};
        }
        std::optional<Pack> pack = std::move(found).value();
        if (pack) return use(images, options, path, std::move(*pack), false);
        return make_and_use(images, options, path);
    } catch (const DataError&) {
        throw;
    } catch (const Error& error) {    // a job needs no pack: why_not is its caller's warning
        return {.why_not = error.what()};
    }
}

}    // namespace slipway
