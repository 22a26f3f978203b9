#include "server/main/options.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "api/base/sha256.h"
#include "server/main/pool_options.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

ParsedOptions parse(std::vector<const char*> words) {
    words.insert(words.begin(), "slipwayd");
    return parse_options(static_cast<int>(words.size()), words.data());
}

TEST(Options, without_anything_it_serves_on_this_machine_alone) {
    const auto parsed = parse({});
    ASSERT_TRUE(parsed.options.has_value());
    EXPECT_EQ(parsed.options->command, Command::serve);
    EXPECT_EQ(parsed.options->addresses, std::vector<std::string>{"127.0.0.1"});
    EXPECT_EQ(parsed.options->port, 8470);
    EXPECT_EQ(parsed.options->cores, 8);
    EXPECT_EQ(parsed.options->executor.filename(), "slipway-executor");
    EXPECT_FALSE(parsed.options->host_name.empty());
}

TEST(Options, the_address_of_a_slice_is_private_unless_that_is_asked_for) {
    EXPECT_EQ(parse({}).options->slice_address, "") << "found when the database answers";
    for (const char* address : {"10.0.0.5", "192.168.1.7", "fd00::5", "::1"})
        EXPECT_TRUE(parse({"--slice-address", address}).options.has_value()) << address;
    for (const char* address : {"8.8.8.8", "2606:4700::1111"}) {
        EXPECT_FALSE(parse({"--slice-address", address}).options.has_value()) << address;
        EXPECT_TRUE(
            parse({"--slice-address", address, "--allow-public-slice-address"}).options.has_value())
            << address;
    }
    for (const char* wrong : {"0.0.0.0", "::", "training-2"})
        EXPECT_FALSE(
            parse({"--slice-address", wrong, "--allow-public-slice-address"}).options.has_value())
            << wrong;
}

TEST(Options, a_node_is_checked_with_the_options_of_its_agent) {
    const auto parsed = parse({"node", "check", "--home", "/h", "--dataset-root", "/tmp",
                               "--launcher", "slurm", "--slurm-partition", "cpu"});
    ASSERT_TRUE(parsed.options);
    EXPECT_EQ(parsed.options->command, Command::node_check);
    EXPECT_EQ(parsed.options->slurm_partition, "cpu");
    EXPECT_EQ(parsed.options->dataset_roots.size(), 1U);
    EXPECT_FALSE(parse({"node"}).options);
    // What is missing is a row of its table, and ends any other command.
    const std::vector<const char*> missing{"--dataset-root", "/none", "--executor", "/none"};
    std::vector<const char*> words{"node", "check"};
    words.insert(words.end(), missing.begin(), missing.end());
    EXPECT_TRUE(parse(words).options);
    EXPECT_FALSE(parse({"node", "check", "--dataset-root", "two words=/tmp"}).options);
    EXPECT_FALSE(parse({"--dataset-root", "/none"}).options);
    EXPECT_FALSE(parse({"--executor", "/none"}).options);
}

TEST(Options, an_executor_has_its_time_to_begin) {
    EXPECT_EQ(parse({}).options->start_max, std::chrono::seconds{20});
    EXPECT_EQ(parse({"--start-max-s", "300"}).options->start_max, std::chrono::seconds{300});
    EXPECT_FALSE(parse({"--start-max-s", "0"}).options);
}

TEST(Options, nodes_of_slurm_connect_to_a_private_address_unless_another_one_is_asked_for) {
    const auto accepts = [](std::vector<const char*> words) {
        words.insert(words.begin(), {"--launcher", "slurm"});
        return parse(words).options.has_value();
    };
    EXPECT_EQ(parse({"--launcher", "slurm"}).options->slurm_address, "");
    EXPECT_EQ(parse({"--launcher", "slurm", "--slurm-address", "10.0.0.5", "--slurm-port", "7000"})
                  .options->slurm_port,
              7000);
    for (const char* address : {"10.0.0.5", "192.168.1.7", "fd00::5", "127.0.0.1"})
        EXPECT_TRUE(accepts({"--slurm-address", address})) << address;
    EXPECT_FALSE(accepts({"--slurm-address", "8.8.8.8"}));
    EXPECT_TRUE(accepts({"--slurm-address", "8.8.8.8", "--allow-public-slurm-address"}));
    for (const char* wrong : {"0.0.0.0", "::", "training-2", "10.0.0.5:7000"})
        EXPECT_FALSE(accepts({"--slurm-address", wrong, "--allow-public-slurm-address"})) << wrong;
    EXPECT_FALSE(accepts({"--slurm-port", "7000"})) << "without an address";
    EXPECT_FALSE(accepts({"--slurm-address", "10.0.0.5", "--slurm-port", "70000"}));
    EXPECT_FALSE(parse({"--slurm-address", "10.0.0.5"}).options.has_value()) << "without Slurm";
}

