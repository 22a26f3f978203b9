#include "api/client/http_client.h"

#include <gtest/gtest.h>

#include "api/client/service.h"

namespace slipway::client {
namespace {

TEST(ServiceUrl, usual_addresses_are_read) {
    struct Case {
        const char* text;
        bool tls;
        const char* host;
        int port;
    };
    for (const Case& one : {Case{"http://127.0.0.1:8470", false, "127.0.0.1", 8470},
                            Case{"http://localhost/", false, "localhost", 80},
                            Case{"https://slipway.example", true, "slipway.example", 443},
                            Case{"http://[::1]:9000", false, "::1", 9000}}) {
        const auto url = parse_service_url(one.text);
        ASSERT_TRUE(bool(url)) << one.text;
        EXPECT_EQ(url->tls, one.tls);
        EXPECT_EQ(url->host, one.host);
        EXPECT_EQ(url->port, one.port);
    }
    EXPECT_EQ(to_string(*parse_service_url("http://[::1]:9000")), "http://[::1]:9000");
}

TEST(ServiceUrl, others_are_refused) {
    for (const char* text :
         {"", "127.0.0.1:8470", "ftp://x", "http://", "http://:80", "http://x:", "http://x:0",
          "http://x:65536", "http://x:8a", "http://x/v1", "http://u@x", "http://x?y"})
        EXPECT_FALSE(bool(parse_service_url(text))) << text;
}

TEST(HttpClient, a_service_that_is_not_there_is_unavailable) {
    const HttpClient client({.url = {.host = "127.0.0.1", .port = 1}, .token = "slp_x"});
    try {
        (void)client.send({.target = "/"});
        FAIL() << "it answered";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::unavailable);
    }
}

TEST(HttpClient, names_in_addresses_are_encoded) {
    EXPECT_EQ(percent_encode("a b/c?é-._~"), "a%20b%2Fc%3F%C3%A9-._~");
}

TEST(Problems, every_field_is_printed) {
    ClientResponse response;
    response.status = 422;
    response.body = R"({"detail":"the job spec has 2 problems","errors":[
        {"pointer":"/accelerator/cores","code":"not_allowed","message":"must be 1 or 8, got 3",
         "allowed":["1","8"]},
        {"pointer":"/train/optimiser","code":"unknown_field","message":"did you mean optimizer?"}]})";
    EXPECT_EQ(problem_text(response),
              "the job spec has 2 problems\n"
              "  /accelerator/cores: must be 1 or 8, got 3 (allowed: 1, 8)\n"
              "  /train/optimiser: did you mean optimizer?");
    response.body = "<html>";
    EXPECT_EQ(problem_text(response), "the service answered 422");
}

}    // namespace
}    // namespace slipway::client
