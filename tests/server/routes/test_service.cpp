#include "tests/server/routes/test_service.h"

#include <gtest/gtest.h>

#include <array>

#include "api/base/id.h"
#include "scheduler/store/attempts.h"
#include "scheduler/store/datasets.h"
#include "scheduler/store/hosts.h"
#include "scheduler/store/queue.h"
#include "server/routes/table.h"
#include "server/sse/store_feed.h"

namespace slipway {
namespace {

constexpr std::array dashboard{DashboardFile{"/index.html", "<!doctype html><p>page</p>"},
                               DashboardFile{"/app.js", "export {};"},
                               DashboardFile{"/docs/index.html", "<!doctype html><p>docs</p>"},
                               DashboardFile{"/docs/examples/gpt.json", "{}"}};

Services services_of(TestService& test) {
    Services services{.store = test.store,
                      .clock = system_clock(),
                      .authenticator = test.authenticator,
                      .hub = test.hub,
                      .project_hub = test.project_hub,
                      .metrics = test.metrics,
                      .long_polls = test.long_polls,
                      .health = test.health,
                      .artifacts = ArtifactStore(test.folder.path()),
                      .dataset_roots = {{.path = test.folder.path() / "data"}},
                      .dashboard = {dashboard.begin(), dashboard.end()},
                      .host_name = "here"};
    services.upload_bytes_max = 1 << 20;
    services.disk_reserve_bytes = 0;
    return services;
}

}    // namespace

TestService::TestService()
    : store({.database = database.url()}),
      authenticator(store, system_clock()),
      long_polls(system_clock()),
      health(store, system_clock()),
      project_hub(project_feed(store, store), {.name = new_id("evt")}),
      hub(store_feed(store, store, [this](const std::string& topic) { project_hub.hear(topic); })),
      services(services_of(*this)) {
    for (const char* name : {"store/uploads", "store/checkpoints", "store/datasets", "data"})
        std::filesystem::create_directories(folder.path() / name);
    folder.write("data/points/points.csv", "a,label\n1,x\n");
    server = std::make_unique<Server>(ServerOptions{.port = 0}, make_router(services), metrics);
    server->start();
    admin = token(Role::admin);
}

TestService::~TestService() {
    hub.stop();
    project_hub.stop();
    server->stop(std::chrono::milliseconds{500});
}

client::HttpClient TestService::client(const std::string& text) const {
    return client::HttpClient({.url = {.authority = {"127.0.0.1", server->port()}}, .token = text});
}

client::ClientResponse TestService::send(client::ClientRequest request, const std::string& text) {
    return client(text).send(request);
}

client::ClientResponse TestService::call_as(const std::string& text, const std::string& method,
                                            const std::string& target, const Json& body,
                                            const Headers& headers) {
    client::ClientRequest request{.method = method, .target = target};
    if (!body.is_null()) request.body = body.dump();
    request.headers = headers;
    return send(std::move(request), text);
}

client::ClientResponse TestService::call(const std::string& method, const std::string& target,
                                         const Json& body, const Headers& headers) {
    return call_as(admin, method, target, body, headers);
}

Json TestService::expect(int status, const std::string& method, const std::string& target,
                         const Json& body, const Headers& headers) {
    const client::ClientResponse response = call(method, target, body, headers);
    EXPECT_EQ(response.status, status) << method << " " << target << "\n" << response.body;
    if (response.body.empty()) return nullptr;
    return Json::parse(response.body, nullptr, false);
}

std::string TestService::token(Role role, std::vector<std::string> projects) {
    store::Token made;
    made.name = "test";
    made.role = to_string(role);
    made.projects = std::move(projects);
    return issue_token(store, std::move(made)).text;
}

std::string TestService::member_token(const std::string& member,
                                      const std::map<std::string, Role>& roles, Role token_role) {
    for (const auto& [project, role] : roles) {
        if (call("GET", "/v1/projects/" + project).status == 404)
            expect(201, "POST", "/v1/projects", {{"name", project}});
        expect(200, "PUT", "/v1/projects/" + project + "/members/" + member,
               {{"role", to_string(role)}});
    }
    return expect(201, "POST", "/v1/tokens",
                  {{"name", "of " + member}, {"role", to_string(token_role)}, {"member", member}})
        .at("token");
}

std::string TestService::ready_dataset(const std::string& name, const std::string& project) {
    const std::string id = new_id("ds");
    store::create_dataset(store, {.id = id,
                                  .project = project,
                                  .name = name,
                                  .format = "csv",
                                  .source = R"({"path":"points"})",
                                  .options = "{}",
                                  .created_by = {}});
    for (;;) {
        const auto check = store::claim_dataset_check(store, "here", std::chrono::seconds{60});
        if (!check) break;
        store::finish_dataset_check(store, check->dataset.id, check->fence,
                                    {.ready = true,
                                     .report = R"({"samples":600})",
                                     .problems = {},
                                     .content_hash = "abc",
                                     .bytes = 12});
    }
    return id;
}

Json TestService::spec() {
    return Json::parse(R"({
        "name": "points", "model": {"arch": "mlp"}, "task": {"type": "classification"},
        "data": {"dataset": "points", "split": {"val_fraction": 0.2, "seed": 0}},
        "train": {"epochs": 4, "batch_size_per_core": 16,
                  "optimizer": {"name": "adam", "lr": 0.01}},
        "accelerator": {"cores": 1}})");
}

std::string TestService::submit(const Json& changes) {
    Json body = spec();
    body.merge_patch(changes);
    return expect(201, "POST", "/v1/jobs", body).value("id", "");
}

store::AttemptKey TestService::run(const std::string& job_id, int core) {
    store::register_host(store, {.name = "here", .cores = 8, .physical_cpus = 2});
    const std::string fence = random_hex(16);
    const auto outcomes = store::commit_placements(
        store,
        {{.job_id = job_id, .members = {{.host = "here", .cores = {core}}}, .fence = fence}});
    EXPECT_EQ(outcomes.size(), 1U);
    EXPECT_TRUE(outcomes.at(0).attempt.has_value());
    const store::AttemptKey key{job_id, outcomes.at(0).attempt.value_or(0), fence};
    store::record_process(store, key, 0, 4711, 1, "");
    relay(key, {{.number = 1, .state = store::RelayedState{JobState::compiling}},
                {.number = 2, .state = store::RelayedState{JobState::running}}});
    return key;
}

void TestService::relay(const store::AttemptKey& key,
                        const std::vector<store::RelayedFrame>& frames) {
    store::relay_frames(store, key, frames);
}

void TestService::finish(const store::AttemptKey& key, JobState state) {
    if (state == JobState::succeeded)
        relay(key, {{.number = 1000000, .state = store::RelayedState{JobState::finishing}}});
    store::finish_attempt(store, key,
                          {.exit_kind = std::string(to_string(state)),
                           .exit_status = 0,
                           .message = {},
                           .job_state = state});
}

std::string some_bytes(std::size_t count) {
    std::string bytes;
    std::uint32_t state = 12345;
    for (std::size_t i = 0; i < count; ++i) {
        state = state * 1664525U + 1013904223U;
        bytes += static_cast<char>(state >> 24);
    }
    return bytes;
}

}    // namespace slipway
