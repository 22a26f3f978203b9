#include "executor/data/formats/csv_reader.h"

#include <fmt/ranges.h>
#include <locale.h>
#include <stdlib.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "executor/data/formats/name_table.h"
#include "executor/data/problem.h"
#include "executor/data/utf8.h"

// RFC 4180 over a stream, one byte ahead: quoted fields, doubled quotes, three kinds of line ends,
// a byte order mark. Fields, columns and rows have limits that are checked while reading, so a file
// without a single line end costs as much memory as the limit and no more. A number is parsed by
// from_chars, which no locale changes.
namespace slipway {

namespace {

constexpr std::size_t field_bytes_max = 1 << 20;
constexpr std::size_t columns_max = 1 << 20;
constexpr std::size_t row_bytes_max = 64 << 20;

}    // namespace

CsvReader::CsvReader(ByteStream file) : stream_(std::move(file)), buffer_(1 << 18) {
    peek();    // fills the buffer
    const std::string_view begin(reinterpret_cast<const char*>(buffer_.data()), filled_);
    if (is_utf16(begin)) refuse({}, "the file is UTF-16; save it as UTF-8");
    at_ = begin.size() - without_byte_order_mark(begin).size();
    if (!next(columns_)) refuse({}, "the file is empty; its first line must name the columns");
    std::set<std::string> seen;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        columns_[i] = without_blanks(columns_[i]);
        if (columns_[i].empty()) refuse({}, fmt::format("column {} has no name", i + 1));
        if (const auto wrong = name_problem(columns_[i], "the first line")) refuse({}, *wrong);
        if (!seen.insert(columns_[i]).second) refuse(columns_[i], "two columns have this name");
    }
}

std::optional<std::size_t> CsvReader::column(const std::string& name) const {
    const auto found = std::find(columns_.begin(), columns_.end(), without_blanks(name));
    if (found == columns_.end()) return std::nullopt;
    return std::size_t(found - columns_.begin());
}

void CsvReader::refuse(const std::string& field, const std::string& message) const {
    throw DataError({.file = file(), .row = row_, .field = field, .message = message});
}

int CsvReader::peek() {
    if (at_ == filled_) {
        filled_ = stream_.read(buffer_);
        at_ = 0;
        if (filled_ == 0) return -1;
    }
    return std::to_integer<int>(buffer_[at_]);
}

int CsvReader::take() {
    const int byte = peek();
    if (byte < 0) return byte;
    ++at_;
    if (byte == '\n') ++line_;
    if (byte == 0) refuse({}, "the line has a NUL byte; the file is not text in UTF-8");
    return byte;
}

/// Of "\n", "\r\n" or, as tables of old Macs have it, "\r".
bool CsvReader::take_line_end() {
    const int byte = peek();
    if (byte != '\n' && byte != '\r') return false;
    take();
    if (byte == '\n') return true;
    if (peek() == '\n') {
        take();
    } else {
        ++line_;
    }
    return true;
}

void CsvReader::read_quoted(std::string& field) {
    for (;;) {
        const int byte = take();
        if (byte < 0) refuse({}, "a quoted field is not closed before the end of the file");
        if (byte == '"') {
            if (peek() != '"') break;
            take();
        }
        field.push_back(char(byte));
        if (field.size() > field_bytes_max) {
            refuse({}, "a quoted field has more than 1 MiB; a quote is probably not closed");
        }
    }
    const int after = peek();
    if (after >= 0 && after != ',' && after != '\n' && after != '\r') {
        refuse({}, "a quoted field is followed by more text; a quote inside must be doubled");
    }
}

/// Names of classes and groups go into messages, reports and checkpoints, all of which are UTF-8.
void CsvReader::check_text(const std::vector<std::string>& fields) const {
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const std::optional<std::size_t> bad = first_bad_utf8(fields[i]);
        if (!bad) continue;
        refuse({}, fmt::format("byte {} of field {} ({}) is {:#04x}, which is not text in UTF-8; "
                               "save the table in UTF-8",
                               *bad + 1, i + 1, shown(fields[i]),
                               static_cast<unsigned char>(fields[i][*bad])));
    }
}

bool CsvReader::next(std::vector<std::string>& fields) {
    while (take_line_end()) {
    }
    row_ = line_;
    if (peek() < 0) return false;
    std::size_t count = 0, bytes = 0;
    for (;;) {
        if (count == fields.size()) fields.emplace_back();
        std::string& field = fields[count++];
        field.clear();
        if (count > columns_max) refuse({}, "the line has more than a million fields");
        if (peek() == '"') {
            take();
            read_quoted(field);
        }
        for (int byte = peek(); byte >= 0 && byte != ',' && byte != '\n' && byte != '\r';
             byte = peek()) {
            if (field.size() >= field_bytes_max) refuse({}, "a field has more than 1 MiB");
            field.push_back(char(take()));
        }
        bytes += field.size();
        if (bytes > row_bytes_max) refuse({}, "the row has more than 64 MiB");
        if (peek() == ',') {
            take();
            continue;
        }
        take_line_end();
        fields.resize(count);
        check_text(fields);
        return true;
    }
}

std::size_t required_column(const CsvReader& table, const std::string& name,
                            const std::string& option) {
    if (const auto column = table.column(name)) return *column;
    const std::string& first = table.columns().front();
    const std::size_t separator = first.find_first_of(";\t|");
    if (table.columns().size() == 1 && separator != first.npos) {
        throw DataError({.file = table.file(),
                         .row = 1,
                         .message = fmt::format("the columns are separated by {}; save the table "
                                                "with commas",
                                                shown(first.substr(separator, 1)))});
    }
    throw DataError({.file = table.file(),
                     .row = 1,
                     .field = name,
                     .message = fmt::format("there is no such column; there are {}. Set {} to one "
                                            "of them",
                                            fmt::join(table.columns(), ", "), option)});
}

namespace {

/// Without spaces around it, and without a plus sign.
std::string_view bare_number(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
        text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
        text.remove_suffix(1);
    if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
    return text;
}

/// What from_chars gives no number for: one too near to 0 is 0, one too large is infinite.
double out_of_range_number(std::string_view text) {
    static const locale_t plain = newlocale(LC_NUMERIC_MASK, "C", nullptr);
    return strtod_l(std::string(text).c_str(), nullptr, plain);
}

template <class Number>
std::optional<Number> parse_as(std::string_view text) {
    Number number = 0;
    const char* const begin = text.data();
    const char* const end = begin + text.size();
    const auto [parsed, error] = std::from_chars(begin, end, number);
    if (error == std::errc::result_out_of_range) number = Number(out_of_range_number(text));
    if (error == std::errc::invalid_argument || parsed != end || !std::isfinite(number))
        return std::nullopt;
    return number;
}

}    // namespace

std::optional<float> parse_number(std::string_view text) {
    return parse_as<float>(bare_number(text));
}

std::optional<double> parse_exact_number(std::string_view text) {
    return parse_as<double>(bare_number(text));
}

std::string shown(const std::string& value) {
    constexpr std::size_t shown_max = 40;
    const bool is_text = is_utf8(value);
    std::size_t end = std::min(value.size(), shown_max);
    while (is_text && end < value.size() && (value[end] & 0xC0) == 0x80)
        --end;    // a character is shown whole
    std::string text = "\"";
    for (const char c : std::string_view(value).substr(0, end)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7F || (byte >= 0x80 && !is_text)) {
            text += fmt::format("\\x{:02x}", byte);
        } else {
            text += c;
        }
    }
    if (value.size() > end) text += "…";
    return text + "\"";
}

}    // namespace slipway
