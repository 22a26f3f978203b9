#include "executor/data/formats/example.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <string>

#include "executor/data/utf8.h"

// tf.train.Example is a protobuf message of three levels. They are read here, without the library
// and its generated code: a few kinds of fields are enough, unknown ones are passed over, and every
// length is checked against what is left before anything is allocated. Values of packed lists are
// counted over the record, because one byte of file can become eight of memory.
namespace slipway {

namespace {

using Bytes = std::span<const std::byte>;

/// What is common to all messages of one record.
struct Reading {
    const std::byte* record = nullptr;
    std::size_t values = 0;
    std::string damage;    // the first; empty: none
};

/// One field of a message. What it holds depends on its type.
struct Field {
    enum class Type { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
    std::uint32_t number = 0;
    Type type = Type::varint;
    std::uint64_t value = 0;
    Bytes bytes;
};

/// A message's fields in order. After damage every reader of the record is at its end.
class Message {
public:
    Message(Bytes bytes, Reading& reading) : rest_(bytes), reading_(reading) {}

    bool next(Field& field) {
        if (!more()) return false;
        const std::uint64_t tag = varint(5);
        if (damaged()) return false;
        if (tag > 0xFFFFFFFF || tag >> 3 == 0) return fail("a field has no valid number");
        field.number = std::uint32_t(tag >> 3);
        const auto type = int(tag & 7);
        if (type == 3 || type == 4 || type > 5) {
            return fail(fmt::format("a field has wire type {}", type));
        }
        field.type = Field::Type(type);
        switch (field.type) {
            case Field::Type::varint:
                field.value = varint();
                break;
            case Field::Type::fixed64:
                field.value = fixed(8);
                break;
            case Field::Type::fixed32:
                field.value = fixed(4);
                break;
            case Field::Type::bytes:
                field.bytes = take(varint(5));
                break;
        }
        return !damaged();
    }

    /// For packed lists.
    bool more() const { return !rest_.empty() && !damaged(); }
    std::uint64_t varint(unsigned bytes_max = 10) {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 7 * bytes_max; shift += 7) {
            if (rest_.empty()) {
                fail("a number is cut short");
                return 0;
            }
            const auto byte = std::to_integer<std::uint64_t>(rest_[0]);
            rest_ = rest_.subspan(1);
            value |= (byte & 0x7F) << shift;
            if (byte < 0x80) return value;
        }
        fail(fmt::format("a number has more than {} bytes", bytes_max));
        return 0;
    }
    std::uint64_t fixed(std::size_t size) {
        std::uint64_t value = 0;
        const Bytes bytes = take(size);
        for (std::size_t i = bytes.size(); i-- > 0;)
            value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
        return value;
    }
    /// Counts one value of a list: bytes of the file must not become endless memory.
    bool count() {
        return ++reading_.values <= example_values_max ||
               fail(fmt::format("there are more than {} values", example_values_max));
    }
    bool fail(const std::string& message) {
        if (!damaged()) {
            reading_.damage =
                fmt::format("{} at byte {} of the record", message, rest_.data() - reading_.record);
        }
        return false;
    }

private:
    bool damaged() const { return !reading_.damage.empty(); }

    Bytes take(std::uint64_t size) {
        if (damaged()) return {};
        if (size > rest_.size()) {
            fail(fmt::format("{} bytes are declared and {} are left", size, rest_.size()));
            return {};
        }
        const Bytes taken = rest_.first(std::size_t(size));
        rest_ = rest_.subspan(std::size_t(size));
        return taken;
    }

