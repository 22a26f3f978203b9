#include <algorithm>

#include "api/base/version.h"
#include "api/spec/documents.h"
#include "api/spec/tables.h"

namespace slipway {

namespace {

/// [{"name", "parameters": schema}] for each variant of a table, the tag itself left out.
Json variants_of(const ObjectTable& table, Definitions& definitions) {
    Json list = Json::array();
    for (const std::string_view name : table.variants()->names) {
        Json schema = table.variant_schema(name, definitions);
        const std::string tag(table.variants()->tag);
        schema["properties"].erase(tag);
        if (const auto required = schema.find("required"); required != schema.end()) {
            required->erase(std::remove(required->begin(), required->end(), tag), required->end());
        }
        list.push_back({{"name", name}, {"parameters", std::move(schema)}});
    }
    return list;
}

Json formats(Definitions& definitions) {
    Json list = Json::array();
    for (const std::string_view name : all_words<DatasetFormat>()) {
        const DatasetFormat format = *parse_word<DatasetFormat>(name);
        list.push_back({{"name", name}, {"options", dataset_options_schema(format, definitions)}});
    }
    return list;
}

template <Spelled E>
Json words() {
    return as_strings(all_words<E>());
}

/// Of every task, each once.
Json accelerators() {
    return {{"cores", Json::array({1, 8})},
            {"core_ids", Json::array({1, 2, 3, 4, 5, 6, 7, 8})},
            {"slice",
             {{"cores", {{"minimum", 16}, {"maximum", 2048}, {"multipleOf", 8}}},
              {"gradient_exchange", words<GradientExchange>()}}}};
}

Json losses() {
    Json names = Json::array();
    for (const std::string_view task : all_words<TaskType>()) {
        const Json name = loss_of(*parse_word<TaskType>(task));
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    return names;
}

}    // namespace

Json capabilities_document(const Json& confinement, const Json& limits) {
    Definitions definitions("#/$defs/");
    Json document{{"architectures", variants_of(model_table(), definitions)},
                  {"layers", variants_of(layer_table(), definitions)},
                  {"optimizers", variants_of(optimizer_table(), definitions)},
                  {"schedules", variants_of(schedule_table(), definitions)},
                  {"augmentations", variants_of(augment_table(), definitions)},
                  {"formats", formats(definitions)},
                  {"tasks", words<TaskType>()},
                  {"losses", losses()},
                  {"metrics", words<TaskMetric>()},
                  {"precisions", words<Precision>()},
                  {"lr_scalings", words<LrScaling>()},
                  {"queue_classes", words<QueueClass>()},
                  {"accelerators", accelerators()}};
    document["version"] = release_version();
    document["commit"] = source_commit();
    document["confinement"] = confinement;
    document["limits"] = limits;
    document["$defs"] = definitions.all();    // of objects within the parameters
    return document;
}

}    // namespace slipway
