#include <gtest/gtest.h>

#include <sys/statvfs.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "api/base/sha256.h"
#include "api/spec/documents.h"
#include "tests/server/routes/test_service.h"
#include "tests/support/eventually.h"
#include "tests/support/raw_http.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

struct Uploads : testing::Test {
    TestService service;
    const std::string bytes = some_bytes(100000);

    std::string announce(std::size_t size, const std::string& sha256 = {}) {
        Json body{{"filename", "x.bin"}, {"size", size}};
        if (!sha256.empty()) body["sha256"] = sha256;
        return service.expect(201, "POST", "/v1/uploads", body).value("id", "");
    }
    client::ClientResponse put(const std::string& id, std::size_t offset, const std::string& part) {
        return service.send({.method = "PATCH",
                             .target = "/v1/uploads/" + id,
                             .body = part,
                             .media_type = "application/octet-stream",
                             .headers = {{"Upload-Offset", std::to_string(offset)}}},
                            service.admin);
    }
    std::string offset(const std::string& id) {
        return std::string(service.call("HEAD", "/v1/uploads/" + id).header("Upload-Offset"));
    }
    fs::path file(const std::string& id) { return service.folder.path() / "store/uploads" / id; }
};

TEST_F(Uploads, a_file_arrives_in_parts_and_is_checked) {
    const auto made = service.call(
        "POST", "/v1/uploads",
        {{"filename", "x.bin"}, {"size", bytes.size()}, {"sha256", sha256_hex(bytes)}});
    ASSERT_EQ(made.status, 201) << made.body;
    const Json upload = Json::parse(made.body);
    EXPECT_TRUE(check_document("Upload", upload).empty());
    const std::string id = upload.value("id", "");
    EXPECT_EQ(made.header("Location"), "/v1/uploads/" + id);
    EXPECT_EQ(offset(id), "0");
    EXPECT_EQ(put(id, 0, bytes.substr(0, 30000)).status, 204);
    EXPECT_EQ(offset(id), "30000");
    const auto second = put(id, 30000, bytes.substr(30000));
    EXPECT_EQ(second.status, 204);
    EXPECT_EQ(second.header("Upload-Offset"), "100000");
    for (int i = 0; i < 2; ++i) {
        const Json done = service.expect(200, "POST", "/v1/uploads/" + id + "/complete");
        EXPECT_EQ(done["complete"], true);
        EXPECT_EQ(done["received"], bytes.size());
    }
    EXPECT_EQ(read_file(file(id)), bytes);
    EXPECT_EQ(put(id, 100000, "more").status, 409);
}

TEST_F(Uploads, the_checksum_is_known_from_the_parts_without_the_file) {
    const std::string id = announce(bytes.size(), sha256_hex(bytes));
    EXPECT_EQ(put(id, 0, bytes.substr(0, 30000)).status, 204);
    EXPECT_EQ(put(id, 30000, bytes.substr(30000)).status, 204);
    // Nobody reads the file: what stands in it now is not looked at.
    std::ofstream(file(id)) << std::string(bytes.size(), 'x');
    service.expect(200, "POST", "/v1/uploads/" + id + "/complete");
}

TEST_F(Uploads, a_wrong_checksum_is_told_at_once_and_again) {
    const std::string id = announce(bytes.size(), std::string(64, 'a'));
    EXPECT_EQ(put(id, 0, bytes).status, 204);
    for (int i = 0; i < 3; ++i) {
        const Json refused = service.expect(409, "POST", "/v1/uploads/" + id + "/complete");
        EXPECT_EQ(refused["code"], "checksum_mismatch");
        EXPECT_NE(refused["detail"].get<std::string>().find(sha256_hex(bytes)), std::string::npos);
    }
}

