#include "api/base/check.h"
#include "api/base/error.h"
#include "scheduler/store/text.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

namespace slipway {

std::string run_cursor(std::span<const std::byte> input) {
    const std::string cursor = text_of(input);
    try {
        const auto place = store::read_cursor("jobs", cursor);
        if (!place) return "from the beginning";
        check(store::write_cursor("jobs", *place) == cursor, "a place has one cursor");
        for (const std::string& part : {place->id, place->sort_key})
            check(store::repaired_text(part, part.size()) == part,
                  "what a cursor says can be given to the database");
        return "after " + place->id + ", sorted by '" + place->sort_key + "'";
    } catch (const Error& error) {
        check(error.code() == ErrorCode::invalid_argument, "a bad cursor is the client's mistake");
        return error.what();
    }
}

}    // namespace slipway
