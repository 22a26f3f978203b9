#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>

namespace slipway {

/// error: a person must act. warn: it healed, look anyway. info: a state changed. debug: off in
/// production.
enum class LogLevel { debug, info, warn, error };

/// One key=value of a log line. Any value fmt can print.
struct LogField {
    template <class T>
    LogField(std::string_view key_, const T& value_) : key(key_), value(fmt::to_string(value_)) {}
    std::string_view key;
    std::string value;
};

/// Where lines go from now on: stderr, and `file` too unless it is empty. Called once, by a main.
void start_logging(LogLevel least, const std::string& file = {});

/// One line per fact: time, level, message, key=value. Values with spaces are quoted. Safe from
/// every thread. Never a secret, a token or a body.
void log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});

inline void log_debug(std::string_view message, std::initializer_list<LogField> fields = {}) {
    log(LogLevel::debug, message, fields);
}
inline void log_info(std::string_view message, std::initializer_list<LogField> fields = {}) {
    log(LogLevel::info, message, fields);
}
inline void log_warn(std::string_view message, std::initializer_list<LogField> fields = {}) {
    log(LogLevel::warn, message, fields);
}
inline void log_error(std::string_view message, std::initializer_list<LogField> fields = {}) {
    log(LogLevel::error, message, fields);
}

}    // namespace slipway