TEST(Options, a_machine_is_one_host_or_more) {
    EXPECT_EQ(parse({}).options->virtual_hosts, 1);
    EXPECT_EQ(parse({"--virtual-hosts", "4"}).options->virtual_hosts, 4);
    EXPECT_FALSE(parse({"--virtual-hosts", "0"}).options.has_value());
}

TEST(Options, hosts_are_of_a_pool_and_so_are_jobs_that_name_none) {
    struct Row {
        std::vector<const char*> words;
        const char* pool;
        const char* default_pool;
    };
    const std::vector<Row> rows{
        {{}, "local", ""},
        {{"--launcher", "slurm"}, "slurm", ""},
        {{"--pool", "lab", "--default-pool", "other"}, "lab", "other"},
        {{"--slurm-hosts", "2"}, "local", "local"},
        {{"--slurm-hosts", "2", "--pool", "lab"}, "lab", "lab"},
        {{"--slurm-hosts", "2", "--default-pool", "any"}, "local", ""},
        {{"--slurm-hosts", "2", "--slurm-partition", "main"}, "local", "local"}};
    for (const Row& row : rows) {
        const auto parsed = parse(row.words);
        ASSERT_TRUE(parsed.options.has_value());
        EXPECT_EQ(pool_of_hosts(*parsed.options), row.pool);
        EXPECT_EQ(default_pool_of(*parsed.options), row.default_pool);
    }
    const auto limits = parse({"--pool-max-wall-s", "slurm=86400", "--pool-max-wall-s", "any=60"});
    EXPECT_EQ(time_limits_of(*limits.options), (store::TimeLimits{{"any", 60}, {"slurm", 86400}}));
    for (const std::vector<const char*>& wrong : std::vector<std::vector<const char*>>{
             {"--pool", "any"},
             {"--pool-max-wall-s", "60"},
             {"--pool-max-wall-s", "slurm=0"},
             {"--pool-max-wall-s", "slurm=1h"},
             {"--pool-max-wall-s", "a=1", "--pool-max-wall-s", "a=2"},
             {"--pool", "two words"},
             {"--default-pool", "-dash"},
             {"--slurm-hosts", "-1"},
             {"--slurm-hosts", "257"},
             {"--slurm-hosts", "2", "--pool", "slurm"},
             {"--slurm-hosts", "2", "--launcher", "slurm"}})
        EXPECT_FALSE(parse(wrong).options.has_value()) << wrong.back();
}

TEST(Options, the_settings_are_printed_as_a_file_that_gives_the_same) {
    const TempFolder folder;
    folder.write("in.toml", "cores = 4\nlog-level = \"warn\"\nhost = [\"::1\", \"127.0.0.1\"]\n");
    const std::string in = (folder.path() / "in.toml").string();
    const auto print = [](std::vector<const char*> words) {
        testing::internal::CaptureStdout();
        const auto parsed = parse(std::move(words));
        EXPECT_FALSE(parsed.options.has_value());
        EXPECT_EQ(parsed.exit_status, 0);
        return testing::internal::GetCapturedStdout();
    };
    const std::string first = print({"serve", "--print-config", "--config", in.c_str(), "--port",
                                     "9000", "--database", "postgresql://a@b/c", "--insecure"});
    for (const char* line :
         {"cores = 4\n", "port = 9000\n", "log-level = \"warn\"\n",
          "host = [\"::1\", \"127.0.0.1\"]\n", "insecure = true\n", "drain = false\n",
          "confinement = \"best-effort\"\n", "# database = (not shown)\n"})
        EXPECT_NE(first.find(line), std::string::npos) << line << first;
    EXPECT_EQ(first.find("postgresql://"), std::string::npos);
    folder.write("out.toml", first);
    const std::string out = (folder.path() / "out.toml").string();
    EXPECT_EQ(print({"--print-config", "--config", out.c_str()}), first);
}

