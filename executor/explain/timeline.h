#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/base/clock.h"

namespace slipway {

/// The rows of a trace.
enum class TrackKind : std::uint8_t { trainer, worker, loader, exchange };
struct Track {
    TrackKind kind = TrackKind::trainer;
    int number = 0;    ///< of the worker, loader or other thread, from 0
};

/// What happened when, for a trace that browsers show. Bounded: the first spans and the newest ones
/// are kept, what lies between is dropped. One thread.
class Timeline {
public:
    /// Times are shown from `zero` on.
    explicit Timeline(Tick zero) : zero_(zero) {}

    /// The number under which spans of this name are added.
    std::uint32_t name(std::string_view text);
    /// `number` (a step, a core) is shown with the span when it is not negative.
    void add(Track track, std::uint32_t name, Tick begin, Tick end, std::int64_t number = -1);

    std::int64_t dropped() const { return dropped_; }
    /// The trace event format that chrome://tracing and Perfetto read.
    std::string chrome_trace() const;

private:
    struct Span {
        Track track;
        std::uint32_t name = 0;
        std::int64_t number = -1;
        Tick begin{}, end{};
    };

    const Tick zero_;
    std::vector<std::string> names_;
    std::unordered_map<std::string, std::uint32_t> places_;    // in names_
    std::vector<Span> first_;
    std::vector<Span> newest_;    // a ring once it is full
    std::size_t next_ = 0;        // in newest_
    std::int64_t dropped_ = 0;
};

}    // namespace slipway
