// Files leave the server whole or by one range, and only from below their root.
#include "server/http/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdio>
#include <thread>

#include "api/base/posix.h"
#include "server/http/problem.h"
#include "tests/server/http/sample_server.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

// Goal: both ways of opening refuse whatever leaves the root. Method: every escape we know, tried
// with openat2 and with the way of older kernels.
TEST(OpenBelow, opens_what_is_below_and_nothing_else) {
    const TempFolder outside, root;
    outside.write("secret", "no");
    root.write("a/b/file", "yes");
    root.write("top", "yes");
    fs::create_symlink(outside.path() / "secret", root.path() / "link_out");
    fs::create_symlink("top", root.path() / "link_inside");
    fs::create_directory_symlink(outside.path(), root.path() / "folder_out");
    fs::create_directory_symlink("a", root.path() / "folder_inside");
    fs::create_directory_symlink("/proc/self/root", root.path() / "magic");
    ASSERT_EQ(mkfifo((root.path() / "pipe").c_str(), 0600), 0);
    const struct {
        std::string relative;
        bool opens;
    } cases[]{
        {"top", true},
        {"a/b/file", true},
        {"", false},
        {".", false},
        {"..", false},
        {"missing", false},
        {"a", false},
        {"a/", false},
        {"top/", false},
        {"top/x", false},
        {"/top", false},
        {"//top", false},
        {"a//b/file", false},
        {"./top", false},
        {"a/../top", false},
        {"../" + root.path().filename().string() + "/top", false},
        {"../" + outside.path().filename().string() + "/secret", false},
        {(outside.path() / "secret").string(), false},
        {"link_out", false},
        {"link_inside", false},
        {"folder_out/secret", false},
        {"folder_inside/b/file", false},
        {"magic/etc/passwd", false},
        {"pipe", false},
        {std::string("top\0x", 5), false},
        {std::string(300, 'n'), false},
    };
    for (const auto& row : cases) {
        EXPECT_EQ(open_below(root.path(), row.relative).has_value(), row.opens) << row.relative;
        EXPECT_EQ(open_below_by_steps(root.path(), row.relative).has_value(), row.opens)
            << row.relative;
    }
    EXPECT_FALSE(open_below(root.path() / "missing", "top"));
}

TEST(OpenBelow, tells_the_size) {
    const TempFolder root;
    root.write("file", "12345");
    EXPECT_EQ(open_below(root.path(), "file")->bytes, 5U);
}

// Goal: a reader finds a file whose folder, its root or one below, is replaced again and again by
// one with the same file.
// Method: as a scheduler does it: a second name, then the folders change places, then the first
// name goes.
TEST(OpenBelow, finds_a_file_while_its_folder_is_replaced) {
    const TempFolder root;
    root.write("job/file", "12345");
    fs::create_directory(root.path() / "fresh");
    std::atomic<int> replaced = 0;
    std::thread replaces([&] {
        const auto job = root.path() / "job", fresh = root.path() / "fresh";
        for (; replaced < 5'000; ++replaced) {
            fs::create_hard_link(job / "file", fresh / "file");
            ASSERT_EQ(renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, job.c_str(), RENAME_EXCHANGE),
                      0);
            fs::remove(fresh / "file");
        }
    });
    int missing = 0;
    while (replaced < 5'000)
        missing += !open_below(root.path(), "job/file") ||
                   !open_below_by_steps(root.path(), "job/file") ||
                   !open_below(root.path() / "job", "file");
    replaces.join();
    EXPECT_EQ(missing, 0);
}

class Ranges : public testing::Test {
protected:
    Ranges() { sample.folder.write("file", "0123456789"); }
    RawAnswer ask(const std::string& headers, const std::string& method = "GET") {
        RawHttp connection(sample.port());
        connection.send(method + " /file HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n");
        return connection.read_answer(method == "HEAD");
    }
    SampleServer sample;
};