TEST_F(Uploads, what_came_before_this_process_is_read_by_one_request_at_a_time) {
    const std::string id = announce(bytes.size(), sha256_hex(bytes));
    EXPECT_EQ(put(id, 0, bytes).status, 204);
    service.services.upload_hashes->forget(id);    // as a new process knows nothing of it
    {
        const auto reading = service.services.upload_hashes->try_reading();
        ASSERT_TRUE(reading.owns_lock());
        const auto busy = service.call("POST", "/v1/uploads/" + id + "/complete");
        EXPECT_EQ(busy.status, 503);
        EXPECT_EQ(busy.header("Retry-After"), "2");
    }
    service.expect(200, "POST", "/v1/uploads/" + id + "/complete");
    EXPECT_EQ(service.services.upload_hashes->digest(id, bytes.size()), sha256_hex(bytes));
}

TEST_F(Uploads, announced_bytes_are_reserved) {
    struct statvfs disk {};
    ASSERT_EQ(statvfs(service.folder.path().c_str(), &disk), 0);
    const std::uint64_t bytes_free = std::uint64_t(disk.f_bavail) * disk.f_frsize;
    service.services.upload_bytes_max = bytes_free;
    service.services.disk_reserve_bytes = bytes_free / 2;
    const std::string id = announce(bytes_free / 4 + (1 << 20));
    const Json refused = service.expect(507, "POST", "/v1/uploads",
                                        {{"filename", "y"}, {"size", bytes_free / 4 + (1 << 20)}});
    EXPECT_EQ(refused["code"], "disk_full");
    EXPECT_NE(refused["detail"].get<std::string>().find("reserved for uploads"), std::string::npos);
    service.call("DELETE", "/v1/uploads/" + id);
    announce(bytes_free / 4 + (1 << 20));
}

TEST_F(Uploads, a_token_has_so_many_open_also_when_it_asks_at_once) {
    service.services.limits.open_uploads = 5;
    std::atomic<int> made = 0, refused = 0;
    {
        std::vector<std::jthread> clients;
        for (int i = 0; i < 16; ++i)
            clients.emplace_back([&] {
                const auto answer =
                    service.call("POST", "/v1/uploads", {{"filename", "x"}, {"size", 10}});
                if (answer.status == 201) ++made;
                if (answer.status == 429 && answer.header("Retry-After") == "5") ++refused;
            });
    }
    EXPECT_EQ(made, 5);
    EXPECT_EQ(refused, 11);
    const Json told = service.expect(429, "POST", "/v1/uploads", {{"filename", "x"}, {"size", 10}});
    EXPECT_NE(told["detail"].get<std::string>().find("--open-uploads-max"), std::string::npos);
}

TEST_F(Uploads, a_part_goes_where_the_last_one_ended_and_nowhere_else) {
    const std::string id = announce(10);
    EXPECT_EQ(put(id, 0, "01234").status, 204);
    for (const std::size_t wrong : {std::size_t{0}, std::size_t{4}, std::size_t{6}}) {
        const auto refused = put(id, wrong, "5");
        EXPECT_EQ(refused.status, 409);
        EXPECT_EQ(refused.header("Upload-Offset"), "5");
    }
    EXPECT_EQ(put(id, 5, "567890").status, 413) << "one byte too many";
    EXPECT_EQ(put(id, 5, "56789").status, 204);
    EXPECT_EQ(read_file(file(id)), "0123456789");
}

TEST_F(Uploads, the_offset_must_be_a_number) {
    const std::string id = announce(10);
    for (const char* bad : {"-1", "x", "1.5", "99999999999999999999"}) {
        const auto refused = service.send({.method = "PATCH",
                                           .target = "/v1/uploads/" + id,
                                           .body = "x",
                                           .media_type = "application/octet-stream",
                                           .headers = {{"Upload-Offset", bad}}},
                                          service.admin);
        EXPECT_EQ(refused.status, 400) << bad;
    }
    EXPECT_EQ(service
                  .send({.method = "PATCH",
                         .target = "/v1/uploads/" + id,
                         .body = "x",
                         .media_type = "application/octet-stream"},
                        service.admin)
                  .status,
              400);
    EXPECT_EQ(offset(id), "0");
}

