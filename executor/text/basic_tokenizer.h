#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipway {

/// Divides text into words as BERT's BasicTokenizer does (Devlin et al.,
/// github.com/google-research/bert, tokenization.py): control characters, NUL and U+FFFD go; every
/// CJK ideograph and every punctuation character is a word of its own, everything else is divided
/// at white space. `lower_case`: in lower case, without accents (decomposed, marks taken away).
/// `text` is UTF-8. Words are UTF-8 and not empty.
std::vector<std::string> basic_words(std::string_view text, bool lower_case);

}    // namespace slipway
