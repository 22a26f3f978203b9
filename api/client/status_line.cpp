#include "api/client/status_line.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "api/client/progress_line.h"

namespace slipway::client {

std::size_t terminal_columns() {
    winsize size{};
    const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20;
    return known ? size.ws_col : 80;
}

StatusLine::StatusLine() : on_terminal_(isatty(STDOUT_FILENO) == 1) {}

void StatusLine::show(const std::string& line) {
    if (line == shown_) return;
    shown_ = line;
    if (on_terminal_) {
        fmt::print("\r\x1b[K{}", cut_to(line, terminal_columns() - 1));
    } else {
        fmt::print("{}\n", line);
    }
    std::fflush(stdout);
}

void StatusLine::end() const {
    if (on_terminal_) fmt::print("\r\x1b[K{}\n", shown_);
}

}    // namespace slipway::client
