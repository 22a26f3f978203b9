#include "scheduler/store/pg/values.h"

#include <fmt/core.h>
#include <libpq-fe.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "api/base/check.h"

namespace slipway::store {

namespace {

std::string number_text(double number) {
    if (std::isnan(number)) return "NaN";
    if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
    return fmt::format("{}", number);
}

std::string quoted(const std::string& value) {
    std::string text = "\"";
    for (const char c : value) {
        if (c == '"' || c == '\\') text += '\\';
        text += c;
    }
    return text + '"';
}

template <class T, class Format>
std::string array_text(const std::vector<T>& values, Format format) {
    std::string text = "{";
    for (const T& value : values) {
        if (text.size() > 1) text += ',';
        text += format(value);
    }
    return text + '}';
}

template <class T>
T parse_number(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    check(error == std::errc{} && end == text.data() + text.size(), "the column holds a number");
    return value;
}

/// Of the digits that the server writes.
constexpr std::array<std::uint8_t, 256> hex_values = [] {
    std::array<std::uint8_t, 256> values{};
    for (std::uint8_t digit = 0; digit < 16; ++digit)
        values[std::uint8_t("0123456789abcdef"[digit])] = digit;
    return values;
}();

/// The elements of "{a,"b c"}": what the server writes for a one-dimensional array.
std::vector<std::string> parse_array(std::string_view text) {
    std::vector<std::string> values;
    if (text.empty() || text == "{}") return values;
    check(text.front() == '{' && text.back() == '}', "the column holds an array");
    bool inside_quotes = false;
    std::string value;
    for (std::size_t i = 1; i + 1 < text.size(); ++i) {
        const char c = text[i];
        if (c == '\\') {
            value += text[++i];
        } else if (c == '"') {
            inside_quotes = !inside_quotes;
        } else if (c == ',' && !inside_quotes) {
            values.push_back(std::move(value));
            value.clear();
        } else {
            value += c;
        }
    }
    values.push_back(std::move(value));
    return values;
}

}    // namespace

Param::Param(std::string text) : text_(std::move(text)) {}
Param::Param(std::string_view text) : text_(text) {}
Param::Param(const char* text) : text_(text) {}
Param::Param(bool flag) : text_(flag ? "t" : "f") {}
Param::Param(int number) : text_(std::to_string(number)) {}
Param::Param(std::int64_t number) : text_(std::to_string(number)) {}
Param::Param(double number) : text_(number_text(number)) {}
Param::Param(Instant instant) : text_(to_rfc3339(instant)) {}
Param::Param(std::chrono::milliseconds duration)
    : text_(number_text(double(duration.count()) / 1000.0)) {}
Param::Param(const std::vector<std::string>& values) : text_(array_text(values, quoted)) {}
Param::Param(const std::vector<int>& values)
    : text_(array_text(values, [](int value) { return std::to_string(value); })) {}
Param::Param(const std::vector<std::int64_t>& values)
    : text_(array_text(values, [](std::int64_t value) { return std::to_string(value); })) {}
Param::Param(const std::vector<double>& values) : text_(array_text(values, number_text)) {}

Param Param::or_null(std::string_view text) {
    return text.empty() ? Param(std::nullopt) : Param(text);
}

Param Param::or_null(const std::vector<std::string>& values) {
    return values.empty() ? Param(std::nullopt) : Param(values);
}

Param Param::array(const std::vector<Param>& values) {
    return array_text(
        values, [](const Param& value) { return value.text_ ? quoted(*value.text_) : "NULL"; });
}

// PQfnumber folds case and allocates for each call; a list of events asks for thousands of columns.
int Row::index_of(std::string_view column) const {
    const int count = PQnfields(result_);
    for (int i = 0; i < count; ++i) {
        if (column == PQfname(result_, i)) return i;
    }
    fmt::print(stderr, "no column {}\n", column);
    check(false, "the query returns the column");
    return -1;
}

std::string_view Row::view(std::string_view column) const {
    const int i = index_of(column);
    return {PQgetvalue(result_, index_, i), std::size_t(PQgetlength(result_, index_, i))};
}

bool Row::is_null(std::string_view column) const {
    return PQgetisnull(result_, index_, index_of(column)) != 0;
}

std::string Row::text(std::string_view column) const {
    return std::string(view(column));
}

std::int64_t Row::integer(std::string_view column) const {
    return parse_number<std::int64_t>(view(column));
}

double Row::number(std::string_view column) const {
    const std::string_view text = view(column);
    if (text == "NaN") return std::nan("");
    if (text == "Infinity") return HUGE_VAL;
    if (text == "-Infinity") return -HUGE_VAL;
    return parse_number<double>(text);
}

bool Row::flag(std::string_view column) const {
    return view(column) == "t";
}

Instant Row::time(std::string_view column) const {
    // "2026-11-20 20:37:00.123456+00": sessions are set to UTC and ISO dates.
    std::string text(view(column));
    check(text.size() > 13 && text.ends_with("+00") && text[10] == ' ', "the column holds a time");
    text[10] = 'T';
    text.replace(text.size() - 3, 3, "Z");
    return parse_rfc3339(text).value();
}

std::string Row::bytes(std::string_view column) const {
    const std::string_view text = view(column);
    check(text.starts_with("\\x") && text.size() % 2 == 0, "the column holds bytes");
    std::string bytes(text.size() / 2 - 1, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = char(hex_values[std::uint8_t(text[2 * i + 2])] << 4 |
                        hex_values[std::uint8_t(text[2 * i + 3])]);
    return bytes;
}

std::optional<std::int64_t> Row::maybe_integer(std::string_view column) const {
    if (is_null(column)) return std::nullopt;
    return integer(column);
}

std::optional<int> Row::maybe_small(std::string_view column) const {
    if (is_null(column)) return std::nullopt;
    return small(column);
}

std::optional<double> Row::maybe_number(std::string_view column) const {
    if (is_null(column)) return std::nullopt;
    return number(column);
}

std::optional<Instant> Row::maybe_time(std::string_view column) const {
    if (is_null(column)) return std::nullopt;
    return time(column);
}

std::vector<std::string> Row::texts(std::string_view column) const {
    return parse_array(view(column));
}

std::vector<int> Row::smalls(std::string_view column) const {
    std::vector<int> values;
    for (const std::string& value : texts(column))
        values.push_back(parse_number<int>(value));
    return values;
}

Rows::Rows(pg_result* owned) : result_(owned) {}

int Rows::size() const {
    return PQntuples(result_.get());
}

std::int64_t Rows::affected() const {
    // libpq's function is not const-correct; it reads only.
    const char* count = PQcmdTuples(result_.get());
    return *count == '\0' ? 0 : parse_number<std::int64_t>(count);
}

void Rows::Clear::operator()(pg_result* result) const {
    PQclear(result);
}

}    // namespace slipway::store