    Bytes rest_;
    Reading& reading_;
};

std::string_view text_of(Bytes bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// BytesList, FloatList or Int64List: repeated field 1.
void read_list(Message list, Reading& reading, ExampleFeature& feature) {
    using Kind = ExampleFeature::Kind;
    using Type = Field::Type;
    const auto add_float = [&](std::uint64_t bits) {
        feature.floats.push_back(std::bit_cast<float>(std::uint32_t(bits)));
    };
    Field field;
    while (list.next(field)) {
        if (field.number != 1) continue;
        if (feature.kind == Kind::bytes && field.type == Type::bytes) {
            if (list.count()) feature.bytes.push_back(text_of(field.bytes));
        } else if (feature.kind == Kind::floats && field.type == Type::fixed32) {
            if (list.count()) add_float(field.value);
        } else if (feature.kind == Kind::ints && field.type == Type::varint) {
            if (list.count()) feature.ints.push_back(std::int64_t(field.value));
        } else if (feature.kind != Kind::bytes && field.type == Type::bytes) {
            for (Message packed(field.bytes, reading); packed.more() && packed.count();) {
                if (feature.kind == Kind::floats) {
                    const std::uint64_t bits = packed.fixed(4);
                    if (reading.damage.empty()) add_float(bits);
                } else {
                    const std::uint64_t value = packed.varint();
                    if (reading.damage.empty()) feature.ints.push_back(std::int64_t(value));
                }
            }
        }
    }
}

/// Feature: one of three lists. Of different kinds the last counts, of one kind all are joined.
void read_feature(Message message, Reading& reading, ExampleFeature& feature) {
    Field field;
    while (message.next(field)) {
        if (field.number < 1 || field.number > 3 || field.type != Field::Type::bytes) continue;
        const auto kind = ExampleFeature::Kind(field.number);
        if (kind != feature.kind) {
            feature = {feature.name, kind, {}, {}, {}};
        }
        read_list(Message(field.bytes, reading), reading, feature);
    }
}

/// An entry of the map: field 1 the name, field 2 the feature.
ExampleFeature read_entry(Message entry, Reading& reading) {
    ExampleFeature feature;
    Field field;
    while (entry.next(field)) {
        if (field.type != Field::Type::bytes) continue;
        if (field.number == 1) {
            feature.name = text_of(field.bytes);
            if (!is_utf8(feature.name)) entry.fail("a feature's name is not UTF-8, seen");
        } else if (field.number == 2) {
            read_feature(Message(field.bytes, reading), reading, feature);
        }
    }
    return feature;
}

/// Of features of one name the last counts.
std::vector<ExampleFeature> sorted_and_unique(std::vector<ExampleFeature> features) {
    std::stable_sort(features.begin(), features.end(),
                     [](const auto& a, const auto& b) { return a.name < b.name; });
    std::vector<ExampleFeature> unique;
    for (ExampleFeature& feature : features) {
        if (!unique.empty() && unique.back().name == feature.name) unique.pop_back();
        unique.push_back(std::move(feature));
    }
    return unique;
}

}    // namespace

Result<std::vector<ExampleFeature>> read_example(std::span<const std::byte> record) {
    Reading reading{.record = record.data(), .values = 0, .damage = {}};
    std::vector<ExampleFeature> features;
    Message example(record, reading);
    Field outer, inner;
    while (example.next(outer)) {
        if (outer.number != 1 || outer.type != Field::Type::bytes) continue;
        Message map(outer.bytes, reading);
        while (map.next(inner)) {
            if (inner.number != 1 || inner.type != Field::Type::bytes) continue;
            if (features.size() == example_features_max) {
                map.fail(fmt::format("there are more than {} features", example_features_max));
                break;
            }
            features.push_back(read_entry(Message(inner.bytes, reading), reading));
        }
    }
    if (!reading.damage.empty()) {
        return Error{ErrorCode::data_loss,
                     fmt::format("the record is not a tf.train.Example: {}", reading.damage)};
    }
    return sorted_and_unique(std::move(features));
}

std::string_view to_string(ExampleFeature::Kind kind) {
    switch (kind) {
        case ExampleFeature::Kind::bytes:
            return "bytes";
        case ExampleFeature::Kind::floats:
            return "float";
        case ExampleFeature::Kind::ints:
            return "int64";
        case ExampleFeature::Kind::none:
            break;
    }
    return "no values";
}

}    // namespace slipway
