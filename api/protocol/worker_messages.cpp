#include "api/protocol/worker_messages.h"

#include <nlohmann/json.hpp>

#include "api/base/json.h"
#include "api/protocol/members.h"

namespace slipway {

namespace {

template <class T>
std::optional<T> worker_field(std::string_view message, const char* name) {
    const Json json = Json::parse(message, nullptr, false);
    if (!json.is_object()) return std::nullopt;
    try {
        return member<T>(json, name);
    } catch (const Error&) {
        return std::nullopt;
    }
}

}    // namespace

std::string to_message(const WorkerOrder& order) {
    return Json{{"run_folder", order.run_folder}}.dump();
}

std::string to_message(const WorkerAnswer& answer) {
    return Json{{"exit_code", answer.exit_code}}.dump();
}

std::optional<WorkerOrder> read_worker_order(std::string_view message) {
    auto folder = worker_field<std::string>(message, "run_folder");
    if (!folder) return std::nullopt;
    return WorkerOrder{.run_folder = *std::move(folder)};
}

std::optional<WorkerAnswer> read_worker_answer(std::string_view message) {
    const auto code = worker_field<int>(message, "exit_code");
    if (!code) return std::nullopt;
    return WorkerAnswer{.exit_code = *code};
}

}    // namespace slipway
