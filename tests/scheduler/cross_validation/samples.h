#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "api/base/parsed_json.h"
#include "api/spec/documents.h"
#include "scheduler/cross_validation/checked_request.h"
#include "tests/scheduler/submission/samples.h"

// Requests that are accepted, and splits that an agent has made.
namespace slipway {

class CrossValidationTest : public submission::SubmissionTest {
protected:
    /// On the dataset `points`, with these changes.
    static Json request(const Json& changes = Json::object()) {
        Json body{{"split", {{"method", "kfold"}, {"folds", 3}}}, {"job", training()}};
        body.merge_patch(changes);
        return body;
    }

    Decoded<CheckedCrossValidation> checked_request(const Json& body) {
        return check_cross_validation(decode_cross_validation({.value = body, .duplicates = {}}),
                                      {.token_id = token}, store);
    }

    std::string create(const Json& changes = Json::object()) {
        auto checked_one = checked_request(request(changes));
        EXPECT_TRUE(checked_one.ok()) << joined_messages(checked_one.problems);
        StorableCrossValidation made = storable(std::move(checked_one.value), token);
        return store::create_cross_validation(store, std::move(made.wanted), made.split).id;
    }

    /// The split that waits is made, with folds of ten samples each.
    std::string make_split(int folds = 3, int repeats = 1) {
        const auto claim = store::claim_split(store, host, std::chrono::seconds{60});
        EXPECT_TRUE(claim.has_value());
        if (!claim) return {};
        Json parts = Json::array();
        for (int fold = 0; fold < folds; ++fold)
            parts.push_back({{"fold", fold}, {"train", 10 * (folds - 1)}, {"val", 10}});
        const Json report{{"parts", parts}, {"repeats", repeats}, {"folds", folds}};
        EXPECT_TRUE(store::finish_split(store, claim->id, claim->fence,
                                        {.ready = true,
                                         .report = report.dump(),
                                         .folds = folds,
                                         .hash = "sha256:" + std::string(64, 'a'),
                                         .bytes = 3}));
        return claim->id;
    }

    std::string made_token(const std::string& role = "editor") {
        const std::string id = new_id("tok");
        store::create_token(store, {.id = id,
                                    .name = "of a test",
                                    .lookup = id,
                                    .sha256 = std::string(64, 'b'),
                                    .role = role});
        return id;
    }

    const std::string token = made_token();
};

}    // namespace slipway
