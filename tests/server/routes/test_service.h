#pragma once

#include <nlohmann/json.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/base/json.h"
#include "api/client/http_client.h"
#include "scheduler/store/relay.h"
#include "scheduler/store/store.h"
#include "server/auth/authenticator.h"
#include "server/http/metrics.h"
#include "server/http/server.h"
#include "server/routes/health.h"
#include "server/routes/long_poll.h"
#include "server/routes/services.h"
#include "server/sse/hub.h"
#include "server/sse/project_hub.h"
#include "tests/support/temp_folder.h"
#include "tests/support/temp_postgres.h"

namespace slipway {

/// The routes behind a real server on a database of their own; no scheduler and no agent: tests
/// move jobs by themselves. Torn down in the reverse order.
class TestService {
public:
    TestService();
    ~TestService();

    using Headers = std::vector<HttpHeader>;

    /// One request as this token ("": without any). A body of null is none.
    client::ClientResponse call(const std::string& method, const std::string& target,
                                const Json& body = nullptr, const Headers& headers = {});
    client::ClientResponse call_as(const std::string& token, const std::string& method,
                                   const std::string& target, const Json& body = nullptr,
                                   const Headers& headers = {});
    client::ClientResponse send(client::ClientRequest request, const std::string& token);
    /// The JSON of an answer that must have this status.
    Json expect(int status, const std::string& method, const std::string& target,
                const Json& body = nullptr, const Headers& headers = {});
    client::HttpClient client(const std::string& token) const;

    std::string token(Role role, std::vector<std::string> projects = {});
    /// Of a member, who gets this role in each of these projects. A project that is new is made.
    std::string member_token(const std::string& member,
                             const std::map<std::string, Role>& roles = {},
                             Role token_role = Role::admin);

    /// A dataset whose check has ended well; its id.
    std::string ready_dataset(const std::string& name, const std::string& project = "default");
    /// A spec that is accepted on the dataset `points`.
    static Json spec();
    /// Submits `spec()` with these changes; its id.
    std::string submit(const Json& changes = Json::object());
    /// Gives the queued job core 1 of a host and lets it run: its attempt.
    store::AttemptKey run(const std::string& job_id, int core = 1);
    void relay(const store::AttemptKey& key, const std::vector<store::RelayedFrame>& frames);
    void finish(const store::AttemptKey& key, JobState state = JobState::succeeded);

    TempFolder folder;
    TempDatabase database;
    store::Store store;
    Authenticator authenticator;
    HttpMetrics metrics;
    LongPolls long_polls;
    HealthMonitor health;
    ProjectHub project_hub;
    Hub hub;
    Services services;
    std::unique_ptr<Server> server;
    std::string admin;    ///< the text of an admin's token
};

/// Bytes that are not text, the same each time.
std::string some_bytes(std::size_t count);

}    // namespace slipway
