#pragma once

#include <cstddef>
#include <string>

namespace slipway::client {

/// Columns of the terminal of stdout; 80 where it does not say, or is narrower than 20.
std::size_t terminal_columns();

/// What a command that waits shows on stdout: on a terminal one line that is written over, cut to
/// its columns; else a line for each change. For one thread.
class StatusLine {
public:
    StatusLine();
    /// Nothing when it is the line that is shown.
    void show(const std::string& line);
    /// Shows the last line whole; what follows begins on a line of its own.
    void end() const;

private:
    bool on_terminal_;
    std::string shown_;
};

}    // namespace slipway::client
