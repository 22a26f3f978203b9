// Goal: who asks for it gets less bytes of the same content, with an ETag of its own that still
// works in conditions; nobody else notices; streams, files and ranges stay as they are.
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <random>

#include "server/http/content_encoding.h"
#include "server/http/files.h"
#include "tests/server/http/sample_server.h"

namespace slipway {
namespace {

std::string inflated(std::string_view bytes) {
    std::string text(1 << 20, '\0');
    z_stream stream{};
    inflateInit2(&stream, 15 + 16);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = uInt(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(text.data());
    stream.avail_out = uInt(text.size());
    const int state = inflate(&stream, Z_FINISH);
    text.resize(stream.total_out);
    inflateEnd(&stream);
    return state == Z_STREAM_END && stream.avail_in == 0 ? text : "not gzip";
}

std::string unpacked(std::string_view bytes) {
    std::string text(1 << 20, '\0');
    const std::size_t size = ZSTD_decompress(text.data(), text.size(), bytes.data(), bytes.size());
    if (ZSTD_isError(size)) return "not zstd";
    text.resize(size);
    return text;
}

std::string decoded(const RawAnswer& answer) {
    const std::string encoding = answer.header("content-encoding");
    if (encoding.empty()) return answer.body;
    return encoding == "gzip" ? inflated(answer.body) : unpacked(answer.body);
}

TEST(ContentEncoding, the_encoding_of_the_greatest_weight_is_chosen) {
    using enum ContentEncoding;
    const std::vector<std::pair<std::string, ContentEncoding>> cases{
        {"", identity},
        {"gzip", gzip},
        {"x-gzip", gzip},
        {"GZIP, deflate, br", gzip},
        {"gzip, zstd", zstd},
        {"gzip;q=1, zstd;q=0.5", gzip},
        {"gzip;q=0.5, zstd; q=0.8", zstd},
        {"gzip;q=0", identity},
        {"zstd;q=0, gzip", gzip},
        {"*", zstd},
        {"zstd;q=0, *", gzip},
        {"*;q=0", identity},
        {"identity", identity},
        {"gzip;q=2", identity},
        {"gzip;level=9", identity},
        {"gzip;q=", identity},
        {";;,,;q=1", identity},
    };
    for (const auto& [header, wanted] : cases)
        EXPECT_EQ(choose_encoding(header), wanted) << header;
}

TEST(ContentEncoding, types_of_text_are_compressed) {
    for (const char* type : {"application/json", "text/html; charset=utf-8", "text/csv",
                             "application/problem+json", "image/svg+xml"})
        EXPECT_TRUE(is_compressible(type)) << type;
    for (const char* type : {"", "application/octet-stream", "image/png", "text/event-stream",
                             "TEXT/EVENT-STREAM; charset=utf-8"})
        EXPECT_FALSE(is_compressible(type)) << type;
}

TEST(ContentEncoding, bodies_come_back_and_those_that_do_not_shrink_are_refused) {
    std::mt19937_64 random(1);
    for (const std::size_t bytes : {1UL, 1000UL, 16384UL, 16385UL, 300'000UL}) {
        std::string text, noise;
        for (std::size_t i = 0; i < bytes; ++i) {
            text += char('a' + random() % 4);
            noise += char(random());
        }
        if (bytes >= 1000) {
            EXPECT_EQ(inflated(compressed(ContentEncoding::gzip, text).value()), text);
            EXPECT_EQ(unpacked(compressed(ContentEncoding::zstd, text).value()), text);
        }
        EXPECT_FALSE(compressed(ContentEncoding::gzip, noise)) << bytes;
        EXPECT_FALSE(compressed(ContentEncoding::zstd, noise)) << bytes;
    }
    EXPECT_FALSE(compressed(ContentEncoding::gzip, ""));
    EXPECT_FALSE(compressed(ContentEncoding::zstd, ""));
}

TEST(ContentEncoding, etags_of_both_forms_name_one_version) {
    EXPECT_EQ(encoded_etag("\"v1\"", ContentEncoding::gzip), "\"v1-gzip\"");
    EXPECT_EQ(plain_etag("\"v1-zstd\""), "\"v1\"");
    EXPECT_EQ(plain_etag("W/\"v1-gzip\""), "W/\"v1\"");
    EXPECT_TRUE(etag_listed("\"x\", \"v1-gzip\"", "\"v1\"", false));
    EXPECT_TRUE(etag_listed("\"v1\"", "\"v1-zstd\"", false));
    EXPECT_FALSE(etag_listed("\"v2-gzip\"", "\"v1\"", true));
}

class EncodedAnswers : public testing::Test {
protected:
    RawAnswer ask(std::string_view method, std::string_view path, const std::string& headers) {
        RawHttp connection(sample.port());
        connection.send(std::string(method) + ' ' + std::string(path) + " HTTP/1.1\r\nHost: a\r\n" +
                        headers + "\r\n");
        return connection.read_answer(method == "HEAD");
    }
    SampleServer sample;
};

TEST_F(EncodedAnswers, an_answer_comes_as_the_client_asks) {
    for (const std::string path : {"/list", "/script"}) {
        const RawAnswer plain = ask("GET", path, "");
        EXPECT_EQ(plain.body, sample_script());
        EXPECT_EQ(plain.header("content-encoding"), "");
        EXPECT_NE(plain.header("vary").find("Accept-Encoding"), std::string::npos);
        for (const std::string encoding : {"gzip", "zstd"}) {
            const RawAnswer answer = ask("GET", path, "Accept-Encoding: " + encoding + "\r\n");
            EXPECT_EQ(answer.status, 200);
            EXPECT_EQ(answer.header("content-encoding"), encoding);
            EXPECT_EQ(decoded(answer), sample_script());
            EXPECT_LT(answer.body.size(), sample_script().size() / 2);
            EXPECT_EQ(answer.header("vary"), plain.header("vary"));
            EXPECT_EQ(plain_etag(answer.header("etag")), plain.header("etag"));
            EXPECT_NE(answer.header("etag"), plain.header("etag"));
            const RawAnswer head = ask("HEAD", path, "Accept-Encoding: " + encoding + "\r\n");
            EXPECT_EQ(head.header("content-length"), answer.header("content-length"));
            EXPECT_EQ(head.header("etag"), answer.header("etag"));
        }
    }
}

TEST_F(EncodedAnswers, conditions_are_met_by_the_etag_of_either_form) {
    const std::string gzip = "Accept-Encoding: gzip\r\n";
    const RawAnswer same = ask("GET", "/list", gzip + "If-None-Match: \"v1-gzip\"\r\n");
    EXPECT_EQ(same.status, 304);
    EXPECT_EQ(same.header("etag"), "\"v1-gzip\"");
    EXPECT_EQ(same.header("vary"), "Accept, Accept-Encoding");
    EXPECT_EQ(same.header("content-encoding"), "");
    EXPECT_EQ(ask("GET", "/list", "If-None-Match: \"v1-gzip\"\r\n").status, 304);
    EXPECT_EQ(ask("GET", "/list", gzip + "If-None-Match: \"v1\"\r\n").status, 304);
    EXPECT_EQ(ask("GET", "/list", gzip + "If-None-Match: \"v2-gzip\"\r\n").status, 200);
    EXPECT_EQ(ask("GET", "/list", gzip + "If-Match: \"v1-zstd\"\r\n").status, 200);
    EXPECT_EQ(ask("GET", "/list", gzip + "If-Match: \"v2\"\r\n").status, 412);
}

TEST_F(EncodedAnswers, what_is_short_or_a_file_is_sent_as_it_is) {
    const std::string all = "Accept-Encoding: gzip\r\nAccept-Encoding: zstd\r\n";
    EXPECT_EQ(ask("GET", "/probe", all).body, "probe");
    EXPECT_EQ(ask("GET", "/page", all).body, "<p>hello</p>");
    sample.folder.write("file", std::string(5000, 'x'));
    const RawAnswer file = ask("GET", "/file", all);
    EXPECT_EQ(file.body, std::string(5000, 'x'));
    EXPECT_EQ(file.header("etag"), "\"v1\"");
    const RawAnswer part = ask("GET", "/file", all + "Range: bytes=0-1999\r\n");
    EXPECT_EQ(part.status, 206);
    EXPECT_EQ(part.body.size(), 2000U);
    EXPECT_EQ(decoded(ask("GET", "/list", all)), sample_script());
}

}    // namespace
}    // namespace slipway
