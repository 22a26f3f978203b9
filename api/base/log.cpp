#include "api/base/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>

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

/// A line stays a line and a value stays a value, whatever a user put into it.
std::string quoted_when_needed(const std::string& value) {
    const bool plain = !value.empty() && value.find_first_of(" \"\\=\n\r\t") == std::string::npos;
    if (plain) return value;
    std::string text = "\"";
    for (const char c : value) {
        if (c == '"' || c == '\\') text += '\\';
        if (c == '\n' || c == '\r') {
            text += "\\n";
        } else {
            text += c;
        }
    }
    return text + '"';
}

std::atomic<bool> started = false;

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
    std::vector<spdlog::sink_ptr> sinks{std::make_shared<spdlog::sinks::stderr_sink_mt>()};
    if (!file.empty()) sinks.push_back(std::make_shared<spdlog::sinks::basic_file_sink_mt>(file));
    auto logger = std::make_shared<spdlog::logger>("slipway", sinks.begin(), sinks.end());
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
    logger->set_level(level_of(least));
    logger->flush_on(spdlog::level::info);
    spdlog::set_default_logger(std::move(logger));
    started = true;
}

void log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
    start_by_default();
    const auto at = level_of(level);
    if (!spdlog::should_log(at)) return;
    std::string line(message);
    for (const LogField& field : fields) {
        line += ' ';
        line += field.key;
        line += '=';
        line += quoted_when_needed(field.value);
    }
    spdlog::log(at, "{}", line);
}

}    // namespace slipway
