// How fast text becomes tokens: bytes of text for each second of CPU time, the best of some rounds.
// usage: bench_tokenizers FOLDER_OF_TEXT [ROUNDS]
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <map>

#include "executor/data/formats/text.h"
#include "executor/text/tokenizer.h"

namespace slipway {

namespace {

double cpu_seconds() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

std::string whole_text(const std::filesystem::path& path) {
    ProblemLog problems(ProblemLog::Mode::throw_first);
    std::string text;
    for (const std::string& file : text_files(path))
        text += read_text_part(text_folder(path), file, problems).text;
    return text;
}

/// A vocabulary as BERT's are: characters, and the beginnings and endings of frequent words.
std::string wordpiece_vocabulary(const std::string& text) {
    std::map<std::string, std::int64_t> words;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find_first_of(" \n", begin), text.size());
        ++words[text.substr(begin, end - begin)];
        begin = end + 1;
    }
    std::string lines = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
    for (char letter = '!'; letter <= '~'; ++letter) {
        lines += letter;
        if (letter != '#') lines += std::string("\n##") + letter;
        lines += '\n';
    }
    for (const auto& [word, count] : words) {
        const bool plain =
            std::all_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
        if (count >= 10 && plain && word.size() > 1) lines += word + "\n";
    }
    return lines;
}

void measure_encoding(const char* name, const Tokenizer& tokenizer, const std::string& text,
                      int rounds) {
    double best = 1e9;
    std::size_t count = 0;
    for (int round = 0; round < rounds; ++round) {
        std::vector<std::int32_t> tokens;
        const double begin = cpu_seconds();
        tokenizer.encode(text, tokens);
        best = std::min(best, cpu_seconds() - begin);
        count = tokens.size();
    }
    fmt::print("{:<10} {:>8.1f} MB/s  {:>6.2f} bytes a token, {} tokens known\n", name,
               double(text.size()) / best / 1e6, double(text.size()) / double(count),
               tokenizer.vocabulary_size());
}

}    // namespace

}    // namespace slipway

int main(int argc, char** argv) {
    using namespace slipway;
    if (argc < 2) {
        fmt::print(stderr, "usage: bench_tokenizers FOLDER_OF_TEXT [ROUNDS]\n");
        return 2;
    }
    const int rounds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 5;
    const std::string text = whole_text(argv[1]);
    const std::string_view view = text;
    const std::filesystem::path scratch =
        std::filesystem::temp_directory_path() / fmt::format("bench_tokenizers_{}", getpid());
    std::filesystem::create_directories(scratch);
    std::FILE* file = std::fopen((scratch / "vocab.txt").c_str(), "w");
    fmt::print(file, "{}", wordpiece_vocabulary(text));
    std::fclose(file);
    const Folder folder(scratch);
    const double begin = cpu_seconds();
    const auto bpe =
        make_tokenizer({.type = TokenizerType::bpe, .vocabulary_size = 8192}, folder, {&view, 1});
    fmt::print("{} bytes; training bpe took {:.2f} s\n", text.size(), cpu_seconds() - begin);
    measure_encoding("byte", *make_tokenizer({}, folder, {}), text, rounds);
    measure_encoding("character",
                     *make_tokenizer({.type = TokenizerType::character}, folder, {&view, 1}), text,
                     rounds);
    measure_encoding(
        "wordpiece",
        *make_tokenizer({.type = TokenizerType::wordpiece, .file = "vocab.txt"}, folder, {}), text,
        rounds);
    measure_encoding("bpe", *bpe, text, rounds);
    std::filesystem::remove_all(scratch);
    return 0;
}
