#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "scheduler/store/pg/values.h"
#include "scheduler/store/store.h"

// Text on its way between the domain and the database.
namespace slipway::store {

std::string labels_to_json(const std::map<std::string, std::string>& labels);
std::map<std::string, std::string> labels_from_json(std::string_view text);

/// For `ilike`: finds `part` anywhere; % _ and \ in it mean themselves.
std::string contains_pattern(std::string_view part);

/// Text that the database takes: valid UTF-8 without NUL (each bad byte becomes U+FFFD), cut to
/// `bytes_max` between characters.
std::string repaired_text(std::string_view text, std::size_t bytes_max);

/// JSON that the database takes as json and as jsonb; what is no JSON at all becomes
/// {"unreadable": "…"}.
JsonText repaired_json(const JsonText& text);

/// Reason columns of a row; nothing when null.
std::optional<Reason> reason_of(const Row& row);

/// Parts of a reason as parameters.
Param reason_code(const std::optional<Reason>& reason);
Param reason_message(const std::optional<Reason>& reason);

/// Cursors of lists. `scope` names the list with its order and filter: a cursor is only good for
/// the scope it was made for.
struct CursorPlace {
    std::string id;
    std::string sort_key;    ///< empty when the list is in the order of ids
};

std::string write_cursor(std::string_view scope, const CursorPlace& place);

/// Nothing for an empty cursor. Throws Error{invalid_argument} for one that is not ours.
std::optional<CursorPlace> read_cursor(std::string_view scope, std::string_view cursor);

/// The id after which a page in the order of ids begins, as a parameter: null for the first.
Param place_of(std::string_view scope, const PageRequest& page);

/// `limit` + 1 rows are asked for, to know whether more follow. Throws Error{invalid_argument} when
/// the limit is not 1 to 200.
int rows_to_ask(const PageRequest& page);

/// The place of a row in a list in the order of ids.
CursorPlace place_of_id(const Row& row);

/// Of the rows of one page of a list whose items hold what users wrote (specs, problems, files):
/// the statement ends the page with the row that reaches it, as text. At least one row always
/// comes.
inline constexpr int page_bytes_max = 2 << 20;

/// Turns the rows of a list into a page; `item_of` makes an item of a Row, `place_of_row` its
/// CursorPlace. `rows_found` counts those too that the statement left out for their bytes.
template <class T, class ItemOf, class PlaceOf>
Page<T> make_page(const Rows& rows, int rows_found, const PageRequest& request,
                  std::string_view scope, const ItemOf& item_of, const PlaceOf& place_of_row) {
    const int taken = std::min(rows.size(), request.limit);
    Page<T> page;
    for (int index = 0; index < taken; ++index)
        page.items.push_back(item_of(rows[index]));
    if (rows_found > taken) page.next_cursor = write_cursor(scope, place_of_row(rows[taken - 1]));
    return page;
}

/// Of a statement whose rows are small: all that it found came.
template <class T, class ItemOf, class PlaceOf>
Page<T> make_page(const Rows& rows, const PageRequest& request, std::string_view scope,
                  const ItemOf& item_of, const PlaceOf& place_of_row) {
    return make_page<T>(rows, rows.size(), request, scope, item_of, place_of_row);
}

/// Of a statement that takes `page_bytes_max` and gives `rows_found`.
template <class T, class ItemOf, class PlaceOf>
Page<T> make_cut_page(const Rows& rows, const PageRequest& request, std::string_view scope,
                      const ItemOf& item_of, const PlaceOf& place_of_row) {
    const int rows_found = rows.empty() ? 0 : rows[0].small("rows_found");
    return make_page<T>(rows, rows_found, request, scope, item_of, place_of_row);
}

}    // namespace slipway::store