TEST_F(Ranges, one_range_is_answered_exactly) {
    const struct {
        std::string range;
        int status;
        std::string body, content_range;
    } cases[]{
        {"bytes=0-0", 206, "0", "bytes 0-0/10"},
        {"bytes=0-9", 206, "0123456789", "bytes 0-9/10"},
        {"bytes=2-5", 206, "2345", "bytes 2-5/10"},
        {"bytes=5-", 206, "56789", "bytes 5-9/10"},
        {"bytes=9-", 206, "9", "bytes 9-9/10"},
        {"bytes=5-100", 206, "56789", "bytes 5-9/10"},
        {"bytes=-1", 206, "9", "bytes 9-9/10"},
        {"bytes=-4", 206, "6789", "bytes 6-9/10"},
        {"bytes=-100", 206, "0123456789", "bytes 0-9/10"},
        {"BYTES=1-2", 206, "12", "bytes 1-2/10"},
        {"bytes=10-", 416, "", "bytes */10"},
        {"bytes=10-20", 416, "", "bytes */10"},
        {"bytes=-0", 416, "", "bytes */10"},
        // What is malformed or asks for several is ignored, as RFC 9110 allows.
        {"bytes=5-2", 200, "0123456789", ""},
        {"bytes=a-b", 200, "0123456789", ""},
        {"bytes=-", 200, "0123456789", ""},
        {"bytes=", 200, "0123456789", ""},
        {"bytes", 200, "0123456789", ""},
        {"bytes=0-1,3-4", 200, "0123456789", ""},
        {"lines=0-1", 200, "0123456789", ""},
        {"bytes=99999999999999999999-", 200, "0123456789", ""},
    };
    for (const auto& row : cases) {
        const RawAnswer answer = ask("Range: " + row.range + "\r\n");
        EXPECT_EQ(answer.status, row.status) << row.range;
        EXPECT_EQ(answer.header("content-range"), row.content_range) << row.range;
        if (row.status == 416) continue;
        EXPECT_EQ(answer.body, row.body) << row.range;
        EXPECT_EQ(answer.header("accept-ranges"), "bytes");
        EXPECT_EQ(answer.header("etag"), "\"v1\"");
        EXPECT_TRUE(answer.header("content-disposition").starts_with("attachment"));
    }
}

TEST_F(Ranges, if_range_decides_between_the_part_and_the_whole) {
    EXPECT_EQ(ask("Range: bytes=2-3\r\nIf-Range: \"v1\"\r\n").status, 206);
    EXPECT_EQ(ask("Range: bytes=2-3\r\nIf-Range: \"v0\"\r\n").body, "0123456789");
    EXPECT_EQ(ask("Range: bytes=2-3\r\nIf-Range: W/\"v1\"\r\n").status, 200);
    EXPECT_EQ(ask("Range: bytes=2-3\r\nIf-Range: Fri, 20 Nov 2026 20:37:00 GMT\r\n").status, 200);
}

TEST_F(Ranges, if_none_match_wins_over_a_range) {
    EXPECT_EQ(ask("Range: bytes=2-3\r\nIf-None-Match: \"v1\"\r\n").status, 304);
    EXPECT_EQ(ask("Range: bytes=2-3\r\nIf-None-Match: \"v0\"\r\n").status, 206);
}

TEST_F(Ranges, if_match_must_name_the_file) {
    EXPECT_EQ(ask("If-Match: \"v0\"\r\n").status, 412);
    EXPECT_EQ(ask("If-Match: \"v0\"\r\nRange: bytes=2-3\r\n").status, 412);
    EXPECT_EQ(ask("If-Match: W/\"v1\"\r\n").status, 412);
    EXPECT_EQ(ask("If-Match: \"v1\"\r\nRange: bytes=2-3\r\n").body, "23");
    EXPECT_EQ(ask("If-Match: *\r\n").status, 200);
}

