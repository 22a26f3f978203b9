#include "api/client/http_client.h"

#include <gtest/gtest.h>

#include "api/client/request_kind.h"
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
        EXPECT_EQ(url->authority.host, one.host);
        EXPECT_EQ(url->authority.port, one.port);
    }
    EXPECT_EQ(to_string(*parse_service_url("http://[::1]:9000")), "http://[::1]:9000");
}

TEST(ServiceUrl, others_are_refused) {
    for (const char* text :
         {"", "127.0.0.1:8470", "ftp://x", "http://", "http://:80", "http://x:0", "http://x:65536",
          "http://x:8a", "http://x/v1", "http://u@x", "http://x?y"})
        EXPECT_FALSE(bool(parse_service_url(text))) << text;
}

TEST(HttpClient, a_service_that_is_not_there_is_unavailable) {
    const HttpClient client({.url = {.authority = {"127.0.0.1", 1}}, .token = "slp_x"});
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
        {"pointer":"/model/arch","code":"not_allowed","message":"got lenett",
         "allowed":["lenet"]},
        {"pointer":"/train/optimiser","code":"unknown_field","message":"did you mean optimizer?"}]})";
    EXPECT_EQ(problem_text(response),
              "the job spec has 2 problems\n"
              "  /accelerator/cores: must be 1 or 8, got 3\n"
              "  /model/arch: got lenett (allowed: lenet)\n"
              "  /train/optimiser: did you mean optimizer?");
    response.body = "<html>";
    EXPECT_EQ(problem_text(response), "the service answered 422");
}

struct RequestKinds : testing::Test {
    static std::string rejection(const std::string& body, RequestKind kind, int status = 422) {
        ClientResponse response;
        response.status = status;
        response.body = R"({"detail":"the job spec is invalid"})";
        try {
            require_accepted(response, body, kind);
        } catch (const Stop& stop) {
            return stop.what();
        }
        return "";
    }
};

TEST_F(RequestKinds, a_rejected_file_of_another_kind_names_the_command_that_takes_it) {
    const std::string sweep = R"({"space":{},"algorithm":{},"job":{}})";
    const std::string fold = R"({"split":{},"job":{}})";
    const std::string inference = R"({"from":{},"data":{}})";
    const std::string job = R"({"model":{},"train":{},"data":{}})";
    EXPECT_EQ(rejection(sweep, RequestKind::job),
              "the job spec is invalid\nThe file looks like a sweep: see `slipway sweep create`");
    EXPECT_NE(rejection(fold, RequestKind::job).find("`slipway cv create`"), std::string::npos);
    EXPECT_NE(rejection(job, RequestKind::sweep).find("`slipway submit`"), std::string::npos);
    EXPECT_NE(rejection(inference, RequestKind::job).find("`slipway submit --kind prediction`"),
              std::string::npos);
}

TEST_F(RequestKinds, nothing_is_added_to_other_rejections) {
    const std::string sweep = R"({"space":{}})";
    EXPECT_EQ(rejection(sweep, RequestKind::sweep), "the job spec is invalid");
    EXPECT_EQ(rejection(R"({"space":1})", RequestKind::job), "the job spec is invalid");
    EXPECT_EQ(rejection("{", RequestKind::job), "the job spec is invalid");
    EXPECT_EQ(rejection(sweep, RequestKind::job, 404), "the job spec is invalid");
    EXPECT_EQ(rejection(sweep, RequestKind::job, 201), "");
}

}    // namespace
}    // namespace slipway::client
