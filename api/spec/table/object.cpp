// A document is described once, as rows of fields (object.h), and everything else follows from the
// rows: this file decodes, finds the variant, and writes problems; schema and documentation read
// the same rows. Decoding does not stop at the first problem: a caller gets all of them at once,
// sorted by where they are, each with a pointer, what was wanted and the nearest name. A generated
// decoder, or one written by hand per struct, was the alternative: it would have to be kept equal
// to schema, defaults and pages.
//
// What the functions keep: a field that the variant does not have is an error, never ignored; rules
// that compare fields run only when every field of the object by itself is right; the number of
// problems is bounded, so a body full of mistakes costs little.

#include "api/spec/table/object.h"

#include <algorithm>

namespace slipway {

namespace {

std::string list_of(const std::vector<std::string_view>& names) {
    std::string text;
    for (const std::string_view name : names)
        text += (text.empty() ? "" : ", ") + std::string(name);
    return text;
}

}    // namespace

bool Row::in(std::string_view variant) const {
    return only.empty() || std::find(only.begin(), only.end(), variant) != only.end();
}

const Row* ObjectTable::find(std::string_view name) const {
    const auto found =
        std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) { return row.name == name; });
    return found == rows_.end() ? nullptr : &*found;
}

std::vector<Problem> ObjectTable::check(const Json& json) const {
    std::vector<Problem> problems;
    try_read(json, Reader(problems, *this));
    sort_problems(problems);
    return problems;
}

void ObjectTable::read_into(const Json& json, void* object, const Reader& at) const {
    if (!json.is_object()) return at.refuse("wrong_type", "an object", json);
    const std::size_t problems = at.problem_count();
    report_unknown(json, at);
    const std::optional<std::string_view> variant = find_variant(json, at);
    if (variant) report_foreign(json, *variant, at);
    for (const Row& row : rows_) {
        const bool is_there = json.contains(row.name);
        if (variant && !row.in(*variant)) continue;
        if (is_there) {
            read_row(row, json, object, at);
        } else if (row.required && (variant || row.only.empty())) {
            const Reader here = at.at(row.name);
            here.report("missing_field",
                        fmt::format("{} is required: {}", here.path(),
                                    row.nested == nullptr ? row.wanted : row.nested->needs()));
        }
    }
    if (at.problem_count() > problems) return;
    for (const Rule& rule : rules_)
        rule(json, object, at);
}

void ObjectTable::read_row(const Row& row, const Json& json, void* object, const Reader& at) const {
    const Json& value = *json.find(row.name);
    if (!row.unless.empty() && json.contains(row.unless)) {
        const Reader here = at.at(row.name);
        return here.report("conflicting_fields",
                           fmt::format("{} cannot be combined with {}; leave one of them out",
                                       here.path(), row.unless));
    }
    if (row.nullable && value.is_null()) return;
    row.read(value, object, at.at(row.name));
}

void ObjectTable::report_unknown(const Json& json, const Reader& at) const {
    for (const auto& [key, value] : json.items()) {
        if (at.full()) return;
        if (find(key) != nullptr) continue;
        const Reader here = at.at(std::string_view(key));
        const std::vector<std::string_view> names = field_names();
        if (std::find(later_.begin(), later_.end(), key) != later_.end()) {
            here.report("not_available_yet",
                        fmt::format("{} is not available yet; leave it out. {} has {}", here.path(),
                                    at.path(), list_of(names)),
                        as_strings(names));
            continue;
        }
        std::string hint;
        if (const auto meant = nearest(key, names)) {
            hint = fmt::format("did you mean \"{}\"?", *meant);
        } else if (const auto place = at.root().pointer_to(key)) {
            hint = fmt::format("did you mean {}?", dotted_path(*place));
        } else {
            hint = fmt::format("{} has {}", at.path(), list_of(names));
        }
        here.report("unknown_field", fmt::format("there is no field {}; {}", here.path(), hint),
                    as_strings(names));
    }
}

std::optional<std::string_view> ObjectTable::find_variant(const Json& json,
                                                          const Reader& at) const {
    if (!variants_) return std::nullopt;
    return variants_->tag.empty() ? variant_by_presence(json, at) : variant_by_tag(json);
}

std::optional<std::string_view> ObjectTable::variant_by_tag(const Json& json) const {
    const auto tag = json.find(variants_->tag);
    if (tag == json.end()) {
        if (variants_->standard.empty()) return std::nullopt;
        return variants_->standard;
    }
    if (!tag->is_string()) return std::nullopt;
    const auto& names = variants_->names;
    const auto found = std::find(names.begin(), names.end(), tag->get_ref<const std::string&>());
    if (found == names.end()) return std::nullopt;
    return *found;
}

std::optional<std::string_view> ObjectTable::variant_by_presence(const Json& json,
                                                                 const Reader& at) const {
    for (const std::string_view name : variants_->names) {
        for (const Row& row : rows_) {
            if (!row.only.empty() && row.in(name) && json.contains(row.name)) return name;
        }
    }
    if (!variants_->standard.empty()) return variants_->standard;
    const std::vector<std::string_view> choices = variant_choices();
    if (choices.empty()) return std::nullopt;
    at.at(choices.front())
        .report("missing_field",
                fmt::format("{} requires {}: give exactly one of them", at.path(),
                            joined_with_or(choices)),
                as_strings(choices));
    return std::nullopt;
}

