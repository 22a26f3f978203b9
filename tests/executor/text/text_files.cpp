#include "tests/executor/text/text_files.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unicode/uchar.h>

#include <cstdlib>
#include <sstream>

#include "executor/tensor/random.h"
#include "executor/text/code_points.h"

namespace slipway {

namespace {

constexpr int cannot_exit = 77;    // what the script exits with when a module is missing

bool is_known_since_unicode_14(UChar32 point) {
    UVersionInfo age;
    u_charAge(point, age);
    return age[0] > 0 && age[0] <= 14 && U_IS_SURROGATE(point) == 0 && point != 0;
}

}    // namespace

std::string many_scripts() {
    return "Don't they've I'LL we'd it's rock'n'roll ''s 'tis\n"
           "Na\xC3\xAFve caf\xC3\xA9 re\xCC\x81sume\xCC\x81 \xC4\xB0stanbul Stra\xC3\x9F"
           "e \xC3\x85ngstr\xC3\xB6m\n"
           "ΟΔΥΣΣΕΥΣ ΣΣ Σ ὈΔΥΣΣΕΎΣ, ἀρχή.\n"
           "Привет, МИР! Ёлка й щё\n"
           "مرحبا بالعالم ١٢٣ שלום עולם\n"
           "नमस्ते दुनिया १२३ สวัสดีชาวโลก\n"
           "你好,世界。東京タワー カタカナ ひらがな 안녕하세요 세계\n"
           "😀👍🏽 👨‍👩‍👧 ½ ² ⅷ $100.00 1,234.5e-6 x^2 `code` a_b\n"
           "tab\there  two   three    \n\n\n  indented\r\nwindows\r\n"
           "\xC2\xA0nbsp\xC2\xA0 em\xE2\x80\x83space line\xE2\x80\xA8sep para\xE2\x80\xA9sep "
           "ideo\xE3\x80\x80graphic\n"
           "a\x01"
           "b\x7F"
           "c\x0B"
           "d\x0C"
           "e\xC2\x85"
           "f\xC2\xADg\xE2\x80\x8Bh\xEF\xBB\xBFi\xEF\xBF\xBDj\n"
           "[MASK] [CLS]x[SEP] <|endoftext|>next <unk> [UNK] ##ing [mask]\n"
           "trailing space \n   ";
}

std::string random_text(std::int64_t count, std::uint64_t seed) {
    RandomStream random(seed, site_bench, 0);
    constexpr std::string_view common = "abcDEF '1.\n\t  ";
    std::string text;
    while (count > 0) {
        const auto point = UChar32(random.next_below(random.next_below(2) == 0 ? 0x3000 : 0x20000));
        if (!is_known_since_unicode_14(point)) continue;
        append_utf8(text, point);
        for (std::uint64_t more = random.next_below(4); more > 0; --more)
            text += common[std::size_t(random.next_below(common.size()))];
        --count;
    }
    return text;
}

std::string wikitext(std::size_t bytes) {
    if (test_data_folder().empty()) return {};
    const std::string text =
        read_file(test_data_folder() / "wikitext2" / "valid.txt").substr(0, bytes);
    return text.substr(0, text.rfind('\n') + 1);
}

void Reference::ask(const std::string& kind, const std::vector<std::string>& arguments) {
    // Debian's Python, which Debian's modules belong to, whatever else is on the path.
    const std::string command = fmt::format(
        "cd {} && /usr/bin/python3 {}/tests/executor/text/reference_tokens.py {} {} > said 2> "
        "wrong",
        folder.path().string(), SLIPWAY_SOURCE_DIR, kind, fmt::join(arguments, " "));
    const int status = std::system(command.c_str());
    possible = WIFEXITED(status) && WEXITSTATUS(status) != cannot_exit;
    if (!possible) return;
    EXPECT_EQ(status, 0) << command << "\n" << read_file(folder.path() / "wrong");
    std::istringstream text(read_file(folder.path() / "said"));
    lines.clear();
    for (std::string line; std::getline(text, line);) {
        std::istringstream numbers(line);
        lines.emplace_back();
        for (std::int32_t number = 0; numbers >> number;)
            lines.back().push_back(number);
    }
}

std::vector<std::int32_t> tokens_of(const Tokenizer& tokenizer, const std::string& text) {
    std::vector<std::int32_t> tokens;
    tokenizer.encode(text, tokens);
    return tokens;
}

std::unique_ptr<Tokenizer> open_tokenizer(TokenizerOptions options, const TempFolder& folder,
                                          const std::string& training_text) {
    const std::string_view text = training_text;
    return make_tokenizer(options, Folder(folder.path()), {&text, 1});
}

}    // namespace slipway
