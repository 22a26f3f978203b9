#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/spec/event.h"

namespace slipway {

/// A set of ProjectEventType, a bit for each.
using ProjectEventTypes = std::uint32_t;

constexpr ProjectEventTypes bit_of(ProjectEventType type) noexcept {
    return ProjectEventTypes{1} << static_cast<unsigned>(type);
}

/// What one reader of the ring gets.
struct RingFilter {
    std::vector<std::string> projects{};    ///< empty: all
    ProjectEventTypes types = 0;
};

/// The newest events of all projects as text of a stream, numbered 1, 2, 3 …: one copy for all
/// streams, of which each is a number. What falls out at the old end is remembered by project, so
/// that a reader who comes late learns whether anything for it is gone.
class EventRing {
public:
    struct Limits {
        std::size_t events = 8192;
        std::size_t bytes = std::size_t{8} << 20;
    };

    /// `name` begins the id of each event, so that those of another process are told apart.
    EventRing(std::string name, Limits limits) : name_(std::move(name)), limits_(limits) {}

    void append(const std::string& project, ProjectEventType type, std::string_view data);
    /// What comes next does not follow on what was there: every reader has lost something.
    void break_off();

    std::int64_t last() const { return last_; }
    /// "NAME-42": the id that an event of this number has.
    std::string id_of(std::int64_t number) const;
    /// The number of an id of this ring; -1 for one of another ring.
    /// errors  throws ProblemError 400 `bad_event_id` for what is no id of an event
    std::int64_t number_of(std::string_view id) const;

    struct Read {
        std::int64_t read_to = 0;    ///< go on from here
        bool lost = false;           ///< something for this reader is gone; nothing was read
    };
    /// Appends the events behind `after` for this reader to `out`, until it has `bytes_max`.
    Read read(std::int64_t after, const RingFilter& filter, std::size_t bytes_max,
              std::string& out) const;

private:
    struct Entry {
        std::string project;
        ProjectEventType type;
        std::string frame;
    };
    using ByType = std::array<std::int64_t, Spelling<ProjectEventType>::words.size()>;
    void forget_oldest();
    bool has_lost(std::int64_t after, const RingFilter& filter) const;

    const std::string name_;
    const Limits limits_;
    std::deque<Entry> entries_;    // the last of them has the number last_
    std::size_t bytes_ = 0;
    std::int64_t last_ = 0;
    std::int64_t broken_at_ = 0;    // readers below have lost something
    // The newest one that is gone, of all projects and of each.
    ByType gone_{};
    std::map<std::string, ByType> gone_of_;
};

/// Whether a reader's projects (empty: all) include one.
bool is_of(const std::vector<std::string>& projects, std::string_view project);

}    // namespace slipway
