// Goal: there is exactly one way to read a request; what can be read in two is refused, and nothing
// of what follows a refused head is ever taken for a request.
// Method: bytes over a raw socket, one row per case, with "GET /probe" and "Connection: close" sent
// behind them. A connection that stays open answers the probe; a closed one does not. Bodies hold
// "POST /smuggled", whose handler must never run.
#include <gtest/gtest.h>

#include "tests/server/http/sample_server.h"

namespace slipway {
namespace {

struct Case {
    std::string name;
    std::string bytes;
    int status;         // of the first answer
    bool stays_open;    // the probe is answered
};

const std::string start = "POST /any HTTP/1.1\r\nHost: a\r\n";
const std::string inner = "POST /smuggled HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";

std::string post(const std::string& headers, const std::string& rest = {}) {
    return start + headers + "\r\n" + rest;
}

std::string chunks(const std::string& rest) {
    return post("Transfer-Encoding: chunked\r\n", rest);
}

std::string get(const std::string& target, const std::string& headers = "Host: a\r\n",
                const std::string& version = "HTTP/1.1") {
    return "GET " + target + " " + version + "\r\n" + headers + "\r\n";
}

std::vector<Case> encoding_cases() {
    return {
        {"content_length", post("Content-Length: 5\r\n", "hello"), 200, true},
        {"content_length_zero", post("Content-Length: 0\r\n"), 200, true},
        {"no_length_means_no_body", post(""), 200, true},
        {"chunked", chunks("5\r\nhello\r\n0\r\n\r\n"), 200, true},
        {"chunked_in_any_case", post("TRANSFER-encoding: ChUnKeD\r\n", "0\r\n\r\n"), 200, true},
        {"gzip_then_length", post("Transfer-Encoding: gzip\r\nContent-Length: 5\r\n", inner), 400,
         false},
        {"length_then_gzip", post("Content-Length: 5\r\nTransfer-Encoding: gzip\r\n", inner), 400,
         false},
        {"gzip_alone", post("Transfer-Encoding: gzip\r\n", inner), 400, false},
        {"identity", post("Transfer-Encoding: identity\r\n", inner), 400, false},
        {"xchunked", post("Transfer-Encoding: xchunked\r\n", inner), 400, false},
        {"chunkedx", post("Transfer-Encoding: chunkedx\r\n", inner), 400, false},
        {"chunked_identity", post("Transfer-Encoding: chunked, identity\r\n", inner), 400, false},
        {"gzip_chunked", post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n" + inner), 400,
         false},
        {"chunked_chunked", post("Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n"), 400,
         false},
        {"chunked_with_comma", post("Transfer-Encoding: chunked,\r\n", "0\r\n\r\n"), 400, false},
        {"chunked_with_parameter", post("Transfer-Encoding: chunked;q=1\r\n", "0\r\n\r\n"), 400,
         false},
        {"chunked_in_quotes", post("Transfer-Encoding: \"chunked\"\r\n", "0\r\n\r\n"), 400, false},
        {"chunked_twice",
         post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400,
         false},
        {"chunked_and_identity_lines",
         post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "0\r\n\r\n"), 400,
         false},
        {"empty_transfer_encoding", post("Transfer-Encoding:\r\n", inner), 400, false},
        {"vertical_tab_chunked", post("Transfer-Encoding: \vchunked\r\n", "0\r\n\r\n"), 400, false},
        {"transfer_encoding_with_underscore",
         post("Transfer_Encoding: chunked\r\n", "0\r\n\r\n" + inner), 400, false},
        {"chunked_in_http_1_0",
         "POST /any HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + inner,
         400, false},
    };
}

std::vector<Case> length_cases() {
    return {
        {"length_and_chunked",
         post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n" + inner), 400,
         false},
        {"chunked_and_length",
         post("Transfer-Encoding: chunked\r\nContent-Length: 65\r\n", "0\r\n\r\n" + inner), 400,
         false},
        {"two_equal_lengths", post("Content-Length: 5\r\nContent-Length: 5\r\n", "hello"), 400,
         false},
        {"two_different_lengths", post("Content-Length: 0\r\nContent-Length: 65\r\n", inner), 400,
         false},
        {"list_of_lengths", post("Content-Length: 5, 5\r\n", "hello"), 400, false},
        {"plus_length", post("Content-Length: +5\r\n", "hello"), 400, false},
        {"minus_length", post("Content-Length: -5\r\n", "hello"), 400, false},
        {"hex_length", post("Content-Length: 0x5\r\n", "hello"), 400, false},
        {"length_with_space_inside", post("Content-Length: 1 5\r\n", "hello"), 400, false},
        {"length_with_fraction", post("Content-Length: 5.0\r\n", "hello"), 400, false},
        {"empty_length", post("Content-Length: \r\n", inner), 400, false},
        {"length_of_20_digits", post("Content-Length: 18446744073709551621\r\n", "hello"), 400,
         false},
        {"length_of_19_digits_is_too_large", post("Content-Length: 9999999999999999999\r\n"), 413,
         false},
        {"length_with_leading_zeros", post("Content-Length: 0005\r\n", "hello"), 200, true},
        {"length_with_underscore", post("Content_Length: 65\r\n", inner), 400, false},
        {"space_before_colon_of_length", post("Content-Length : 5\r\n", "hello"), 400, false},
        {"body_for_get", get("/probe", "Host: a\r\nContent-Length: 65\r\n") + inner, 400, false},
        {"chunked_body_for_get",
         get("/probe", "Host: a\r\nTransfer-Encoding: chunked\r\n") + "0\r\n\r\n" + inner, 400,
         false},
        {"body_for_a_route_without",
         "POST /empty HTTP/1.1\r\nHost: a\r\nContent-Length: 65\r\n\r\n" + inner, 400, false},
        {"body_for_no_route",
         "POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 65\r\n\r\n" + inner, 404, false},
        {"body_for_another_method",
         "PUT /any HTTP/1.1\r\nHost: a\r\nContent-Length: 65\r\n\r\n" + inner, 405, false},
    };
}

std::vector<Case> chunk_cases() {
    return {
        {"chunk_size_in_capitals", chunks("A\r\n0123456789\r\n0\r\n\r\n"), 200, true},
        {"chunk_extension_is_dropped", chunks("5;a=b\r\nhello\r\n0\r\n\r\n"), 200, true},
        {"trailer_is_dropped", chunks("0\r\nX-Trailer: a\r\n\r\n"), 200, true},
        {"close_in_a_trailer_is_dropped", chunks("0\r\nConnection: close\r\n\r\n"), 200, true},
        {"length_in_a_trailer_is_dropped", chunks("0\r\nContent-Length: 65\r\n\r\n"), 200, true},
        {"empty_chunk_size", chunks("\r\nhello\r\n0\r\n\r\n" + inner), 400, false},
        {"chunk_size_0x5", chunks("0x5\r\nhello\r\n0\r\n\r\n" + inner), 400, false},
        {"chunk_size_plus", chunks("+5\r\nhello\r\n0\r\n\r\n" + inner), 400, false},
        {"chunk_size_minus", chunks("-5\r\nhello\r\n0\r\n\r\n" + inner), 400, false},
        {"chunk_size_with_space_before", chunks(" 5\r\nhello\r\n0\r\n\r\n" + inner), 400, false},
        {"chunk_size_with_space_after", chunks("5 \r\nhello\r\n0\r\n\r\n" + inner), 400, false},
        {"chunk_size_with_underscore", chunks("0_5\r\nhello\r\n0\r\n\r\n" + inner), 400, false},
        {"chunk_size_not_hex", chunks("g\r\nhello\r\n0\r\n\r\n" + inner), 400, false},
        {"chunk_size_of_17_digits", chunks("00000000000000005\r\nhello\r\n0\r\n\r\n"), 400, false},
        {"chunk_size_of_16_digits", chunks("0000000000000005\r\nhello\r\n0\r\n\r\n"), 200, true},
        {"chunk_size_that_wraps", chunks("ffffffffffffffff\r\nhello\r\n" + inner), 413, false},
        {"chunk_size_line_with_bare_lf", chunks("5\nhello\r\n0\r\n\r\n" + inner), 400, false},
        {"chunk_size_line_with_bare_cr", chunks("5\rhello\r\n0\r\n\r\n" + inner), 400, false},
        {"chunk_data_too_long", chunks("5\r\nhello!\r\n0\r\n\r\n" + inner), 400, false},
        {"chunk_data_ended_by_lf", chunks("5\r\nhello\n0\r\n\r\n" + inner), 400, false},
        {"bare_lf_in_an_extension", chunks("5;a\nb\r\nhello\r\n0\r\n\r\n" + inner), 400, false},
        {"nul_in_an_extension",
         chunks("5;a" + std::string(1, '\0') + "\r\nhello\r\n0\r\n\r\n" + inner), 400, false},
        {"last_chunk_ended_by_lf", chunks("0\r\n\n" + inner), 400, false},
        {"folded_trailer", chunks("0\r\nA: b\r\n c\r\n\r\n" + inner), 400, false},
        {"trailer_without_colon", chunks("0\r\nnothing\r\n\r\n" + inner), 400, false},
        {"extension_of_1_kib", chunks("1;" + std::string(1023, 'e') + "\r\nx\r\n0\r\n\r\n"), 200,
         true},
        {"extension_over_1_kib", chunks("1;" + std::string(1024, 'e') + "\r\nx\r\n0\r\n\r\n"), 400,
         false},
        {"trailer_over_1_kib", chunks("0\r\nA: " + std::string(1100, 'e') + "\r\n\r\n"), 400,
         false},
        {"extensions_and_trailers_count_together",
         chunks("1;" + std::string(600, 'e') + "\r\nx\r\n0\r\nA: " + std::string(600, 'e') +
                "\r\n\r\n"),
         400, false},
    };
}

std::vector<Case> line_cases() {
    return {
        {"get", get("/things/a"), 200, true},
        {"one_empty_line_before", "\r\n" + get("/things/a"), 200, true},
        {"two_empty_lines_before", "\r\n\r\n" + get("/things/a"), 400, false},
        {"bare_lf_lines", "GET /probe HTTP/1.1\nHost: a\n\n", 400, false},
        {"one_bare_lf", "GET /probe HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", 400, false},
        {"bare_cr", "GET /probe HTTP/1.1\r\nHost: a\rX: b\r\n\r\n", 400, false},
        {"cr_cr_lf", "GET /probe HTTP/1.1\r\nHost: a\r\r\n\r\n", 400, false},
        {"http_1_0_closes", get("/probe", "Host: a\r\n", "HTTP/1.0"), 200, false},
        {"http_1_0_keep_alive_closes",
         get("/probe", "Host: a\r\nConnection: keep-alive\r\n", "HTTP/1.0"), 200, false},
        {"connection_close", get("/things/a", "Host: a\r\nConnection: close\r\n"), 200, false},
        {"connection_close_in_a_list", get("/things/a", "Host: a\r\nConnection: x, Close\r\n"), 200,
         false},
        {"http_1_2", get("/things/a", "Host: a\r\n", "HTTP/1.2"), 200, true},
        {"http_1_9", get("/things/a", "Host: a\r\n", "HTTP/1.9"), 200, true},
        {"chunked_in_http_1_2",
         "POST /any HTTP/1.2\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 200, true},
        {"http_0_9", get("/probe", "Host: a\r\n", "HTTP/0.9"), 505, false},
        {"http_2_0", get("/probe", "Host: a\r\n", "HTTP/2.0"), 505, false},
        {"http_2_preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, false},
        {"lower_case_http", get("/probe", "Host: a\r\n", "http/1.1"), 400, false},
        {"http_1_1_1", get("/probe", "Host: a\r\n", "HTTP/1.1.1"), 400, false},
        {"http_01_1", get("/probe", "Host: a\r\n", "HTTP/01.1"), 400, false},
        {"no_version", "GET /probe\r\nHost: a\r\n\r\n", 400, false},
        {"two_spaces", "GET  /probe HTTP/1.1\r\nHost: a\r\n\r\n", 400, false},
        {"tab_in_the_request_line", "GET\t/probe HTTP/1.1\r\nHost: a\r\n\r\n", 400, false},
        {"space_before_the_method", " GET /probe HTTP/1.1\r\nHost: a\r\n\r\n", 400, false},
        {"space_after_the_version", "GET /probe HTTP/1.1 \r\nHost: a\r\n\r\n", 400, false},
        {"tls_hello", std::string("\x16\x03\x01\x02\x00\x01", 6), 400, false},
        {"unknown_method", "BREW /probe HTTP/1.1\r\nHost: a\r\n\r\n", 501, false},
        {"lower_case_method", "get /probe HTTP/1.1\r\nHost: a\r\n\r\n", 501, false},
        {"trace", "TRACE /probe HTTP/1.1\r\nHost: a\r\n\r\n", 501, false},
        {"connect", "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", 501, false},
        {"method_with_a_slash", "GE/T /probe HTTP/1.1\r\nHost: a\r\n\r\n", 400, false},
        {"known_method_of_another_path", "DELETE /probe HTTP/1.1\r\nHost: a\r\n\r\n", 405, true},
        {"options", "OPTIONS /probe HTTP/1.1\r\nHost: a\r\n\r\n", 204, true},
    };
}

std::vector<Case> target_cases() {
    return {
        {"absolute_form", get("http://a/things/a"), 200, true},
        {"absolute_form_over_tls", get("https://a/things/a"), 200, true},
        {"absolute_form_in_capitals", get("HTTP://a:8470/things/a?q=b"), 200, true},
        {"absolute_form_of_another_host_than_host", get("http://other/things/a"), 200, true},
        {"absolute_form_without_host", get("http://a/things/a", ""), 400, false},
        {"absolute_form_without_path", get("http://a"), 404, true},
        {"absolute_form_with_query_alone", get("http://a?b=c"), 404, true},
        {"absolute_form_without_authority", get("http:///probe"), 400, false},
        {"absolute_form_with_user", get("http://b@a/probe"), 400, false},
        {"absolute_form_with_bad_port", get("http://a:8x/probe"), 400, false},
        {"absolute_form_with_fragment", get("http://a/probe#x"), 400, false},
        {"absolute_form_with_dots", get("http://a/../probe"), 400, false},
        {"absolute_form_of_another_scheme", get("ftp://a/probe"), 400, false},
        {"authority_form", get("a:80"), 400, false},
        {"asterisk_form", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 204, true},
        {"asterisk_form_of_get", get("*"), 400, false},
        {"asterisk_after_an_authority", "OPTIONS http://a* HTTP/1.1\r\nHost: a\r\n\r\n", 400,
         false},
        {"no_slash", get("probe"), 400, false},
        {"fragment", get("/probe#x"), 400, false},
        {"query", get("/things/a?q=b%2fc%20d+e"), 200, true},
        {"escaped_nul", get("/things/a%00b"), 400, false},
        {"escaped_slash", get("/things/a%2fb"), 400, false},
        {"escaped_slash_capital", get("/things/a%2Fb"), 400, false},
        {"escaped_backslash", get("/things/a%5cb"), 400, false},
        {"backslash", get("/things/..\\probe"), 400, false},
        {"escaped_line_break", get("/things/a%0d%0ab"), 400, false},
        {"dot_dot", get("/things/../probe"), 400, false},
        {"dot_dot_at_the_end", get("/things/.."), 400, false},
        {"escaped_dot_dot", get("/things/%2e%2e/probe"), 400, false},
        {"half_escaped_dot_dot", get("/things/.%2E/probe"), 400, false},
        {"dot", get("/./probe"), 400, false},
        {"three_dots_are_a_name", get("/things/..."), 200, true},
        {"twice_escaped_dots_are_a_name", get("/things/%252e%252e"), 200, true},
        {"bad_escape", get("/things/%zz"), 400, false},
        {"short_escape", get("/things/a%2"), 400, false},
        {"lone_percent", get("/things/100%"), 400, false},
        {"bad_escape_in_the_query", get("/things/a?q=%zz"), 400, false},
        {"escaped_nul_in_the_query", get("/things/a?q=%00"), 400, false},
        {"overlong_utf8", get("/things/%c0%af"), 400, false},
        {"broken_utf8", get("/things/%ff"), 400, false},
        {"good_utf8", get("/things/%c3%bc"), 200, true},
        {"raw_high_byte", get("/things/\xc3\xbc"), 400, false},
        {"quote_in_the_path", get("/things/\"a\""), 400, false},
        {"control_byte_in_the_target", get("/things/\x01"), 400, false},
        {"nul_in_the_target", get("/things/" + std::string(1, '\0')), 400, false},
        {"empty_segment", get("/things//a"), 404, true},
        {"slash_at_the_end", get("/probe/"), 404, true},
        {"empty_parameter", get("/things/"), 404, true},
    };
}

std::vector<Case> header_cases() {
    return {
        {"no_host", get("/probe", ""), 400, false},
        {"no_host_in_http_1_0", get("/probe", "", "HTTP/1.0"), 200, false},
        {"two_hosts_in_http_1_0", get("/probe", "Host: a\r\nHost: a\r\n", "HTTP/1.0"), 400, false},
        {"bad_host_in_http_1_0", get("/probe", "Host: a b\r\n", "HTTP/1.0"), 400, false},
        {"no_host_in_http_1_2", get("/probe", "", "HTTP/1.2"), 400, false},
        {"two_hosts", get("/probe", "Host: a\r\nHost: b\r\n"), 400, false},
        {"two_equal_hosts", get("/probe", "Host: a\r\nhost: a\r\n"), 400, false},
        {"empty_host", get("/probe", "Host:\r\n"), 400, false},
        {"list_of_hosts", get("/probe", "Host: a, b\r\n"), 400, false},
        {"host_with_path", get("/probe", "Host: a/b\r\n"), 400, false},
        {"host_with_user", get("/probe", "Host: b@a\r\n"), 400, false},
        {"host_with_space", get("/probe", "Host: a b\r\n"), 400, false},
        {"host_with_bad_port", get("/probe", "Host: a:8x\r\n"), 400, false},
        {"host_with_empty_port", get("/things/a", "Host: a:\r\n"), 200, true},
        {"host_ipv6_with_empty_port", get("/things/a", "Host: [::1]:\r\n"), 200, true},
        {"host_with_empty_port_and_name", get("/probe", "Host: :\r\n"), 400, false},
        {"host_with_two_colons", get("/probe", "Host: a::\r\n"), 400, false},
        {"host_with_port", get("/things/a", "Host: localhost:8470\r\n"), 200, true},
        {"host_ipv6", get("/things/a", "Host: [::1]:8470\r\n"), 200, true},
        {"host_ipv6_open", get("/probe", "Host: [::1\r\n"), 400, false},
        {"two_authorizations",
         get("/probe",
             "Host: a\r\nAuthorization: Bearer a\r\nX: b\r\n"
             "authorization: Bearer a\r\n"),
         400, false},
        {"two_cookies", get("/probe", "Host: a\r\nCookie: a=b\r\nCookie: c=d\r\n"), 400, false},
        {"two_accepts", get("/things/a", "Host: a\r\nAccept: a/b\r\nAccept: c/d\r\n"), 200, true},
        {"folded_header", get("/probe", "Host: a\r\nX: b\r\n c\r\n"), 400, false},
        {"folded_header_by_tab", get("/probe", "Host: a\r\nX: b\r\n\tc\r\n"), 400, false},
        {"folded_transfer_encoding", post("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n"), 400,
         false},
        {"first_header_with_space", get("/probe", " Host: a\r\n"), 400, false},
        {"space_before_colon", get("/probe", "Host : a\r\n"), 400, false},
        {"tab_before_colon", get("/probe", "Host\t: a\r\n"), 400, false},
        {"no_colon", get("/probe", "Host: a\r\nnothing\r\n"), 400, false},
        {"empty_name", get("/probe", "Host: a\r\n: b\r\n"), 400, false},
        {"name_with_brackets", get("/probe", "Host: a\r\nX[0]: b\r\n"), 400, false},
        {"nul_in_a_value", get("/probe", "Host: a\r\nX: b" + std::string(1, '\0') + "\r\n"), 400,
         false},
        {"control_byte_in_a_value", get("/probe", "Host: a\r\nX: \x01\r\n"), 400, false},
        {"delete_byte_in_a_value", get("/probe", "Host: a\r\nX: \x7f\r\n"), 400, false},
        {"high_byte_in_a_value", get("/things/a", "Host: a\r\nX: \xe4\r\n"), 200, true},
        {"tabs_around_a_value", get("/things/a", "Host:\t a \t\r\n"), 200, true},
        {"empty_value", get("/things/a", "Host: a\r\nX:\r\n"), 200, true},
        {"other_expectation", post("Expect: 200-ok\r\nContent-Length: 5\r\n", "hello"), 417, false},
        {"upgrade_is_ignored",
         get("/things/a", "Host: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n"), 200, true},
        {"json_type_is_asked_for",
         "POST /json HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: "
         "65\r\n\r\n" +
             inner,
         415, false},
        {"json_without_a_type",
         "POST /json HTTP/1.1\r\nHost: a\r\nContent-Length: 65\r\n\r\n" + inner, 415, false},
        {"json_with_another_charset",
         "POST /json HTTP/1.1\r\nHost: a\r\nContent-Type: application/json; charset=utf-16\r\n"
         "Content-Length: 2\r\n\r\n{}",
         415, false},
        {"json_with_utf_8",
         "POST /json HTTP/1.1\r\nHost: a\r\nContent-Type: Application/JSON;charset=UTF-8\r\n"
         "Content-Length: 2\r\n\r\n{}",
         200, true},
        {"compressed_body",
         "POST /json HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
         "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
         415, false},
    };
}

std::vector<Case> all_cases() {
    std::vector<Case> all;
    for (const auto& part : {encoding_cases(), length_cases(), chunk_cases(), line_cases(),
                             target_cases(), header_cases()})
        all.insert(all.end(), part.begin(), part.end());
    return all;
}

class Framing : public testing::Test {
protected:
    static void SetUpTestSuite() { sample = std::make_unique<SampleServer>(); }
    static void TearDownTestSuite() { sample.reset(); }
    static inline std::unique_ptr<SampleServer> sample;
};

class FramingCase : public Framing, public testing::WithParamInterface<Case> {};

TEST_P(FramingCase, has_one_reading) {
    const Case& row = GetParam();
    std::vector<int> wanted{row.status};
    if (row.stays_open) wanted.push_back(200);
    EXPECT_EQ(raw_statuses(sample->port(), row.bytes + std::string(probe)), wanted);
    EXPECT_EQ(sample->smuggled, 0);
}

// No rule may depend on how the bytes are cut into packets.
TEST_F(Framing, has_one_reading_byte_by_byte) {
    for (const Case& row : all_cases()) {
        SCOPED_TRACE(row.name);
        RawHttp connection(sample->port());
        for (const char c : row.bytes)
            if (!connection.send({&c, 1})) break;
        connection.send(probe);
        const auto answers = connection.read_all_answers();
        ASSERT_FALSE(answers.empty());
        EXPECT_EQ(answers.size(), row.stays_open ? 2U : 1U);
        EXPECT_EQ(answers.front().status, row.status);
        EXPECT_EQ(sample->smuggled, 0);
    }
}

INSTANTIATE_TEST_SUITE_P(Cases, FramingCase, testing::ValuesIn(all_cases()),
                         [](const auto& row) { return row.param.name; });

}    // namespace
}    // namespace slipway
