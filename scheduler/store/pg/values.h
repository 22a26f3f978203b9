#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"

struct pg_result;

namespace slipway::store {

/// A statement of queries/*.sql, embedded at build time. Prepared once per connection.
struct Query {
    const char* name;
    const char* sql;
};

/// One parameter of a statement, in PostgreSQL's text form; nothing = null. Arrays become array
/// literals. Text is passed as it is: what the database cannot hold is its error to raise.
class Param {
public:
    Param(std::nullopt_t) {}                           // NOLINT(google-explicit-constructor)
    Param(std::string text);                           // NOLINT(google-explicit-constructor)
    Param(std::string_view text);                      // NOLINT(google-explicit-constructor)
    Param(const char* text);                           // NOLINT(google-explicit-constructor)
    Param(bool flag);                                  // NOLINT(google-explicit-constructor)
    Param(int number);                                 // NOLINT(google-explicit-constructor)
    Param(std::int64_t number);                        // NOLINT(google-explicit-constructor)
    Param(double number);                              // NOLINT(google-explicit-constructor)
    Param(Instant instant);                            // NOLINT(google-explicit-constructor)
    Param(std::chrono::milliseconds duration);         // NOLINT: seconds with fraction
    Param(const std::vector<std::string>& values);     // NOLINT(google-explicit-constructor)
    Param(const std::vector<int>& values);             // NOLINT(google-explicit-constructor)
    Param(const std::vector<std::int64_t>& values);    // NOLINT(google-explicit-constructor)
    Param(const std::vector<double>& values);          // NOLINT(google-explicit-constructor)
    template <class T>
    Param(const std::optional<T>& value) {    // NOLINT(google-explicit-constructor)
        if (value) *this = Param(*value);
    }

    /// Null when the text is empty: for columns where "" means "none".
    static Param or_null(std::string_view text);
    /// Null when the list is empty: no such condition.
    static Param or_null(const std::vector<std::string>& values);
    /// An array of values that may be null.
    static Param array(const std::vector<Param>& values);

    const char* text() const { return text_ ? text_->c_str() : nullptr; }
    /// Bytes after a NUL would be lost on the wire; the connection refuses such a parameter.
    bool has_nul() const { return text_ && text_->find('\0') != std::string::npos; }

private:
    std::optional<std::string> text_;
};

/// A statement with its parameters, to be sent with others in one round trip.
struct Statement {
    const Query* query;
    std::vector<Param> params;
};

/// One row of an answer, valid as long as its Rows. Columns are named as in the query; a name it
/// does not have, or a value of another type, is a bug.
class Row {
public:
    Row(const pg_result* result, int index) : result_(result), index_(index) {}

    bool is_null(std::string_view column) const;
    /// Empty for null.
    std::string text(std::string_view column) const;
    std::int64_t integer(std::string_view column) const;
    int small(std::string_view column) const { return int(integer(column)); }
    double number(std::string_view column) const;
    bool flag(std::string_view column) const;
    Instant time(std::string_view column) const;
    std::optional<std::int64_t> maybe_integer(std::string_view column) const;
    std::optional<int> maybe_small(std::string_view column) const;
    std::optional<double> maybe_number(std::string_view column) const;
    std::optional<Instant> maybe_time(std::string_view column) const;
    /// Of type bytea.
    std::string bytes(std::string_view column) const;
    /// An array without nulls; empty for null.
    std::vector<std::string> texts(std::string_view column) const;
    std::vector<int> smalls(std::string_view column) const;

private:
    std::string_view view(std::string_view column) const;
    int index_of(std::string_view column) const;
    const pg_result* result_;
    int index_;
};

/// The answer to one statement.
class Rows {
public:
    explicit Rows(pg_result* owned);

    int size() const;
    bool empty() const { return size() == 0; }
    Row operator[](int index) const { return {result_.get(), index}; }
    /// Rows inserted, updated or deleted by a statement that returns none.
    std::int64_t affected() const;
    /// For the connection.
    const pg_result* raw() const { return result_.get(); }

    class Iterator {
    public:
        Iterator(const pg_result* result, int index) : result_(result), index_(index) {}
        Row operator*() const { return {result_, index_}; }
        Iterator& operator++() {
            ++index_;
            return *this;
        }
        bool operator!=(const Iterator& other) const { return index_ != other.index_; }

    private:
        const pg_result* result_;
        int index_;
    };
    Iterator begin() const { return {result_.get(), 0}; }
    Iterator end() const { return {result_.get(), size()}; }

private:
    struct Clear {
        void operator()(pg_result* result) const;
    };
    std::unique_ptr<pg_result, Clear> result_;
};

}    // namespace slipway::store
