#pragma once

#include <optional>
#include <vector>

#include "executor/nn/embedding.h"
#include "executor/nn/forward_pass.h"
#include "executor/nn/heads.h"
#include "executor/nn/layer_normalization.h"
#include "executor/nn/linear.h"

/// BERT (Devlin, Chang, Lee and Toutanova 2018) with the masked-language-model head, and with the
/// parameter names and initial values of Hugging Face's BertForMaskedLM: N(0, 0.02), biases zero.
/// Its cls.predictions.decoder is no parameter but a tied one: weight and bias are those of the
/// word embeddings and cls.predictions.bias, stored once and read under either name.
namespace slipway {

/// Attention and feed-forward, each with its norm after the shortcut; dropout on what is added and
/// on the attention's probabilities.
struct BertLayer {
    Linear query, key, value;             ///< attention.self.…
    Linear attention_output;              ///< attention.output.dense
    LayerNormalization attention_norm;    ///< attention.output.LayerNorm
    Linear intermediate;                  ///< intermediate.dense
    Linear output;                        ///< output.dense
    LayerNormalization output_norm;       ///< output.LayerNorm
    std::int64_t heads = 0;

    /// x [n, sequence, hidden] -> the same; `sight`: where the text is
    Tensor operator()(const Tensor& x, const Sight& sight, ForwardPass& pass) const;
};

struct Bert {
    Embedding word_embeddings, position_embeddings, token_type_embeddings;
    LayerNormalization embeddings_norm;
    std::vector<BertLayer> layers;
    Tensor prediction_bias;    ///< cls.predictions.bias
    Linear transform;          ///< cls.predictions.transform.dense
    LayerNormalization transform_norm;
    std::optional<std::int64_t> padding;

    struct Options {
        std::int64_t layers, hidden, heads, vocabulary;
        std::int64_t intermediate;       ///< 4 * hidden as published
        std::int64_t positions = 512;    ///< the longest sequence
        std::int64_t token_types = 2;
        /// The token that fills short sequences up: nothing looks at it. None: all are full.
        std::optional<std::int64_t> padding = {};
    };
    static Bert create(ParameterList& parameters, Init& init, const Options& options);

    /// tokens i32 [n, sequence] -> hidden states [n, sequence, hidden]; all tokens of type 0
    Tensor encode(const Tensor& tokens, ForwardPass& pass) const;
    /// Logits [n, count, vocabulary] of the positions i32 [n, count] alone: where a label is. The
    /// head is the widest product of the network, and most positions have no label.
    Tensor predict(const Tensor& states, const Tensor& positions) const;
};

}    // namespace slipway