TEST(Options, a_join_token_comes_from_a_private_file_or_the_environment_and_its_hash_is_kept) {
    const TempFolder folder;
    const auto file = [&](const std::string& text, fs::perms mode) {
        const fs::path path = folder.write("join-token", text);
        fs::permissions(path, mode);
        return path.string();
    };
    const fs::perms own = fs::perms::owner_read | fs::perms::owner_write;
    const auto of_file = [](const std::string& path) {
        return parse(
            {"agent", "--database", "postgresql://h/d", "--join-token-file", path.c_str()});
    };
    const auto parsed = of_file(file("slj_secret\n", own));
    ASSERT_TRUE(parsed.options.has_value());
    EXPECT_EQ(parsed.options->join_token, sha256_hex("slj_secret"));
    setenv("SLIPWAY_JOIN_TOKEN", "slj_other", 1);
    EXPECT_EQ(parse({}).options.value().join_token, sha256_hex("slj_other"));
    unsetenv("SLIPWAY_JOIN_TOKEN");
    EXPECT_EQ(parse({}).options.value().join_token, "");
    for (const auto& [text, mode] :
         {std::pair<const char*, fs::perms>("slj_secret", own | fs::perms::group_read),
          {"slp_secret", own},
          {" \n", own}})
        EXPECT_FALSE(of_file(file(text, mode)).options.has_value()) << text;
    EXPECT_FALSE(of_file("/nowhere").options.has_value());
}

TEST(Options, flags_of_serve_are_read_with_and_without_the_word) {
    const TempFolder folder;
    const std::string root = folder.path().string();
    for (const bool word : {true, false}) {
        std::vector<const char*> words{"--home",
                                       "/h",
                                       "--port",
                                       "0",
                                       "--cores",
                                       "4",
                                       "--dataset-root",
                                       root.c_str(),
                                       "--host",
                                       "::1",
                                       "--host",
                                       "127.0.0.1",
                                       "--executor-grace-s",
                                       "4",
                                       "--frames-max-mib",
                                       "0",
                                       "--metric-names-max",
                                       "20",
                                       "--log-level",
                                       "debug"};
        if (word) words.insert(words.begin(), "serve");
        const auto parsed = parse(words);
        ASSERT_TRUE(parsed.options.has_value());
        EXPECT_EQ(parsed.options->home, "/h");
        EXPECT_EQ(parsed.options->port, 0);
        EXPECT_EQ(parsed.options->cores, 4);
        EXPECT_EQ(parsed.options->addresses, (std::vector<std::string>{"::1", "127.0.0.1"}));
        EXPECT_EQ(parsed.options->dataset_roots.size(), 1U);
        EXPECT_EQ(parsed.options->executor_grace, std::chrono::seconds{4});
        EXPECT_EQ(parsed.options->frames_mib, 0);
        EXPECT_EQ(parsed.options->metric_names_max, 20);
        EXPECT_EQ(parsed.options->log_level, LogLevel::debug);
    }
}

TEST(Options, a_login_link_is_of_the_home_folder_s_service_unless_told_otherwise) {
    EXPECT_FALSE(parse({"login-link"}).options->link_port);
    const auto told = parse({"login-link", "--host", "10.0.0.7", "--port", "9000"});
    EXPECT_EQ(told.options->link_host, "10.0.0.7");
    EXPECT_EQ(told.options->link_port, 9000);
    EXPECT_EQ(told.options->port, 8470) << "which is where serve listens";
}

TEST(Options, a_root_is_for_all_projects_or_for_some) {
    const TempFolder folder;
    folder.write("a/x", "");
    folder.write("b/x", "");
    const std::string open = (folder.path() / "a").string();
    const std::string closed = "ct,nlp=" + (folder.path() / "b").string();
    const auto parsed =
        parse({"--dataset-root", open.c_str(), "--dataset-root", closed.c_str()}).options;
    ASSERT_TRUE(parsed);
    ASSERT_EQ(parsed->dataset_roots.size(), 2U);
    EXPECT_TRUE(parsed->dataset_roots[0].projects.empty());
    EXPECT_EQ(parsed->dataset_roots[1].path, std::filesystem::canonical(folder.path() / "b"));
    EXPECT_EQ(parsed->dataset_roots[1].projects, (std::vector<std::string>{"ct", "nlp"}));
    for (const std::string& bad : {"ct=" + open + "/absent", "c t=" + open, "ct=" + open + "/../a"})
        EXPECT_EQ(
            parse({"--dataset-root", open.c_str(), "--dataset-root", bad.c_str()}).exit_status, 2)
            << bad;
}