// Goal: what came before a cut is kept, and the rest can follow.
TEST_F(Uploads, a_cut_connection_loses_nothing) {
    const std::string id = announce(bytes.size(), sha256_hex(bytes));
    {
        RawHttp connection(service.server->port());
        ASSERT_TRUE(connection.send("PATCH /v1/uploads/" + id +
                                    " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " +
                                    service.admin +
                                    "\r\nContent-Type: application/octet-stream\r\n"
                                    "Upload-Offset: 0\r\nContent-Length: 100000\r\n\r\n"));
        ASSERT_TRUE(connection.send(bytes.substr(0, 40000)));
        ASSERT_TRUE(eventually([&] { return offset(id) == "40000"; }));
        // A second writer is turned away while the first one holds on.
        EXPECT_EQ(put(id, 40000, "x").status, 409);
    }
    std::string here;
    ASSERT_TRUE(eventually([&] {
        here = offset(id);
        return put(id, std::stoul(here), bytes.substr(std::stoul(here))).status == 204;
    }));
    EXPECT_EQ(here, "40000");
    service.expect(200, "POST", "/v1/uploads/" + id + "/complete");
    EXPECT_EQ(read_file(file(id)), bytes);
}

TEST_F(Uploads, an_incomplete_or_damaged_file_is_not_completed) {
    const std::string id = announce(5, sha256_hex("right"));
    EXPECT_EQ(service.expect(409, "POST", "/v1/uploads/" + id + "/complete")["code"],
              "upload_incomplete");
    put(id, 0, "wrong");
    EXPECT_EQ(service.expect(409, "POST", "/v1/uploads/" + id + "/complete")["code"],
              "checksum_mismatch");
    const Json dataset{{"name", "d"}, {"format", "csv"}, {"source", {{"upload", id}}}};
    EXPECT_EQ(service.expect(422, "POST", "/v1/datasets", dataset)["errors"][0]["pointer"],
              "/source/upload");
    EXPECT_EQ(service.expect(200, "GET", "/v1/datasets")["items"].size(), 0U);
}

TEST_F(Uploads, there_are_limits) {
    const Json body{{"size", (1 << 20) + 1}};
    EXPECT_EQ(service.expect(422, "POST", "/v1/uploads", body)["errors"][0]["pointer"], "/size");
    service.services.disk_reserve_bytes = std::uint64_t{1} << 62;
    EXPECT_EQ(service.expect(507, "POST", "/v1/uploads", {{"size", 5}})["code"], "disk_full");
    for (const Json& bad : {Json{{"size", 0}}, Json{{"size", -5}}, Json{{"size", "5"}}, Json{},
                            Json{{"size", 5}, {"sha256", "xyz"}}})
        EXPECT_GE(service.call("POST", "/v1/uploads", bad).status, 400) << bad;
}

TEST_F(Uploads, an_upload_belongs_to_its_token) {
    const std::string id = announce(5);
    const std::string other = service.token(Role::editor);
    EXPECT_EQ(service.call_as(other, "GET", "/v1/uploads/" + id).status, 404);
    EXPECT_EQ(service.call_as(other, "POST", "/v1/uploads/" + id + "/complete").status, 404);
    EXPECT_EQ(service.call_as(other, "DELETE", "/v1/uploads/" + id).status, 404);
}

TEST_F(Uploads, a_dataset_uses_its_upload_up) {
    const std::string id = announce(5);
    put(id, 0, "a,b\n1");
    service.expect(200, "POST", "/v1/uploads/" + id + "/complete");
    const Json body{{"name", "d"}, {"format", "csv"}, {"source", {{"upload", id}}}};
    const Json dataset = service.expect(201, "POST", "/v1/datasets", body);
    EXPECT_EQ(dataset["source"]["upload"], id);
    Json again = body;
    again["name"] = "e";
    EXPECT_GE(service.call("POST", "/v1/datasets", again).status, 400);
    EXPECT_EQ(service.expect(200, "GET", "/v1/datasets")["items"].size(), 1U);
}

TEST_F(Uploads, a_deleted_one_is_gone) {
    const std::string id = announce(5);
    service.expect(204, "DELETE", "/v1/uploads/" + id);
    service.expect(404, "GET", "/v1/uploads/" + id);
    EXPECT_EQ(put(id, 0, "x").status, 404);
    service.expect(404, "DELETE", "/v1/uploads/" + id);
    EXPECT_FALSE(fs::exists(file(id)));
}

}    // namespace
}    // namespace slipway
