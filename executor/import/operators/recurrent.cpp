// Recurrent layers are unrolled: the length of a sequence is known when a network is traced. What
// the inputs of all steps give is one product; each step multiplies its state alone.
#include <array>

#include "executor/import/operators/parts.h"
#include "executor/import/operators/rows.h"

namespace slipway::importer {

namespace {

enum class Cell { lstm, gru, tanh, relu };

/// [n, units] each; the second one of an LSTM alone.
struct State {
    Tensor hidden, cell;
};

/// One step, from what its input gives and what its state gives: [n, gates * units].
State stepped(Cell kind, const State& state, const Tensor& from_input, const Tensor& from_state) {
    const std::int64_t units = state.hidden.dims().at(1);
    const auto gate = [&](const Tensor& gates, std::int64_t index) {
        return part(gates, 1, index * units, (index + 1) * units);
    };
    if (kind == Cell::gru) {
        const Tensor reset = logistic(gate(from_input, 0) + gate(from_state, 0));
        const Tensor update = logistic(gate(from_input, 1) + gate(from_state, 1));
        const Tensor fresh = slipway::tanh(gate(from_input, 2) + reset * gate(from_state, 2));
        return {fresh + update * (state.hidden - fresh), {}};
    }
    const Tensor gates = from_input + from_state;
    if (kind == Cell::tanh) return {slipway::tanh(gates), {}};
    if (kind == Cell::relu) return {slipway::relu(gates), {}};
    const Tensor cell = logistic(gate(gates, 1)) * state.cell +
                        logistic(gate(gates, 0)) * slipway::tanh(gate(gates, 2));
    return {logistic(gate(gates, 3)) * slipway::tanh(cell), cell};
}

/// The weights of one direction of one layer.
struct Weights {
    Tensor input, state, input_bias, state_bias;
};

struct Direction {
    std::vector<Tensor> outputs;    ///< by step: [n, units]
    State last;
};

/// x [steps, n, features].
Direction run_direction(Cell kind, const Tensor& x, State state, const Weights& weights,
                        bool backwards) {
    const std::int64_t steps = x.dims().at(0);
    const Tensor from_inputs = linear(x, weights.input, weights.input_bias);
    Direction result{.outputs = std::vector<Tensor>(std::size_t(steps)), .last = {}};
    for (std::int64_t i = 0; i < steps; ++i) {
        const std::int64_t step = backwards ? steps - 1 - i : i;
        const Tensor from_input = without_dimension(part(from_inputs, 0, step, step + 1), 0);
        state = stepped(kind, state, from_input,
                        linear(state.hidden, weights.state, weights.state_bias));
        result.outputs[std::size_t(step)] = state.hidden;
    }
    result.last = state;
    return result;
}

Tensor stacked(const std::vector<Tensor>& parts) {
    std::vector<Tensor> wide;
    for (const Tensor& one : parts)
        wide.push_back(with_dimension(one, 0));
    return concatenate(wide, 0);
}

/// input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first.
template <Cell kind>
Value lower_recurrent(const Call& call) {
    Tensor x = as_floating(call.tensor("input"));
    const bool batch_first = call.flag("batch_first", false);
    if (x.dims().size() != 3) call.refuse("needs a batch of sequences: three dimensions");
    if (batch_first) x = exchanged(x, 0, 1);
    const std::vector<Tensor> states =
        kind == Cell::lstm ? call.tensors("hx") : std::vector{call.tensor("hx")};
    const std::vector<Tensor> params = call.tensors("params");
    const std::int64_t layers = call.integer("num_layers");
    const std::int64_t directions = call.flag("bidirectional", false) ? 2 : 1;
    const std::size_t tensors = call.flag("has_biases", true) ? 4 : 2;
    if (params.size() != std::size_t(layers * directions) * tensors)
        call.refuse("is lowered without projections (proj_size)");
    const double rate = call.flag("train", true) ? call.number("dropout", 0) : 0;
    std::vector<Tensor> hidden, cells;
    for (std::int64_t layer = 0; layer < layers; ++layer) {
        std::vector<Tensor> sides;
        for (std::int64_t side = 0; side < directions; ++side) {
            const std::int64_t number = layer * directions + side;
            const auto param = [&](std::size_t index) {
                return index < tensors ? params.at(std::size_t(number) * tensors + index)
                                       : Tensor();
            };
            const auto begin = [&](const Tensor& all) {
                return without_dimension(part(all, 0, number, number + 1), 0);
            };
            const State state{begin(states.at(0)),
                              states.size() > 1 ? begin(states.at(1)) : Tensor()};
            const Direction run =
                run_direction(kind, x, state, {param(0), param(1), param(2), param(3)}, side == 1);
            hidden.push_back(run.last.hidden);
            if (kind == Cell::lstm) cells.push_back(run.last.cell);
            sides.push_back(stacked(run.outputs));
        }
        x = sides.size() == 1 ? sides[0] : concatenate(sides, 2);
        if (layer + 1 < layers) x = dropped_at(call, x, rate);
    }
    if (batch_first) x = exchanged(x, 0, 1);
    std::vector<Tensor> results{x, stacked(hidden)};
    if (kind == Cell::lstm) results.push_back(stacked(cells));
    return list_of(std::move(results));
}

constexpr auto recurrent_table = std::to_array<OperatorRow>({
    {"aten.gru", lower_recurrent<Cell::gru>},
    {"aten.lstm", lower_recurrent<Cell::lstm>},
    {"aten.rnn_relu", lower_recurrent<Cell::relu>},
    {"aten.rnn_tanh", lower_recurrent<Cell::tanh>},
});

}    // namespace

std::span<const OperatorRow> recurrent_rows() {
    return recurrent_table;
}

}    // namespace slipway::importer
