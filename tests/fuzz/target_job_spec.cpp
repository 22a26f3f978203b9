#include "api/base/check.h"
#include "api/base/parsed_json.h"
#include "api/spec/documents.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

namespace slipway {

std::string run_job_spec(std::span<const std::byte> input) {
    const Result<ParsedJson> parsed = parse_json(text_of(input));
    if (!parsed) return parsed.error().what();
    const Decoded<JobSpec> job = decode_job_spec(*parsed);
    if (!job.ok()) {
        std::string text;
        for (const Problem& problem : job.problems) {
            check(!problem.message.empty(), "a problem has a message");
            text += (text.empty() ? "" : "\n") + problem.pointer + ": " + problem.message;
        }
        Json(text).dump();    // refuses what is not UTF-8
        return text;
    }
    const Json normal = encode(job.value);
    const Decoded<JobSpec> again = decode_job_spec(normal);
    check(again.ok(), "the normalised form of a job is a job");
    check(encode(again.value) == normal, "normalising twice changes nothing");
    return "a job";
}

}    // namespace slipway
