#include "executor/data/shared/use_copy.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <optional>
#include <system_error>

#include "api/base/clock.h"
#include "api/base/sha256.h"
#include "executor/data/shared/copy_file.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr const char* copy_ending = ".copy";

/// What came of a look at a copy.
enum class Look { used, absent, damaged };

Look read_copy(const fs::path& path, int threads, const Copied& copied, SharingOutcome& outcome) {
    Result<std::optional<MappedCopy>> found = find_copy(path, threads);
    if (!found && found.error().code() != ErrorCode::data_loss) throw Error(found.error());
    if (!found) return Look::damaged;
    if (!*found) return Look::absent;
    CopyReader reader((*found)->keeper, (*found)->content);
    try {
        copied.read(reader);
    } catch (const Error& error) {    // sums that fit say only that it is what was written
        if (error.code() != ErrorCode::data_loss) throw;
        return Look::damaged;
    }
    outcome.bytes = std::int64_t((*found)->content.size());
    return Look::used;
}

/// Copies must not be what fills the disk.
std::int64_t room_for_copy(const SharingOptions& options) {
    std::error_code error;
    const fs::space_info space = fs::space(options.folder, error);
    return error ? options.bytes_max
                 : std::min(options.bytes_max, std::int64_t(space.available / 2));
}

class CopyUser {
public:
    CopyUser(const SharingOptions& options, const std::function<CopyFacts()>& facts,
             const Copied& copied)
        : options_(options), facts_(facts), copied_(copied) {}

    SharingOutcome run() {
        try {
            share();
        } catch (const NotShared& reason) {
            outcome_.sharing = Sharing::none;
            outcome_.why_not = reason.why;
        }
        if (!opened_ && outcome_.sharing == Sharing::none) copied_.open();
        return outcome_;
    }

private:
    struct NotShared {
        std::string why;
    };

    /// What goes wrong with a copy is no error of the run.
    template <class Work>
    auto try_to(const Work& work) -> decltype(work()) {
        try {
            return work();
        } catch (const Error& error) {
            throw NotShared{error.what()};
        } catch (const fs::filesystem_error& error) {
            throw NotShared{error.what()};
        }
    }

    void share() {
        const CopyFacts facts = try_to(facts_);
        if (!facts.why_not.empty()) throw NotShared{facts.why_not};
        const fs::path path =
            options_.folder / (sha256_hex(options_.reader + "\n" + facts.text) + copy_ending);
        const auto look = [&] {
            return try_to([&] { return read_copy(path, options_.threads, copied_, outcome_); });
        };
        Look found = look();
        if (found != Look::used) {
            const Tick began = system_clock().tick();
            std::optional<CopyDraft> draft = try_to([&] {
                fs::create_directories(options_.folder);
                return begin_copy(path, room_for_copy(options_), options_.wait_max,
                                  found == Look::damaged);
            });
            outcome_.waited_s =
                std::chrono::duration<double>(system_clock().tick() - began).count();
            found = look();    // another process may have made it meanwhile
            if (found != Look::used) return make(path, found, facts, std::move(draft), look);
        }
        outcome_.sharing = Sharing::found;
    }

    void make(const fs::path& path, Look found, const CopyFacts& facts,
              std::optional<CopyDraft> draft, const std::function<Look()>& look) {
        if (!draft) {
            throw NotShared{
                fmt::format("another process has been making it for {:.0f} s", outcome_.waited_s)};
        }
        std::error_code gone;
        if (found == Look::damaged) outcome_.replaced = fs::remove(path, gone);
        copied_.open();
        opened_ = true;
        try_to([&] {
            CopyWriter writer([&](std::span<const std::byte> bytes) { draft->write(bytes); });
            copied_.write(writer);
            if (facts_().text != facts.text)
                throw NotShared{"its files were changed while they were read"};
            draft->publish();
        });
        if (look() != Look::used) throw NotShared{"the copy was removed or changed at once"};
        malloc_trim(0);    // what was opened is no longer needed
        outcome_.sharing = Sharing::made;
    }

    const SharingOptions& options_;
    const std::function<CopyFacts()>& facts_;
    const Copied& copied_;
    SharingOutcome outcome_;
    bool opened_ = false;
};

}    // namespace

SharingOutcome use_copy(const SharingOptions& options, const std::function<CopyFacts()>& facts,
                        const Copied& copied) {
    if (options.folder.empty()) {
        copied.open();
        return {};
    }
    return CopyUser(options, facts, copied).run();
}

}    // namespace slipway