TEST(Options, commands_are_told_apart) {
    EXPECT_EQ(parse({"version"}).options->command, Command::version);
    EXPECT_EQ(parse({"login-link", "--home", "/h", "--port", "9"}).options->link_port, 9);
    EXPECT_EQ(parse({"migrate"}).options->migrate_action, "up");
    EXPECT_EQ(parse({"migrate", "status"}).options->migrate_action, "status");
    EXPECT_EQ(parse({"migrate", "--down"}).options->migrate_action, "down");
    EXPECT_TRUE(parse({"migrate"}).options->migrate_dumps);
    EXPECT_FALSE(parse({"migrate", "--no-dump"}).options->migrate_dumps);
    EXPECT_EQ(parse({"agent", "--database", "postgresql:///x"}).options->command, Command::agent);
}

// What a configuration file leaves of the options of `words`.
ParsedOptions parse_with(const std::string& text, std::vector<std::string> words = {},
                         fs::perms mode = fs::perms{0644}) {
    const TempFolder folder;
    fs::permissions(folder.write("slipwayd.toml", text), mode);
    words.insert(words.end(), {"--config", (folder.path() / "slipwayd.toml").string()});
    std::vector<const char*> pointers;
    for (const std::string& word : words)
        pointers.push_back(word.c_str());
    return parse(pointers);
}

constexpr const char* sample_file = R"(# the service of the second floor
home = "/srv/slipway"
host = ["127.0.0.1", "::1"]
port = 9000
cores = 3
drain = true
log-level = "warn"
database = "postgresql:///slipway"
)";

TEST(Options, a_password_stands_in_no_file_that_others_read) {
    const std::string text = "database = \"postgresql://me:hunter2@db/slipway\"\n";
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{}, std::vector<std::string>{"agent"}}) {
        EXPECT_EQ(parse_with(text, words).exit_status, 2);
        const auto parsed = parse_with(text, words, fs::perms{0600});
        ASSERT_TRUE(parsed.options.has_value());
        EXPECT_EQ(parsed.options->database, "postgresql://me:hunter2@db/slipway");
    }
}

TEST(Options, a_file_says_what_the_command_line_does_not) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{}, std::vector<std::string>{"serve"},
          std::vector<std::string>{"agent"}}) {
        const auto parsed = parse_with(sample_file, words);
        ASSERT_TRUE(parsed.options.has_value());
        EXPECT_EQ(parsed.options->home, "/srv/slipway");
        EXPECT_EQ(parsed.options->addresses, (std::vector<std::string>{"127.0.0.1", "::1"}));
        EXPECT_EQ(parsed.options->port, 9000);
        EXPECT_EQ(parsed.options->cores, 3);
        EXPECT_TRUE(parsed.options->drain);
        EXPECT_EQ(parsed.options->log_level, LogLevel::warn);
    }
    EXPECT_EQ(parse_with(sample_file, {"migrate", "status"}).options->home, "/srv/slipway");
    EXPECT_EQ(parse_with(sample_file, {"login-link"}).options->home, "/srv/slipway");
}

TEST(Options, the_command_line_wins_over_the_file) {
    for (const bool word : {true, false}) {
        std::vector<std::string> words{"--port", "8000", "--host", "127.0.0.9", "--cores", "2"};
        if (word) words.insert(words.begin(), "serve");
        const auto parsed = parse_with(sample_file, words);
        ASSERT_TRUE(parsed.options.has_value());
        EXPECT_EQ(parsed.options->port, 8000);
        EXPECT_EQ(parsed.options->addresses, std::vector<std::string>{"127.0.0.9"});
        EXPECT_EQ(parsed.options->cores, 2);
        EXPECT_EQ(parsed.options->home, "/srv/slipway") << "which only the file says";
    }
}

