#include "server/sse/event_ring.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/base/id.h"
#include "server/http/problem.h"
#include "server/http/text.h"

namespace slipway {

bool is_of(const std::vector<std::string>& projects, std::string_view project) {
    return projects.empty() || std::ranges::find(projects, project) != projects.end();
}

std::string EventRing::id_of(std::int64_t number) const {
    return fmt::format("{}-{}", name_, number);
}

std::int64_t EventRing::number_of(std::string_view id) const {
    const std::size_t dash = id.rfind('-');
    const auto number =
        dash == std::string_view::npos ? std::nullopt : parse_decimal(id.substr(dash + 1));
    if (!number || *number > INT64_MAX || !is_id("evt", id.substr(0, dash)))
        throw ProblemError({.status = 400,
                            .code = "bad_event_id",
                            .detail = "Last-Event-ID must be the id of an event of this stream, "
                                      "such as evt_01jd0000000000000000000000-42"});
    const auto value = static_cast<std::int64_t>(*number);
    return id.substr(0, dash) == name_ && value <= last_ ? value : -1;
}

void EventRing::append(const std::string& project, ProjectEventType type, std::string_view data) {
    ++last_;
    entries_.push_back({.project = project,
                        .type = type,
                        .frame = fmt::format("id: {}\nevent: {}\ndata: {}\n\n", id_of(last_),
                                             to_string(type), data)});
    bytes_ += entries_.back().frame.size();
    while (entries_.size() > limits_.events || bytes_ > limits_.bytes)
        forget_oldest();
}

void EventRing::forget_oldest() {
    const Entry& oldest = entries_.front();
    const std::int64_t number = last_ - static_cast<std::int64_t>(entries_.size()) + 1;
    const auto type = static_cast<std::size_t>(oldest.type);
    gone_[type] = gone_of_[oldest.project][type] = number;
    bytes_ -= oldest.frame.size();
    entries_.pop_front();
}

void EventRing::break_off() {
    entries_.clear();
    gone_of_.clear();
    bytes_ = 0;
    broken_at_ = ++last_;
}

bool EventRing::has_lost(std::int64_t after, const RingFilter& filter) const {
    const auto among = [&](const ByType& newest) {
        for (std::size_t type = 0; type < newest.size(); ++type)
            if (newest[type] > after && (filter.types >> type & 1U) != 0) return true;
        return false;
    };
    if (after < broken_at_) return true;
    if (filter.projects.empty()) return among(gone_);
    return std::ranges::any_of(filter.projects, [&](const std::string& project) {
        const auto of_project = gone_of_.find(project);
        return of_project != gone_of_.end() && among(of_project->second);
    });
}

EventRing::Read EventRing::read(std::int64_t after, const RingFilter& filter, std::size_t bytes_max,
                                std::string& out) const {
    if (has_lost(after, filter)) return {.read_to = last_, .lost = true};
    const std::int64_t first = last_ - static_cast<std::int64_t>(entries_.size()) + 1;
    for (std::int64_t number = std::max(after + 1, first); number <= last_; ++number) {
        const Entry& entry = entries_[static_cast<std::size_t>(number - first)];
        if ((filter.types & bit_of(entry.type)) == 0 || !is_of(filter.projects, entry.project))
            continue;
        out += entry.frame;
        if (out.size() >= bytes_max) return {.read_to = number, .lost = false};
    }
    return {.read_to = last_, .lost = false};
}

}    // namespace slipway
