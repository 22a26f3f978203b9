#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/spec/table/kinds.h"

namespace slipway {

/// One field of an object: everything that decoding, defaults, schema and documentation need.
struct Row {
    std::string_view name;
    std::string_view summary;    ///< one sentence
    bool required = false;
    bool nullable = false;                 ///< null says the same as absent
    std::vector<std::string_view> only;    ///< the variants that have it; empty: all
    std::string_view unless;               ///< another field that says the same in full
    std::string wanted;                    ///< its kind in words
    std::function<void(const Json&, void* object, const Reader&)> read;
    /// None when there is nothing to write.
    std::function<std::optional<Json>(const void* object)> write;
    std::function<Json(Definitions&)> schema;
    const ObjectTable* nested = nullptr;    ///< when it is an object with a table of its own
    std::optional<Json> standard;           ///< its default; none: absent by default

    bool in(std::string_view variant) const;
};

/// What a row needs besides name, member and kind.
struct RowOptions {
    bool required = false;
    bool nullable = false;
    std::vector<std::string_view> only = {};
    std::string_view unless = {};
    bool absent_when_empty = false;    ///< an empty text or list in the struct means "not given"
};

/// An object comes in variants that share some fields and have others of their own.
struct Variants {
    /// The field whose word says which: "name". Empty: the fields that are present say it.
    std::string_view tag;
    std::vector<std::string_view> names;
    /// The variant when nothing says which; empty: something must.
    std::string_view standard;
    /// The variant of a decoded object.
    std::function<std::string_view(const void* object)> of;
};

/// The table of one object's fields, and what follows from it.
class ObjectTable {
public:
    using Rule = std::function<void(const Json& given, void* object, const Reader&)>;

    ObjectTable(std::string_view name, std::string_view summary) : name_(name), summary_(summary) {}
    virtual ~ObjectTable() = default;

    std::string_view name() const { return name_; }
    std::string_view summary() const { return summary_; }
    const std::vector<Row>& rows() const { return rows_; }
    const std::optional<Variants>& variants() const { return variants_; }
    /// Null for an unknown name.
    const Row* find(std::string_view name) const;

    /// All problems of `json` as such an object; nothing is kept.
    std::vector<Problem> check(const Json& json) const;

    /// Unknown fields, fields of another variant, every field, then the rules when all was well.
    void read_into(const Json& json, void* object, const Reader& at) const;
    Json write_from(const void* object) const;
    /// As an object of this variant, whatever the object itself says; empty: every field.
    Json write_variant(const void* object, std::string_view variant) const;

    /// Reports the given fields that `variant` does not have.
    void report_foreign(const Json& json, std::string_view variant, const Reader& at) const;

    /// As a JSON Schema: with variants, one alternative for each.
    Json schema(Definitions& definitions) const;
    Json variant_schema(std::string_view variant, Definitions& definitions) const;

    /// "an object with epochs or steps, optimizer": what must be in it.
    std::string needs() const;

    /// When fields tell the variant: the first required one of each.
    std::vector<std::string_view> variant_choices() const;

    /// Where a field of this name is found below: "/train/optimizer/lr"; none when nowhere.
    std::optional<std::string> pointer_to(std::string_view field) const;

protected:
    /// Reads into an object made for the occasion.
    virtual void try_read(const Json& json, const Reader& at) const = 0;

    void report_unknown(const Json& json, const Reader& at) const;
    std::optional<std::string_view> find_variant(const Json& json, const Reader& at) const;
    std::optional<std::string_view> variant_by_tag(const Json& json) const;
    std::optional<std::string_view> variant_by_presence(const Json& json, const Reader& at) const;
    void read_row(const Row& row, const Json& json, void* object, const Reader& at) const;
    std::vector<std::string_view> field_names(std::string_view variant = {}) const;

    std::string_view name_;
    std::string_view summary_;
    std::vector<Row> rows_;
    std::vector<std::string_view> later_;    // documented, not there yet
    std::optional<Variants> variants_;
    std::vector<Rule> rules_;
    bool open_ = false;    // schemas of answers allow fields that later versions add
};

template <class T>
struct Nested;

template <class Kind>
inline const ObjectTable* nested_table(const Kind&) {
    return nullptr;
}
template <class T>
inline const ObjectTable* nested_table(const Nested<T>& kind);

template <class M>
inline constexpr bool is_optional = false;
template <class M>
inline constexpr bool is_optional<std::optional<M>> = true;

/// The table of a struct T. Adding a field to the API is adding a member and a row:
///     Object<MonitorSpec>("MonitorSpec", "What is reported while it runs.")
///         .field("log_every_steps", &MonitorSpec::log_every_steps, "Steps between points.",
///                Integer{.min = 1})
template <class T>
class Object final : public ObjectTable {
public:
    using ObjectTable::ObjectTable;

