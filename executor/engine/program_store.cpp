#include "executor/engine/program_store.h"

namespace slipway {

std::shared_ptr<const Executable> ProgramStore::find(const ProgramKey& key) {
    const auto known = by_key_.find(key);
    if (known == by_key_.end()) return nullptr;
    recent_.splice(recent_.begin(), recent_, known->second);
    return known->second->second;
}

void ProgramStore::insert(const ProgramKey& key, std::shared_ptr<const Executable> executable) {
    if (const auto known = by_key_.find(key); known != by_key_.end()) recent_.erase(known->second);
    recent_.emplace_front(key, std::move(executable));
    by_key_[key] = recent_.begin();
    if (recent_.size() <= programs_max) return;
    by_key_.erase(recent_.back().first);
    recent_.pop_back();
}

}    // namespace slipway
