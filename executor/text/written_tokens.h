#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway {

/// A token that text may hold written out, as Hugging Face's "added tokens".
struct WrittenToken {
    std::string text;    ///< not empty
    std::int32_t token = 0;
    bool takes_spaces_before = false;    ///< blanks beside it belong to it
    bool takes_spaces_after = false;
};

/// Divides text at the tokens that are written out in it: from left to right, of those that begin
/// at one place the longest. Constant after construction: safe from every thread.
class WrittenTokens {
public:
    explicit WrittenTokens(std::vector<WrittenToken> tokens);

    /// Calls `plain` for what is between them (never empty) and `written` for each, in order.
    void divide(std::string_view text, const std::function<void(std::string_view)>& plain,
                const std::function<void(std::int32_t)>& written) const;

private:
    std::vector<WrittenToken> tokens_;    // longest first
};

}    // namespace slipway