    /// Defaults come from T's own initialisers; an empty optional means absent.
    template <class M, class Kind>
    Object& field(std::string_view name, M T::*member, std::string_view summary, Kind kind,
                  RowOptions options = {}) {
        Row row = described(name, summary, kind, options);
        row.read = [member, kind](const Json& json, void* object, const Reader& at) {
            M& slot = static_cast<T*>(object)->*member;
            if constexpr (is_optional<M>) {
                typename Kind::Value value{};
                kind.read(json, value, at);
                slot = std::move(value);
            } else {
                kind.read(json, slot, at);
            }
        };
        row.write = [member, kind, omit = options.absent_when_empty](const void* object) {
            return written(static_cast<const T*>(object)->*member, kind, omit);
        };
        const T standard{};
        if (!options.required && row.nested == nullptr) row.standard = row.write(&standard);
        rows_.push_back(std::move(row));
        return *this;
    }

    /// A field of an answer: described and checked, not kept.
    template <class Kind>
    Object& field(std::string_view name, std::string_view summary, Kind kind,
                  RowOptions options = {}) {
        Row row = described(name, summary, kind, options);
        row.read = [kind](const Json& json, void*, const Reader& at) {
            typename Kind::Value value{};
            kind.read(json, value, at);
        };
        row.write = [](const void*) { return std::optional<Json>{}; };
        rows_.push_back(std::move(row));
        return *this;
    }

    /// Fields that the documentation promises for later.
    Object& later(std::vector<std::string_view> names) {
        later_ = std::move(names);
        return *this;
    }

    template <class Of>
    Object& variants(std::string_view tag, std::vector<std::string_view> names,
                     std::string_view standard, Of of) {
        variants_ = Variants{tag, std::move(names), standard, [of](const void* object) {
                                 return std::string_view(of(*static_cast<const T*>(object)));
                             }};
        return *this;
    }

    /// Looks at the whole object once each field is fine; may complete `value`.
    Object& rule(std::function<void(const Json& given, T& value, const Reader& at)> judge) {
        rules_.push_back([judge](const Json& given, void* object, const Reader& at) {
            judge(given, *static_cast<T*>(object), at);
        });
        return *this;
    }

    /// An answer: clients must expect fields that later versions add.
    Object& open() {
        open_ = true;
        return *this;
    }

    void read(const Json& json, T& value, const Reader& at) const { read_into(json, &value, at); }
    Json write(const T& value) const { return write_from(&value); }

private:
    void try_read(const Json& json, const Reader& at) const override {
        T value{};
        read_into(json, &value, at);
    }

    template <class Kind>
    static Row described(std::string_view name, std::string_view summary, const Kind& kind,
                         const RowOptions& options) {
        Row row;
        row.name = name;
        row.summary = summary;
        row.required = options.required;
        row.nullable = options.nullable;
        row.only = options.only;
        row.unless = options.unless;
        row.wanted = kind.wanted();
        row.schema = [kind](Definitions& definitions) { return kind.schema(definitions); };
        row.nested = nested_table(kind);
        return row;
    }

    template <class M, class Kind>
    static std::optional<Json> written(const M& slot, const Kind& kind, bool absent_when_empty) {
        if constexpr (is_optional<M>) {
            return slot ? std::optional(kind.write(*slot)) : std::nullopt;
        } else {
            if constexpr (requires { slot.empty(); }) {
                if (absent_when_empty && slot.empty()) return std::nullopt;
            }
            return kind.write(slot);
        }
    }
};

/// A field that is an object with a table of its own, which lives for ever.
template <class T>
struct Nested {
    const Object<T>* table;

    using Value = T;
    void read(const Json& json, T& value, const Reader& at) const { table->read(json, value, at); }
    Json write(const T& value) const { return table->write(value); }
    Json schema(Definitions& definitions) const { return definitions.refer(*table); }
    std::string wanted() const { return "an object"; }
};

template <class T>
inline const ObjectTable* nested_table(const Nested<T>& kind) {
    return kind.table;
}

/// A field that is an object of the table that has the field, or of one around it. That table is
/// not made yet when its rows are: it is asked for when it is used.
template <class T>
struct Recursive {
    const Object<T>& (*table)();

    using Value = T;
    void read(const Json& json, T& value, const Reader& at) const { table().read(json, value, at); }
    Json write(const T& value) const { return table().write(value); }
    Json schema(Definitions& definitions) const { return definitions.refer(table()); }
    std::string wanted() const { return "an object"; }
};

/// What an answer's table describes: nothing is decoded.
struct Answer {};

}    // namespace slipway