std::vector<std::string_view> ObjectTable::variant_choices() const {
    std::vector<std::string_view> choices;
    if (!variants_ || !variants_->tag.empty()) return choices;
    for (const std::string_view name : variants_->names) {
        const auto row = std::find_if(rows_.begin(), rows_.end(), [&](const Row& one) {
            return one.required && !one.only.empty() && one.in(name);
        });
        if (row != rows_.end()) choices.push_back(row->name);
    }
    return choices;
}

std::string ObjectTable::needs() const {
    std::vector<std::string> parts;
    if (variants_ && variants_->standard.empty() && !variant_choices().empty()) {
        parts.push_back(joined_with_or(variant_choices()));
    }
    for (const Row& row : rows_) {
        if (row.required && row.only.empty()) parts.emplace_back(row.name);
    }
    if (parts.empty()) return "an object";
    return "an object with " + list_of({parts.begin(), parts.end()});
}

void ObjectTable::report_foreign(const Json& json, std::string_view variant,
                                 const Reader& at) const {
    for (const Row& row : rows_) {
        if (row.in(variant) || !json.contains(row.name)) continue;
        const Reader here = at.at(row.name);
        const std::vector<std::string_view> names = field_names(variant);
        if (variants_ && variants_->tag.empty()) {
            std::vector<std::string_view> others;
            for (const Row& other : rows_) {
                if (!other.only.empty() && other.in(variant) && json.contains(other.name)) {
                    others.push_back(other.name);
                }
            }
            const std::string rivals = others.empty() ? std::string(variant) : list_of(others);
            here.report("conflicting_fields",
                        fmt::format("{} cannot be combined with {}; leave one of them out",
                                    here.path(), rivals),
                        as_strings(names));
        } else {
            here.report("not_in_this_variant",
                        fmt::format("{} belongs to {}, not to {}; leave it out", here.path(),
                                    joined_with_or(row.only), variant),
                        as_strings(names));
        }
    }
}

Json ObjectTable::write_from(const void* object) const {
    return write_variant(object, variants_ && variants_->of ? variants_->of(object) : "");
}

Json ObjectTable::write_variant(const void* object, std::string_view variant) const {
    Json json = Json::object();
    for (const Row& row : rows_) {
        if (!variant.empty() && !row.in(variant)) continue;
        if (!row.unless.empty() && find(row.unless)->write(object)) continue;
        if (std::optional<Json> value = row.write(object)) json[row.name] = std::move(*value);
    }
    return json;
}

std::vector<std::string_view> ObjectTable::field_names(std::string_view variant) const {
    std::vector<std::string_view> names;
    for (const Row& row : rows_) {
        if (variant.empty() || row.in(variant)) names.push_back(row.name);
    }
    return names;
}

std::optional<std::string> ObjectTable::pointer_to(std::string_view field) const {
    for (const Row& row : rows_) {
        if (row.name == field) return json_pointer("", field);
        if (row.nested == nullptr) continue;
        if (const auto inner = row.nested->pointer_to(field)) {
            return json_pointer("", row.name) + *inner;
        }
    }
    return std::nullopt;
}

Json ObjectTable::schema(Definitions& definitions) const {
    Json schema;
    if (!variants_ || variants_->names.empty()) {
        schema = variant_schema({}, definitions);
    } else {
        Json alternatives = Json::array();
        for (const std::string_view name : variants_->names) {
            alternatives.push_back(variant_schema(name, definitions));
        }
        // The alternatives exclude one another by the constant of their tag. A reader of oneOf
        // cannot see that where the tag may be absent.
        const bool tag_may_be_absent = !variants_->tag.empty() && !variants_->standard.empty();
        schema[tag_may_be_absent ? "anyOf" : "oneOf"] = std::move(alternatives);
    }
    schema["description"] = summary_;
    return schema;
}

Json ObjectTable::variant_schema(std::string_view variant, Definitions& definitions) const {
    Json properties = Json::object();
    Json required = Json::array();
    Json excluded = Json::array();
    for (const Row& row : rows_) {
        if (!variant.empty() && !row.in(variant)) continue;
        Json field = row.schema(definitions);
        const bool is_tag = !variant.empty() && variants_ && row.name == variants_->tag;
        if (is_tag) field = {{"const", variant}};
        if (row.nullable) field = {{"anyOf", Json::array({field, {{"type", "null"}}})}};
        field["description"] = row.summary;
        if (row.standard && !is_tag) field["default"] = *row.standard;
        properties[row.name] = std::move(field);
        if (!row.unless.empty()) {
            Json both = Json::object();
            both[row.name] = both[row.unless] = Json::object();
            excluded.push_back({{"properties", std::move(both)},
                                {"required", Json::array({row.name, row.unless})}});
        }
        // A variant that is not the standard one has to be named.
        if (row.required || (is_tag && variant != variants_->standard))
            required.push_back(row.name);
    }
    Json schema{{"type", "object"}, {"properties", std::move(properties)}};
    if (!required.empty()) schema["required"] = std::move(required);
    if (excluded.size() == 1) schema["not"] = std::move(excluded.front());
    if (excluded.size() > 1) schema["not"] = {{"anyOf", std::move(excluded)}};
    if (!open_) schema["additionalProperties"] = false;
    return schema;
}

Json Definitions::refer(const ObjectTable& table) {
    const std::string name(table.name());
    if (!all_.contains(name)) {
        all_[name] = nullptr;    // ends the recursion of a table that contains itself
        all_[name] = table.schema(*this);
    }
    return {{"$ref", prefix_ + name}};
}

}    // namespace slipway
