#include "executor/checkpoint/durable_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <string>

#include "api/base/error.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t block = std::size_t{1} << 20;

std::string text_of(std::size_t bytes) {
    std::string text(bytes, '\0');
    for (std::size_t i = 0; i < bytes; ++i)
        text[i] = char(i * 2654435761U >> 13);
    return text;
}

/// Writes a text in pieces of so many bytes.
WrittenFile write_in_pieces(const fs::path& path, const std::string& text, std::size_t piece) {
    DurableFile file(path);
    for (std::size_t at = 0; at < text.size(); at += piece)
        file.write(std::as_bytes(std::span(text).subspan(at, std::min(piece, text.size() - at))));
    return file.finish();
}

std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}    // namespace

TEST(DurableFile, has_the_bytes_and_the_hash_of_what_was_written_whatever_the_size) {
    const TempFolder folder;
    // In memory, where the page cache may not be passed by, and on a disk.
    const fs::path in_memory = "/dev/shm/durable_file_" + std::to_string(getpid());
    for (const fs::path& path : {folder.path() / "file", in_memory}) {
        for (const std::size_t bytes :
             {std::size_t{0}, std::size_t{5}, block - 1, block, block + 1, 3 * block + 4097}) {
            const std::string text = text_of(bytes);
            for (const std::size_t piece : {std::size_t{1000}, block, 4 * block}) {
                const WrittenFile written = write_in_pieces(path, text, piece);
                EXPECT_EQ(written.bytes, std::int64_t(bytes));
                EXPECT_EQ(written.sha256, sha256_hex(text)) << bytes << " in " << piece;
                EXPECT_TRUE(read(path) == text) << bytes << " in " << piece;
            }
        }
        fs::remove(path);
    }
}

TEST(DurableFile, is_removed_unless_it_was_finished) {
    const TempFolder folder;
    const std::string text = text_of(2 * block + 1);
    {
        DurableFile file(folder.path() / "file");
        file.write(std::as_bytes(std::span(text)));
    }
    EXPECT_FALSE(fs::exists(folder.path() / "file"));
}

// Goal: a disk that fills up in the middle of a block is named, and nothing stays.
// Method: a child process that may write so much to a file.
TEST(DurableFile, a_disk_that_fills_up_anywhere_is_an_error) {
    const TempFolder folder;
    for (const std::size_t bytes_max : {block, block + 100, 2 * block + 4096, 3 * block + 50}) {
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            const rlimit limit{bytes_max, bytes_max};
            signal(SIGXFSZ, SIG_IGN);
            setrlimit(RLIMIT_FSIZE, &limit);
            try {
                write_in_pieces(folder.path() / "file", text_of(3 * block + 100), block);
            } catch (const Error& error) {    // what the parent looks at
                _exit(error.code() == ErrorCode::exhausted ? 42 : 1);
            }
            _exit(0);
        }
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFEXITED(status));
        EXPECT_EQ(WEXITSTATUS(status), 42) << bytes_max;
        EXPECT_FALSE(fs::exists(folder.path() / "file"));
    }
}

}    // namespace slipway
