#include "executor/checkpoint/safetensors_header.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>
#include <tuple>

#include "api/base/check.h"
#include "api/base/json.h"

namespace slipway {

namespace {

enum class Reading { exact, widened, none };

struct ElementType {
    std::string_view name;
    std::int64_t bytes;
    Reading reading;
    DType dtype = DType::f32;    // as it is read
};

// All that the format has; those that are read exactly come first.
constexpr auto element_types = std::to_array<ElementType>({
    {"F32", 4, Reading::exact, DType::f32},
    {"F64", 8, Reading::exact, DType::f64},
    {"BF16", 2, Reading::exact, DType::bf16},
    {"I32", 4, Reading::exact, DType::i32},
    {"I64", 8, Reading::exact, DType::i64},
    {"U8", 1, Reading::exact, DType::u8},
    {"BOOL", 1, Reading::exact, DType::pred},
    {"F16", 2, Reading::widened, DType::f32},
    {"I8", 1, Reading::none},
    {"I16", 2, Reading::none},
    {"U16", 2, Reading::none},
    {"U32", 4, Reading::none},
    {"U64", 8, Reading::none},
    {"C64", 8, Reading::none},
    {"F8_E4M3", 1, Reading::none},
    {"F8_E5M2", 1, Reading::none},
    {"F8_E8M0", 1, Reading::none},
});

const ElementType* type_of_name(std::string_view name) {
    const auto* row = std::ranges::find(element_types, name, &ElementType::name);
    return row == element_types.end() ? nullptr : row;
}

const ElementType& type_of(const TensorEntry& entry) {
    const auto* row = entry.file_type.empty()
                          ? std::ranges::find(element_types, entry.shape.dtype, &ElementType::dtype)
                          : std::ranges::find(element_types, entry.file_type, &ElementType::name);
    check(row != element_types.end(), "every type that is read has a row");
    return *row;
}

/// Takes the header event by event: nothing is built that the format does not have, so neither
/// depth nor repetition costs memory.
///   {"__metadata__": {text: text…}, name: {"dtype": text, "shape": [n…], "data_offsets": [b, e]}…}
class HeaderReader {
public:
    SafetensorsHeader header;
    std::string problem;

    // Names and results are those that nlohmann::json::sax_parse asks for.
    bool null() { return refuse("null is not allowed in a header"); }
    bool boolean(bool /*value*/) { return refuse("true and false are not allowed in a header"); }
    bool number_float(double /*value*/, const std::string& /*text*/) {
        return refuse("a fraction is not allowed in a header");
    }
    bool binary(Json::binary_t& /*value*/) { return refuse("binary is not allowed in a header"); }
    bool number_integer(std::int64_t /*value*/) { return refuse("a number is negative"); }

    bool number_unsigned(std::uint64_t value) {
        if (place_ != Place::shape && place_ != Place::offsets) {
            return refuse("a number is in the wrong place");
        }
        if (value > std::uint64_t(std::numeric_limits<std::int64_t>::max())) {
            return refuse("a number is too large");
        }
        std::vector<std::int64_t>& list = place_ == Place::shape ? entry_.shape.dims : offsets_;
        constexpr std::size_t rank_max = 32;
        if (list.size() == (place_ == Place::shape ? rank_max : 2)) {
            return refuse(fmt::format("tensor {} has too many dimensions or offsets", entry_.name));
        }
        list.push_back(std::int64_t(value));
        return true;
    }

    bool string(std::string& value) {
        if (place_ == Place::metadata) {
            if (!header.metadata.try_emplace(key_, value).second) return repeated();
            return true;
        }
        if (place_ != Place::tensor || key_ != "dtype")
            return refuse("a string is in the wrong place");
        const ElementType* type = type_of_name(value);
        if (type == nullptr) {
            return refuse(
                fmt::format("tensor {} has elements of type {}, which the format does "
                            "not have; weights may be F32, F64, F16 or BF16",
                            entry_.name, value));
        }
        entry_.shape.dtype = type->dtype;
        entry_.file_type = type->reading == Reading::exact ? "" : value;
        return true;
    }

    bool start_object(std::size_t /*size*/) {
        if (place_ == Place::nothing) {
            place_ = Place::top;
            return true;
        }
        if (place_ != Place::top) return refuse("an object is in the wrong place");
        place_ = key_ == "__metadata__" ? Place::metadata : Place::tensor;
        entry_ = {key_, {}, 0, 0, {}};
        offsets_.clear();
        fields_.clear();
        return true;
    }

