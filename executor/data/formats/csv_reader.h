#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/data/files.h"

namespace slipway {

/// A table in RFC 4180 form, read in pieces: commas, optional double quotes (a quote inside is
/// doubled, line ends inside are kept), lines ending with LF or CRLF, an optional byte order mark,
/// gzipped or not. The first line names the columns; blanks around a name are no part of it. Empty
/// lines are passed over.
class CsvReader {
public:
    /// Reads the header.
    /// errors  throws DataError: no header, an empty or repeated column name, broken quoting
    explicit CsvReader(ByteStream file);

    const std::string& file() const { return stream_.name(); }
    const std::vector<std::string>& columns() const { return columns_; }
    std::optional<std::size_t> column(const std::string& name) const;

    /// The next record's fields, or false at the end. Their number need not be the header's.
    /// errors  throws DataError with the line for broken quoting, a NUL byte, a field over 1 MiB,
    ///         and with the byte for what is not UTF-8
    bool next(std::vector<std::string>& fields);
    /// Line on which the last record begins, 1-based.
    std::int64_t row() const { return row_; }

private:
    int take();    ///< the next byte, or -1
    int peek();
    bool take_line_end();
    void read_quoted(std::string& field);
    void check_text(const std::vector<std::string>& fields) const;
    [[noreturn]] void refuse(const std::string& field, const std::string& message) const;

    ByteStream stream_;
    std::vector<std::string> columns_;
    std::vector<std::byte> buffer_;
    std::size_t at_ = 0, filled_ = 0;
    std::int64_t line_ = 1;
    std::int64_t row_ = 0;
};

/// Position of a column that must exist.
/// errors  throws DataError that lists the columns and names the option to set
std::size_t required_column(const CsvReader& table, const std::string& name,
                            const std::string& option);

/// The number that all of `text` is, blanks around it aside; none when it is no finite number that
/// a float holds. One that is nearer to 0 than any float is 0.
std::optional<float> parse_number(std::string_view text);
/// The same in double.
std::optional<double> parse_exact_number(std::string_view text);

/// A value for a message: quoted, control characters and what is not UTF-8 escaped, shortened.
std::string shown(const std::string& value);

}    // namespace slipway
