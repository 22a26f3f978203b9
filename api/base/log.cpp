#include "api/base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "api/base/log_file.h"
#include "api/base/log_format.h"
#include "api/base/log_sinks.h"

namespace slipway {

namespace {

spdlog::level::level_enum level_of(LogLevel level) {
    switch (level) {
        case LogLevel::debug:
            return spdlog::level::debug;
        case LogLevel::info:
            return spdlog::level::info;
        case LogLevel::warn:
            return spdlog::level::warn;
        case LogLevel::error:
            return spdlog::level::err;
    }
    return spdlog::level::err;
}

/// Above this a value is cut: who sends requests decides how long a path is, not how large the log.
constexpr std::size_t value_bytes_max = 256;
/// Of messages, which are ours and which a person needs whole.
constexpr std::size_t message_bytes_max = 2048;

std::string cut(std::string_view key, const std::string& value) {
    const bool message = key == "error" || key == "reason" || key == "message";
    const std::size_t bytes_max = message ? message_bytes_max : value_bytes_max;
    if (value.size() <= bytes_max) return value;
    std::size_t end = bytes_max;
    while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xc0) == 0x80)
        --end;    // between characters
    return fmt::format("{}... ({} bytes)", std::string_view(value).substr(0, end), value.size());
}

/// What makes a terminal do something: C0, DEL, and C1 as UTF-8 or as single bytes.
bool is_control(std::string_view text, std::size_t at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x20 || byte == 0x7f) return true;
    const auto before = at > 0 ? static_cast<unsigned char>(text[at - 1]) : 0;
    return byte >= 0x80 && byte <= 0x9f && (before < 0x80 || before == 0xc2);
}

std::string escaped(char c) {
    switch (c) {
        case '\n':
            return "\\n";
        case '\r':
            return "\\r";
        case '\t':
            return "\\t";
        default:
            return fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
}

/// A line stays a line and a value stays a value, whatever a user put into it.
std::string quoted_when_needed(const std::string& value) {
    bool plain = !value.empty() && value.find_first_of(" \"\\=") == std::string::npos;
    for (std::size_t i = 0; i < value.size() && plain; ++i)
        plain = !is_control(value, i);
    if (plain) return value;
    std::string text = "\"";
    for (std::size_t i = 0; i < value.size(); ++i) {
        const char c = value[i];
        if (c == '"' || c == '\\') text += '\\';
        text += is_control(value, i) ? escaped(c) : std::string(1, c);
    }
    return text + '"';
}

std::atomic<bool> started = false;
std::atomic<LogFormat> used_format = LogFormat::text;

std::string text_line(std::string_view message, std::initializer_list<LogField> fields) {
    std::string line(message);
    for (const LogField& field : fields) {
        line += ' ';
        line += field.key;
        line += '=';
        line += quoted_when_needed(cut(field.key, field.value));
    }
    return line;
}

std::string json_text(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// The end of the object that json_pattern begins.
std::string json_line(std::string_view message, std::initializer_list<LogField> fields) {
    std::string line = fmt::format(R"("message":{},"fields":{{)", json_text(message));
    const char* comma = "";
    for (const LogField& field : fields) {
        line += fmt::format("{}{}:{}", comma, json_text(field.key),
                            json_text(cut(field.key, field.value)));
        comma = ",";
    }
    return line + "}}";
}

struct FormatRow {
    const char* pattern;
    std::string (*line)(std::string_view message, std::initializer_list<LogField> fields);
};
const FormatRow& row_of(LogFormat format) {
    static constexpr FormatRow text{"%Y-%m-%dT%H:%M:%S.%eZ %l %v", text_line};
    static constexpr FormatRow json{R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v)",
                                    json_line};
    return format == LogFormat::json ? json : text;
}

/// Until a program says where to: stderr, so that what a command prints stays clean.
void start_by_default() {
    static const bool once = [] {
        if (!started) start_logging(LogLevel::info, "");
        return true;
    }();
    (void)once;
}

}    // namespace

void start_logging(LogLevel least, const std::string& file) {
    if (file.empty())
        start_logging_into(least, LogSinks{});
    else
        start_logging(least, LogFileOptions{.path = file});
}

void start_logging_into(LogLevel least, LogSinks sinks) {
    std::vector<spdlog::sink_ptr> used;
    if (sinks.to_stderr) used.push_back(std::make_shared<spdlog::sinks::stderr_sink_mt>());
    if (sinks.file) used.push_back(std::move(sinks.file));
    auto logger = std::make_shared<spdlog::logger>("slipway", used.begin(), used.end());
    logger->set_pattern(row_of(used_format).pattern, spdlog::pattern_time_type::utc);
    logger->set_level(level_of(least));
    logger->flush_on(spdlog::level::info);
    spdlog::set_default_logger(std::move(logger));
    started = true;
}

void log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
    start_by_default();
    const auto at = level_of(level);
    if (!spdlog::should_log(at)) return;
    spdlog::log(at, "{}", row_of(used_format).line(message, fields));
}

void set_log_format(LogFormat format) {
    used_format = format;
}

}    // namespace slipway
