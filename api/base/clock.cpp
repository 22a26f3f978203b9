#include "api/base/clock.h"

#include <fmt/core.h>

#include <array>
#include <cstdio>

namespace slipway {

namespace {

class SystemClock final : public Clock {
public:
    Instant now() const override {
        return std::chrono::time_point_cast<std::chrono::microseconds>(
            std::chrono::system_clock::now());
    }
    Tick tick() const override { return std::chrono::steady_clock::now(); }
};

}    // namespace

const Clock& system_clock() {
    static const SystemClock clock;
    return clock;
}

std::string to_rfc3339(Instant instant) {
    using namespace std::chrono;
    const auto day = floor<days>(instant);
    const year_month_day date{day};
    const hh_mm_ss time{instant - day};
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", int(date.year()),
                       unsigned(date.month()), unsigned(date.day()), time.hours().count(),
                       time.minutes().count(), time.seconds().count(), time.subseconds().count());
}

Result<Instant> parse_rfc3339(std::string_view text) {
    const Error bad{ErrorCode::invalid_argument,
                    fmt::format("\"{}\" is not a time like 2026-11-20T20:37:00Z", text)};
    // "YYYY-MM-DDTHH:MM:SS" has 19 characters; the digits' places are fixed.
    constexpr std::string_view shape = "dddd-dd-ddTdd:dd:dd";
    if (text.size() < shape.size() + 1 || text.back() != 'Z') return bad;
    std::array<int, 6> parts{};
    std::size_t part = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const char c = text[i];
        if (shape[i] == 'd') {
            if (c < '0' || c > '9') return bad;
            parts[part] = parts[part] * 10 + (c - '0');
        } else {
            if (c != shape[i]) return bad;
            ++part;
        }
    }
    std::int64_t microseconds_count = 0;
    const std::string_view fraction = text.substr(shape.size(), text.size() - shape.size() - 1);
    if (!fraction.empty()) {
        if (fraction[0] != '.' || fraction.size() < 2 || fraction.size() > 7) return bad;
        std::int64_t scale = 100000;
        for (const char c : fraction.substr(1)) {
            if (c < '0' || c > '9') return bad;
            microseconds_count += (c - '0') * scale;
            scale /= 10;
        }
    }
    using namespace std::chrono;
    const year_month_day date{year{parts[0]}, month(unsigned(parts[1])), day(unsigned(parts[2]))};
    if (!date.ok() || parts[3] > 23 || parts[4] > 59 || parts[5] > 59) return bad;
    return Instant{sys_days{date} + hours{parts[3]} + minutes{parts[4]} + seconds{parts[5]} +
                   microseconds{microseconds_count}};
}

}    // namespace slipway
