#include "executor/main/event_message.h"

#include <bit>
#include <cstring>

namespace slipway {

namespace {

// Fields of Event, Summary, Summary.Value and SessionLog.
constexpr int wall_time_field = 1, step_field = 2, version_field = 3, summary_field = 5,
              session_field = 7;
constexpr int value_field = 1, tag_field = 1, simple_value_field = 2, status_field = 1;
constexpr std::uint64_t session_start = 1;

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

void add_varint(std::string& message, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        message += char((value & 0x7F) | 0x80);
    message += char(value);
}

void add_tag(std::string& message, int field, WireType type) {
    add_varint(message, std::uint64_t(field) << 3 | std::uint64_t(type));
}

void add_number(std::string& message, int field, std::uint64_t value) {
    add_tag(message, field, WireType::varint);
    add_varint(message, value);
}

void add_text(std::string& message, int field, const std::string& text) {
    add_tag(message, field, WireType::bytes);
    add_varint(message, text.size());
    message += text;
}

template <class Bits>
void add_fixed(std::string& message, int field, WireType type, Bits bits) {
    add_tag(message, field, type);
    for (std::size_t i = 0; i < sizeof bits; ++i)
        message += char(bits >> 8 * i & 0xFF);
}

std::string event_at(double wall_time, std::int64_t step) {
    std::string event;
    add_fixed(event, wall_time_field, WireType::fixed64, std::bit_cast<std::uint64_t>(wall_time));
    if (step != 0) add_number(event, step_field, std::uint64_t(step));
    return event;
}

/// Takes a message apart, as far as needed to find a number of its own.
class FieldReader {
public:
    explicit FieldReader(std::span<const std::byte> bytes) : rest_(bytes) {}

    bool done() const { return rest_.empty(); }

    std::optional<std::uint64_t> varint() {
        std::uint64_t value = 0;
        for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
            const auto byte = std::to_integer<std::uint64_t>(rest_[0]);
            rest_ = rest_.subspan(1);
            value |= (byte & 0x7F) << shift;
            if (byte < 0x80) return value;
        }
        return std::nullopt;
    }

    bool skip(std::uint64_t type) {
        switch (WireType(type)) {
            case WireType::varint:
                return varint().has_value();
            case WireType::fixed64:
                return drop(8);
            case WireType::fixed32:
                return drop(4);
            case WireType::bytes: {
                const auto length = varint();
                return length && drop(*length);
            }
        }
        return false;
    }

private:
    bool drop(std::uint64_t count) {
        if (count > rest_.size()) return false;
        rest_ = rest_.subspan(std::size_t(count));
        return true;
    }

    std::span<const std::byte> rest_;
};

}    // namespace

std::string version_event(double wall_time) {
    std::string event = event_at(wall_time, 0);
    add_text(event, version_field, "brain.Event:2");
    return event;
}

std::string restart_event(double wall_time, std::int64_t step) {
    std::string session;
    add_number(session, status_field, session_start);
    std::string event = event_at(wall_time, step);
    add_text(event, session_field, session);
    return event;
}

std::string scalars_event(double wall_time, const MetricPoint& point) {
    std::string summary;
    for (const auto& [name, number] : point.values) {
        std::string value;
        add_text(value, tag_field, name);
        add_fixed(value, simple_value_field, WireType::fixed32,
                  std::bit_cast<std::uint32_t>(float(number)));
        add_text(summary, value_field, value);
    }
    std::string event = event_at(wall_time, point.step);
    add_text(event, summary_field, summary);
    return event;
}

std::optional<std::int64_t> step_of_event(std::span<const std::byte> event) {
    FieldReader reader(event);
    std::int64_t step = 0;
    while (!reader.done()) {
        const auto tag = reader.varint();
        if (!tag) return std::nullopt;
        if (*tag == (std::uint64_t(step_field) << 3 | std::uint64_t(WireType::varint))) {
            const auto value = reader.varint();
            if (!value) return std::nullopt;
            step = std::int64_t(*value);
        } else if (!reader.skip(*tag & 7)) {
            return std::nullopt;
        }
    }
    return step;
}

}    // namespace slipway