    bool key(std::string& name) {
        key_ = name;
        if (place_ == Place::top && !names_.insert(name).second) return repeated();
        if (place_ != Place::tensor) return true;
        if (name != "dtype" && name != "shape" && name != "data_offsets") {
            return refuse(fmt::format("tensor {} has the unknown field {}", entry_.name, name));
        }
        if (!fields_.insert(name).second) return repeated();
        return true;
    }

    bool end_object() {
        if (place_ == Place::tensor) {
            if (fields_.size() != 3 || offsets_.size() != 2) {
                return refuse(
                    fmt::format("tensor {} lacks dtype, shape or two data_offsets", entry_.name));
            }
            entry_.begin = offsets_[0];
            entry_.end = offsets_[1];
            header.tensors.push_back(entry_);
        }
        place_ = place_ == Place::top ? Place::nothing : Place::top;
        return true;
    }

    bool start_array(std::size_t /*size*/) {
        if (place_ != Place::tensor || key_ == "dtype")
            return refuse("a list is in the wrong place");
        place_ = key_ == "shape" ? Place::shape : Place::offsets;
        return true;
    }

    bool end_array() {
        place_ = Place::tensor;
        return true;
    }

    bool parse_error(std::size_t position, const std::string& /*token*/,
                     const nlohmann::detail::exception& /*error*/) {
        return refuse(fmt::format("it is not JSON at byte {}", position));
    }

private:
    enum class Place { nothing, top, metadata, tensor, shape, offsets };

    bool refuse(std::string message) {
        if (problem.empty()) problem = std::move(message);
        return false;
    }
    bool repeated() { return refuse(fmt::format("the key {} occurs twice", key_)); }

    Place place_ = Place::nothing;
    std::string key_;
    std::set<std::string> names_, fields_;
    TensorEntry entry_;
    std::vector<std::int64_t> offsets_;
};

Error damaged(const std::string& message) {
    return {ErrorCode::data_loss, fmt::format("the header is wrong: {}", message)};
}

/// Bytes of a tensor in the file, or none when they do not fit 63 bits.
std::optional<std::int64_t> byte_count(const TensorEntry& entry) {
    std::int64_t count = type_of(entry).bytes;
    for (const std::int64_t dim : entry.shape.dims) {
        if (__builtin_mul_overflow(count, dim, &count)) return std::nullopt;
    }
    return count;
}

std::optional<Error> check_entries(const std::vector<TensorEntry>& tensors,
                                   std::int64_t data_bytes) {
    std::int64_t covered = 0;
    for (const TensorEntry& entry : tensors) {
        if (entry.begin != covered || entry.end < entry.begin || entry.end > data_bytes) {
            return damaged(
                fmt::format("tensor {} has data_offsets {} to {} where bytes {} to at "
                            "most {} are left",
                            entry.name, entry.begin, entry.end, covered, data_bytes));
        }
        if (byte_count(entry) != entry.end - entry.begin) {
            return damaged(
                fmt::format("tensor {} has {} bytes, which its shape and element type "
                            "do not have",
                            entry.name, entry.end - entry.begin));
        }
        covered = entry.end;
    }
    if (covered == data_bytes) return std::nullopt;
    return damaged(fmt::format("its tensors have {} bytes and the file {}", covered, data_bytes));
}

}    // namespace

bool is_read(const TensorEntry& entry) {
    return type_of(entry).reading != Reading::none;
}

Result<SafetensorsHeader> parse_safetensors_header(std::string_view text, std::int64_t data_bytes) {
    HeaderReader reader;
    // The library takes a NUL for the end of the text and would not look at what follows.
    if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
        return damaged(fmt::format("byte {} is NUL; it is padded with spaces", nul));
    if (!Json::sax_parse(text.begin(), text.end(), &reader)) return damaged(reader.problem);
    SafetensorsHeader header = std::move(reader.header);
    std::sort(header.tensors.begin(), header.tensors.end(),
              [](const TensorEntry& a, const TensorEntry& b) {
                  return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
              });
    if (const auto error = check_entries(header.tensors, data_bytes)) return *error;
    return header;
}

std::string safetensors_header(std::span<const TensorEntry> tensors,
                               const std::map<std::string, std::string>& metadata) {
    Json json = Json::object();
    if (!metadata.empty()) json["__metadata__"] = metadata;
    for (const TensorEntry& entry : tensors) {
        json[entry.name] = {{"dtype", type_of(entry).name},
                            {"shape", entry.shape.dims},
                            {"data_offsets", {entry.begin, entry.end}}};
    }
    std::string text = json.dump();
    while ((8 + text.size()) % 64 != 0)
        text += ' ';
    return text;
}

}    // namespace slipway
