#include "tests/server/http/sample_server.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "api/base/posix.h"
#include "server/http/content_encoding.h"
#include "server/http/files.h"
#include "server/http/problem.h"
#include "server/http/text.h"

namespace slipway {

namespace {

Response text(std::string body) {
    Response response;
    response.body = std::move(body);
    response.media_type = "text/plain; charset=utf-8";
    return response;
}

Response fail(const Request& request) {
    const std::string& how = request.parameter("how");
    if (how == "error") throw Error(ErrorCode::not_found, "there is no job job_1");
    if (how == "internal") throw Error(ErrorCode::internal, "the secret is 42");
    if (how == "unavailable") throw Error(ErrorCode::unavailable, "the database is down");
    if (how == "exception") throw std::runtime_error("the secret is 42");
    if (how == "header") return text("").with("X-Name", "a\r\nSet-Cookie: b=c");
    throw ProblemError(
        {.status = 422,
         .code = "invalid_spec",
         .detail = "two fields are wrong",
         .items = {
             {.pointer = "/a", .code = "unknown_field", .message = "no"},
             {.pointer = "/b", .code = "not_allowed", .message = "no", .allowed = {"x", "y"}}}});
}

BodyTarget receive(const Request& request, const SampleServer& sample) {
    const auto offset = parse_decimal(request.header("upload-offset").value_or(""));
    if (!offset)
        throw ProblemError({.status = 400, .code = "no_offset", .detail = "send Upload-Offset"});
    const auto path = sample.folder.path() / "upload";
    auto file =
        std::make_shared<const UniqueFd>(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    return {.file = file, .offset = *offset, .bytes_max = 100'000, .permit = sample.permit};
}

Response send_file(const Request& request, const SampleServer& sample) {
    const auto file = open_below(sample.folder.path(), "file");
    if (!file) throw Error(ErrorCode::not_found, "there is no file");
    Response response = file_response(request, *file, {.download_name = "file", .etag = "\"v1\""});
    response.permit = sample.permit;
    return response;
}

/// Bodies that are held in memory, and one that is compressed for each request.
std::vector<Route> stored_routes() {
    return {
        get_route("/page", [page = store_body("text/html; charset=utf-8", "<p>hello</p>")](
                               const Request&) { return stored_response(page); }),
        get_route("/script",
                  [script = store_body("text/javascript; charset=utf-8", sample_script())](
                      const Request&) { return stored_response(script); }),
        get_route("/list",
                  [](const Request&) {
                      Response list = text(std::string(sample_script()));
                      return std::move(list).with("ETag", "\"v1\"").with("Vary", "Accept");
                  }),
    };
}

std::vector<Route> routes(SampleServer& sample) {
    const auto smuggled = [&sample](const Request&) {
        ++sample.smuggled;
        return text("smuggled");
    };
    const auto gate = [&sample](const Request&) {
        sample.gate.wait();
        return text("through");
    };
    const auto echo = [](const Request& request) { return text(request.body); };
    std::vector<Route> rows{
        get_route("/probe", [](const Request&) { return text("probe"); }),
        get_route("/things/{id}",
                  [](const Request& request) {
                      return text(request.parameter("id") +
                                  std::string(request.query("q").value_or("")));
                  }),
        get_route("/smuggled", smuggled),
        json_route(Method::POST, "/json",
                   [](const Request& request) {
                       return text(fmt::format("got {}", request.received_bytes));
                   }),
        get_route("/gate", gate),
        get_route("/fails/{how}", fail),
        get_route("/big", [](const Request&) { return text(std::string(3'000'000, 'x')); }),
        get_route("/huge",
                  [](const Request&) { return text(std::string(huge_answer_bytes, 'x')); }),
        get_route("/file",
                  [&sample](const Request& request) { return send_file(request, sample); }),
        get_route("/later",
                  [](const Request& request) {
                      if (request.waited_s >= 0.05) return text("waited");
                      Response again;
                      again.again_after_s = 0.02;
                      return again;
                  }),
        get_route("/host", [](const Request& request) { return text(request.host); }),
        get_route("/address", [](const Request& request) { return text(request.peer); }),
    };
    std::ranges::move(stored_routes(), std::back_inserter(rows));
    Route post{.method = Method::POST, .pattern = "/smuggled", .handler = smuggled};
    rows.push_back(post);
    post = {.method = Method::POST, .pattern = "/empty", .handler = echo};
    rows.push_back(post);
    post = {.method = Method::POST, .pattern = "/any", .handler = echo};
    post.body_bytes_max = 64 * 1024;
    rows.push_back(post);
    Route upload{.method = Method::PATCH, .pattern = "/upload", .handler = [](const Request& r) {
                     return text(fmt::format("stored {}", r.received_bytes));
                 }};
    upload.media_types = {"application/offset+octet-stream"};
    upload.receive = [&sample](const Request& request) { return receive(request, sample); };
    rows.push_back(upload);
    Route guarded = json_route(Method::POST, "/guarded", [](const Request& request) {
        return text(*std::static_pointer_cast<const std::string>(request.admission) + request.body);
    });
    guarded.admit = [](const Request& request) {
        if (!request.header("authorization"))
            throw ProblemError({.status = 401, .code = "unauthenticated", .detail = "who asks?"});
        return std::make_shared<const std::string>("admitted: ");
    };
    rows.push_back(guarded);
    for (const auto& [path_of_lane, lane] :
         {std::pair{"/at-once", Lane::io}, std::pair{"/reserved", Lane::reserved}}) {
        rows.push_back(get_route(path_of_lane, [](const Request&) { return text("here"); }));
        rows.back().lane = lane;
    }
    return rows;
}

Handler identifying(Handler handler) {
    return [handler = std::move(handler)](const Request& request) {
        Response response = handler(request);
        response.identified = !request.header("x-unknown");
        return response;
    };
}

}    // namespace

std::string_view sample_script() {
    static const std::string script = [] {
        std::string lines;
        for (int i = 0; i < 1000; ++i)
            lines += fmt::format("const line_{} = {};\n", i, i * i);
        return lines;
    }();
    return script;
}

void Gate::open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
}

void Gate::wait() {
    std::unique_lock lock(mutex_);
    ++visitors_;
    changed_.notify_all();
    changed_.wait_for(lock, std::chrono::seconds(20), [this] { return open_; });
}

void Gate::wait_for_visitors(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [&] { return visitors_ >= count; });
}

SampleServer::SampleServer(ServerOptions options) {
    options.port = 0;
    std::vector<Route> rows = routes(*this);
    for (Route& row : rows)
        row.handler = identifying(std::move(row.handler));
    server = std::make_unique<Server>(std::move(options), Router(std::move(rows)), metrics);
    server->start();
}

std::string plain_get(std::string_view path) {
    return fmt::format("GET {} HTTP/1.1\r\nHost: a\r\n\r\n", path);
}

}    // namespace slipway