TEST_F(Ranges, head_tells_the_whole_size) {
    const RawAnswer answer = ask("Range: bytes=2-3\r\n", "HEAD");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.header("content-length"), "10");
}

TEST_F(Ranges, a_large_file_arrives_byte_for_byte) {
    std::string content;
    for (int i = 0; i < 300'000; ++i)
        content += fmt::format("{:08x}", i);
    sample.folder.write("file", content);
    EXPECT_TRUE(ask("").body == content);
    EXPECT_TRUE(ask("Range: bytes=1000000-1999999\r\n").body ==
                content.substr(1'000'000, 1'000'000));
}

TEST_F(Ranges, no_piece_follows_an_ended_permit) {
    sample.folder.write("file", "");
    std::filesystem::resize_file(sample.folder.path() / "file", huge_answer_bytes);
    RawHttp connection(sample.port());
    connection.shrink_receive_buffer(4096);
    connection.send(plain_get("/file"));
    std::size_t bytes = connection.read_some().size();
    EXPECT_GT(bytes, 0U);
    sample.permit->end({401, "unauthenticated", "the token was revoked"});
    for (std::string more; !(more = connection.read_some()).empty();)
        bytes += more.size();
    EXPECT_LT(bytes, huge_answer_bytes);
    EXPECT_TRUE(connection.is_closed_by_peer());
    EXPECT_EQ(ask("").status, 0) << "no new transfer starts";
}

TEST_F(Ranges, an_empty_file_is_an_empty_answer) {
    sample.folder.write("file", "");
    EXPECT_EQ(ask("").header("content-length"), "0");
    EXPECT_EQ(ask("Range: bytes=0-\r\n").status, 416);
}

TEST(FileHelpers, a_download_name_cannot_break_the_header) {
    EXPECT_EQ(attachment_disposition("model.safetensors"),
              "attachment; filename=\"model.safetensors\"; filename*=UTF-8''model.safetensors");
    EXPECT_EQ(attachment_disposition("a\"\r\nü/"),
              "attachment; filename=\"a______\"; filename*=UTF-8''a%22%0D%0A%C3%BC%2F");
}

TEST(FileHelpers, etags_are_compared_as_the_rfc_says) {
    const struct {
        std::string list, etag;
        bool weakly, strongly;
    } cases[]{
        {"\"a\"", "\"a\"", true, true},
        {"\"b\"", "\"a\"", false, false},
        {"\"b\", \"a\"", "\"a\"", true, true},
        {"W/\"a\"", "\"a\"", true, false},
        {"*", "\"a\"", true, true},
        {"", "\"a\"", false, false},
        {"\"ab\"", "\"a\"", false, false},
        {"\"a,*,b\"", "\"a\"", false, false},
        {"\"x, \"a\"", "\"a\"", false, false},
        {"\"a,b\", W/\"c\"", "\"a,b\"", true, true},
        {"\"a,b\", W/\"c\"", "\"c\"", true, false},
        {"\"a\", *", "\"b\"", false, false},
        {"a", "\"a\"", false, false},
        {"\"a", "\"a\"", false, false},
    };
    for (const auto& row : cases) {
        EXPECT_EQ(etag_listed(row.list, row.etag, true), row.weakly) << row.list;
        EXPECT_EQ(etag_listed(row.list, row.etag, false), row.strongly) << row.list;
    }
}

TEST(FileHelpers, if_match_refuses_what_has_changed) {
    Request request;
    EXPECT_NO_THROW(require_if_match(request, "\"a\""));
    request.headers = {{"if-match", "\"b\""}};
    EXPECT_NO_THROW(require_if_match(request, "\"b\""));
    try {
        require_if_match(request, "\"a\"");
        FAIL();
    } catch (const ProblemError& error) {
        EXPECT_EQ(error.fields().status, 412);
        EXPECT_EQ(error.fields().code, "precondition_failed");
    }
}

}    // namespace
}    // namespace slipway