TEST(Options, a_mistake_in_the_file_is_named) {
    struct Case {
        const char* text;
        const char* named;
    };
    for (const Case& one :
         {Case{"prot = 9000\n", "prot"}, Case{"port = 65536\n", "port"},
          Case{"cores = \"many\"\n", "cores"}, Case{"[network]\nport = 1\n", "network"},
          Case{"home =\n", "home"}, Case{"host = []\n", "host"},
          Case{"config = \"other.toml\"\n", "config"}, Case{"help = true\n", "help"},
          Case{"log-level = \"loud\"\n", "log-level"}, Case{"keep-s = 60\n", "keep-s"}}) {
        testing::internal::CaptureStderr();
        const auto parsed = parse_with(one.text, {"serve"});
        const std::string said = testing::internal::GetCapturedStderr();
        EXPECT_FALSE(parsed.options.has_value()) << one.text;
        EXPECT_EQ(parsed.exit_status, 2) << one.text;
        EXPECT_NE(said.find(one.named), std::string::npos) << one.text << " says: " << said;
    }
    EXPECT_EQ(parse({"--config", "/nowhere/slipwayd.toml"}).exit_status, 2);
    EXPECT_EQ(parse({"serve", "--config", "/nowhere/slipwayd.toml"}).exit_status, 2);
}

TEST(Options, plain_http_that_others_reach_must_be_asked_for) {
    for (const char* address : {"0.0.0.0", "::", "10.0.0.7", "::ffff:10.0.0.7", "2001:db8::1"}) {
        EXPECT_EQ(parse({"--host", address}).exit_status, 2) << address;
        EXPECT_EQ(parse({"serve", "--host", "127.0.0.1", "--host", address}).exit_status, 2);
        EXPECT_TRUE(parse({"--host", address, "--insecure"}).options.has_value());
        EXPECT_TRUE(
            parse({"--host", address, "--tls-cert", "/etc/hostname", "--tls-key", "/etc/hostname"})
                .options.has_value());
        EXPECT_TRUE(parse({"login-link", "--host", address}).options.has_value());
    }
    for (const char* address : {"127.0.0.1", "127.3.2.1", "::1", "::ffff:127.0.0.1"})
        EXPECT_TRUE(parse({"--host", address}).options.has_value()) << address;
}

TEST(Options, who_is_trusted_and_what_we_are_called_can_be_repeated) {
    const auto parsed = parse({"--trusted-proxy", "10.0.0.0/8", "--trusted-proxy", "::1",
                               "--public-name", "a.example", "--public-name", "b.example"});
    ASSERT_TRUE(parsed.options.has_value());
    EXPECT_EQ(parsed.options->trusted_proxies, (std::vector<std::string>{"10.0.0.0/8", "::1"}));
    EXPECT_EQ(parsed.options->public_names, (std::vector<std::string>{"a.example", "b.example"}));
    EXPECT_EQ(parse({"--trusted-proxy", "10.0.0.0/33"}).exit_status, 2);
    EXPECT_EQ(parse({"--trusted-proxy", "proxy.example"}).exit_status, 2);
}

TEST(Options, help_is_no_error_and_a_mistake_is_one) {
    EXPECT_EQ(parse({"--help"}).exit_status, 0);
    EXPECT_EQ(parse({"serve", "--help"}).exit_status, 0);
    for (const std::vector<const char*>& words :
         std::vector<std::vector<const char*>>{{"--cores", "9"},
                                               {"--cores", "0"},
                                               {"--port", "65536"},
                                               {"--port", "x"},
                                               {"--dataset-root", "/nowhere/at/all"},
                                               {"--tls-cert", "/etc/hostname"},
                                               {"--log-level", "loud"},
                                               {"--executor-grace-s", "0"},
                                               {"--frames-max-mib", "-1"},
                                               {"--metric-names-max", "-1"},
                                               {"migrate", "sideways"},
                                               {"migrate", "status", "--down"},
                                               {"agent"},
                                               {"login-link", "--keep-s", "59"},
                                               {"login-link", "--keep-s", "601"},
                                               {"dance"},
                                               {"--nonsense"}}) {
        const auto parsed = parse(words);
        EXPECT_FALSE(parsed.options.has_value()) << words[0];
        EXPECT_EQ(parsed.exit_status, 2) << words[0];
    }
}

}    // namespace
}    // namespace slipway
