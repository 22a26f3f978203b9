#pragma once

#include "server/main/options.h"

namespace slipway {

/// The commands that do one thing and end. Each returns the exit status; errors are thrown.
int migrate(const Options& options);
int print_login_link(const Options& options);
int print_version();

}    // namespace slipway
