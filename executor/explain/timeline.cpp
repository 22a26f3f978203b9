#include "executor/explain/timeline.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "api/base/json.h"

namespace slipway {

namespace {

constexpr std::size_t first_max = 3000;
constexpr std::size_t newest_max = 12000;
constexpr std::size_t names_max = 5000;    // of a program's kernels; far more than any has

constexpr std::array<std::string_view, 4> kind_names{"trainer", "worker", "loader", "exchange"};

/// Workers and loaders each have a range of thread numbers of their own.
int thread_of(const Track& track) {
    return int(track.kind) * 1000 + track.number;
}

double microseconds(Tick from, Tick to) {
    return std::chrono::duration<double, std::micro>(to - from).count();
}

}    // namespace

std::uint32_t Timeline::name(std::string_view text) {
    const auto known = places_.find(std::string(text));
    if (known != places_.end()) return known->second;
    if (names_.size() == names_max) return std::uint32_t(names_max - 1);
    names_.emplace_back(text);
    places_.emplace(std::string(text), std::uint32_t(names_.size() - 1));
    return std::uint32_t(names_.size() - 1);
}

void Timeline::add(Track track, std::uint32_t name, Tick begin, Tick end, std::int64_t number) {
    const Span span{track, name, number, begin, end};
    if (first_.size() < first_max) {
        first_.push_back(span);
    } else if (newest_.size() < newest_max) {
        newest_.push_back(span);
    } else {
        newest_[next_] = span;
        next_ = (next_ + 1) % newest_max;
        ++dropped_;
    }
}

std::string Timeline::chrome_trace() const {
    std::vector<std::string> quoted;
    for (const std::string& each : names_)
        quoted.push_back(Json(each).dump(-1, ' ', false, Json::error_handler_t::replace));
    std::string text =
        "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
        "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":"
        "\"slipway-executor\"}}";
    const auto out = std::back_inserter(text);
    std::set<int> seen;
    const auto append = [&](const Span& span) {
        const int thread = thread_of(span.track);
        if (seen.insert(thread).second) {
            fmt::format_to(out,
                           ",\n{{\"ph\":\"M\",\"pid\":1,\"tid\":{},\"name\":\"thread_name\","
                           "\"args\":{{\"name\":\"{} {}\"}}}}",
                           thread, kind_names[std::size_t(span.track.kind)], span.track.number);
        }
        fmt::format_to(out,
                       ",\n{{\"ph\":\"X\",\"pid\":1,\"tid\":{},\"name\":{},\"ts\":{:.3f},"
                       "\"dur\":{:.3f}",
                       thread, quoted[span.name], microseconds(zero_, span.begin),
                       microseconds(span.begin, span.end));
        if (span.number >= 0) fmt::format_to(out, ",\"args\":{{\"number\":{}}}", span.number);
        text += '}';
    };
    for (const Span& span : first_)
        append(span);
    for (std::size_t i = 0; i < newest_.size(); ++i)
        append(newest_[(next_ + i) % newest_.size()]);
    return text + "\n]}\n";
}

}    // namespace slipway
