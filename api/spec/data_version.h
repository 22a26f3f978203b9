#pragma once

#include <string_view>

namespace slipway {

/// Whether `text` is written as `data.version` is: the first 8 to 64 hexadecimal digits of a
/// content hash in lower case, "sha256:" before them or not.
bool is_data_version(std::string_view text);

/// Whether a dataset with this content hash ("sha256:…") is the one that `version` means.
/// `version` is written as is_data_version says.
bool is_of_version(std::string_view content_hash, std::string_view version);

}    // namespace slipway
