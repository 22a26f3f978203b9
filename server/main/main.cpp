#include <fmt/format.h>

#include <cstdio>

#include "api/base/error.h"
#include "api/base/log.h"
#include "server/main/commands.h"
#include "server/main/options.h"
#include "server/main/serve.h"
#include "server/main/signals.h"

namespace slipway {
namespace {

int run(const Options& options) {
    switch (options.command) {
        case Command::migrate:
            return migrate(options);
        case Command::login_link:
            return print_login_link(options);
        case Command::doctor:
            return doctor(options);
        case Command::node_check:
            return check_node(options);
        case Command::verify:
            return verify(options);
        case Command::backup:
            return backup(options);
        case Command::restore:
            return restore(options);
        case Command::version:
            return print_version();
        case Command::serve:
        case Command::agent:
            break;
    }
    StopSignals signals;
    return options.command == Command::agent ? run_agent(options, signals)
                                             : serve(options, signals);
}

int exit_status(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_argument:
            return 2;
        case ErrorCode::conflict:
            return 3;
        case ErrorCode::unavailable:
            return 4;
        default:
            return 1;
    }
}

}    // namespace
}    // namespace slipway

int main(int argc, char** argv) {
    try {
        const slipway::ParsedOptions parsed = slipway::parse_options(argc, argv);
        if (!parsed.options) return parsed.exit_status;
        return slipway::run(*parsed.options);
    } catch (const slipway::Error& error) {
        fmt::print(stderr, "slipwayd: {}\n", error.what());
        return slipway::exit_status(error.code());
    } catch (const std::exception& error) {
        fmt::print(stderr, "slipwayd: {}\n", error.what());
        return 1;
    }
}
