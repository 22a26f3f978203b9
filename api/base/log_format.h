#pragma once

namespace slipway {

/// text: "2026-11-26T12:00:00.000Z info request status=200".
/// json: {"time":"2026-11-26T12:00:00.000Z","level":"info","message":"request",
/// "fields":{"status":"200"}}, one object a line; what is no UTF-8 is replaced.
enum class LogFormat { text, json };

/// Of the lines from now on. Called once, by a main, before start_logging.
void set_log_format(LogFormat format);

}    // namespace slipway
