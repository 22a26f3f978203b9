#pragma once

#include <string>
#include <vector>

#include "server/main/raw_options.h"

namespace slipway {

/// Fills in the join token of the environment or of its file: never on the command line, which
/// every user can read.
/// errors  CLI::ValidationError, as all of these: the message names the option
void find_join_token(RawOptions& raw);

/// The folders with all links followed.
std::vector<DatasetRoot> resolved_roots(const std::vector<std::string>& texts);

/// An address that cannot be one, or that the internet reaches; none is fine.
void check_slice_address(const Options& options);

/// What can only be judged once the command line and the file are both read.
void check_together(const RawOptions& raw);

}    // namespace slipway
