#include "executor/nn/models/bert.h"

#include <fmt/format.h>

namespace slipway {

namespace {

constexpr double deviation = 0.02;
constexpr double norm_epsilon = 1e-12;

/// What the layers of one network are made with.
struct Maker {
    ParameterList& parameters;
    Init& init;

    Linear linear(const std::string& name, std::int64_t in, std::int64_t out) {
        return Linear::create(parameters, name, init.normal({out, in}, deviation),
                              filled({out}, 0));
    }

    LayerNormalization norm(const std::string& name, std::int64_t features) {
        return LayerNormalization::create(parameters, name + ".LayerNorm", features, norm_epsilon);
    }

    Embedding embedding(const std::string& name, std::int64_t count, std::int64_t features) {
        return Embedding::create(parameters, "bert.embeddings." + name,
                                 init.normal({count, features}, deviation));
    }

    BertLayer layer(const std::string& name, const Bert::Options& options) {
        const std::int64_t hidden = options.hidden;
        BertLayer layer;
        layer.query = linear(name + ".attention.self.query", hidden, hidden);
        layer.key = linear(name + ".attention.self.key", hidden, hidden);
        layer.value = linear(name + ".attention.self.value", hidden, hidden);
        layer.attention_output = linear(name + ".attention.output.dense", hidden, hidden);
        layer.attention_norm = norm(name + ".attention.output", hidden);
        layer.intermediate = linear(name + ".intermediate.dense", hidden, options.intermediate);
        layer.output = linear(name + ".output.dense", options.intermediate, hidden);
        layer.output_norm = norm(name + ".output", hidden);
        layer.heads = options.heads;
        return layer;
    }
};

/// The padding token's row starts as zeros.
void clear_row(Parameter& words, std::int64_t row) {
    const auto features = std::size_t(words.value.shape().dims[1]);
    std::ranges::fill(words.value.as<float>().subspan(std::size_t(row) * features, features), 0.0F);
}

/// The states at the positions of each sequence: [n, sequence, hidden] -> [n, count, hidden].
Tensor states_at(const Tensor& states, const Tensor& positions) {
    const std::int64_t n = states.dims()[0], sequence = states.dims()[1];
    const Tensor first_row =
        iota({DType::i32, positions.dims()}, 0) * constant(double(sequence), DType::i32);
    return gather(reshape(states, {n * sequence, states.dims()[2]}), first_row + positions);
}

}    // namespace

Tensor BertLayer::operator()(const Tensor& x, const Sight& sight, ForwardPass& pass) const {
    const auto by_head = [&](const Linear& project) { return split_heads(project(x), heads); };
    const Tensor attended =
        merge_heads(attend(by_head(query), by_head(key), by_head(value), sight, pass));
    const Tensor y = attention_norm(dropped(attention_output(attended), pass) + x);
    const Tensor wide = gelu(intermediate(y), false);
    return output_norm(dropped(output(wide), pass) + y);
}

Bert Bert::create(ParameterList& parameters, Init& init, const Options& options) {
    Maker make{parameters, init};
    const std::int64_t hidden = options.hidden;
    Bert model;
    model.word_embeddings = make.embedding("word_embeddings", options.vocabulary, hidden);
    clear_row(parameters.all().back(), options.padding.value_or(0));
    model.position_embeddings = make.embedding("position_embeddings", options.positions, hidden);
    model.token_type_embeddings =
        make.embedding("token_type_embeddings", options.token_types, hidden);
    model.embeddings_norm = make.norm("bert.embeddings", hidden);
    for (std::int64_t i = 0; i < options.layers; ++i)
        model.layers.push_back(make.layer(fmt::format("bert.encoder.layer.{}", i), options));
    model.prediction_bias = parameters.add("cls.predictions.bias", filled({options.vocabulary}, 0));
    model.transform = make.linear("cls.predictions.transform.dense", hidden, hidden);
    model.transform_norm = make.norm("cls.predictions.transform", hidden);
    model.padding = options.padding;
    parameters.add_alias("cls.predictions.decoder.weight",
                         "bert.embeddings.word_embeddings.weight");
    parameters.add_alias("cls.predictions.decoder.bias", "cls.predictions.bias");
    parameters.add_unused("bert.embeddings.position_ids");
    return model;
}

Tensor Bert::encode(const Tensor& tokens, ForwardPass& pass) const {
    const std::int64_t n = tokens.dims()[0], sequence = tokens.dims()[1];
    const std::int64_t hidden = word_embeddings.weight.dims()[1];
    const Tensor position = slice(position_embeddings.weight, {0, 0}, {sequence, hidden}, {1, 1});
    const Tensor type = slice(token_type_embeddings.weight, {0, 0}, {1, hidden}, {1, 1});
    const Dims dims{n, sequence, hidden};
    Tensor x = word_embeddings(tokens) + broadcast_in_dim(reshape(type, {hidden}), dims, {2}) +
               broadcast_in_dim(position, dims, {1, 2});
    x = dropped(embeddings_norm(x), pass);
    Sight sight;
    if (padding) {
        const Tensor filler = constant(double(*padding), tokens.dtype());
        sight.keys = compare(tokens, filler, Comparison::ne);
    }
    for (const BertLayer& layer : layers)
        x = layer(x, sight, pass);
    return x;
}

Tensor Bert::predict(const Tensor& states, const Tensor& positions) const {
    const Tensor y = transform_norm(gelu(transform(states_at(states, positions)), false));
    return linear(y, word_embeddings.weight, prediction_bias);
}

}    // namespace slipway
