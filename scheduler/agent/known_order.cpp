#include "scheduler/agent/known_order.h"

#include "api/base/error.h"
#include "api/base/parsed_json.h"
#include "api/protocol/attempt_order.h"
#include "api/spec/documents.h"
#include "scheduler/agent/run_folder.h"

namespace slipway {

bool knows_order(const std::filesystem::path& run_folder) {
    const auto text = read_at_most(run_folder / "attempt.json", attempt_order_bytes_max);
    const auto parsed = parse_json(text.value_or(""), {.bytes_max = attempt_order_bytes_max});
    if (!parsed) return false;
    try {
        return decode_job_spec(read_attempt_order(parsed->value).spec).ok();
    } catch (const Error&) {
        return false;
    }
}

}    // namespace slipway
