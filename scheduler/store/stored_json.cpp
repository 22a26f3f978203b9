#include "scheduler/store/stored_json.h"

#include <nlohmann/json.hpp>

namespace slipway::store {

Json stored_json(const JsonText& text) {
    if (text.empty()) return nullptr;
    Json value = Json::parse(text, nullptr, false);
    return value.is_discarded() ? Json(nullptr) : value;
}

}    // namespace slipway::store
