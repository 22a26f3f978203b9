#include "tests/executor/passes/random_graph.h"

#include "executor/autodiff/gradients.h"
#include "executor/graph/ops.h"

namespace slipway {

namespace {

/// All values are [2, 3, 2] or a transpose or reshape of it back to that: any two fit together.
const Dims common_dims{2, 3, 2};

class Maker {
public:
    explicit Maker(RandomStream& random) : random_(random) {
        for (const Placement placement : {Placement::replicated, Placement::replicated,
                                          Placement::per_core, Placement::per_core})
            add_input(placement);
    }

    RandomGraph take(int node_count) {
        for (int i = 0; i < node_count; ++i)
            pool_.push_back(random_op());
        result_.graph.outputs = {pool_.back(), pool_[pool_.size() / 2], any()};
        const Tensor loss = reduce(tanh(pool_.back()), {0, 1, 2}, Reduction::add);
        for (const Tensor& gradient : gradients(loss, result_.graph.inputs))
            result_.graph.outputs.push_back(gradient);
        return std::move(result_);
    }

private:
    void add_input(Placement placement) {
        pool_.push_back(input({DType::f64, common_dims}, placement, "x"));
        result_.graph.inputs.push_back(pool_.back());
        ReferenceValue value;
        for (int core = 0; core < (placement == Placement::per_core ? result_.cores : 1); ++core) {
            value.emplace_back(Shape{DType::f64, common_dims});
            for (double& x : value.back().as<double>())
                x = 2 * double(random_.next_uniform()) - 1;
        }
        result_.inputs.push_back(std::move(value));
    }

    const Tensor& any() { return pool_[random_.next_below(pool_.size())]; }

    Tensor small_constant() {
        constexpr double values[] = {0, 1, -0.0, 0.5, -2};
        return constant(values[random_.next_below(std::size(values))], DType::f64);
    }

    Tensor arithmetic(const Tensor& x, const Tensor& z) {
        switch (random_.next_below(6)) {
            case 0:
                return x + z;
            case 1:
                return x - z;
            case 2:
                return x * z;
            case 3:
                return x / (z * z + constant(1, DType::f64));    // 1/0 would tell 0 from -0
            case 4:
                return maximum(x, z);
            default:
                return minimum(x, z);
        }
    }

    Tensor function_of(const Tensor& x) {
        switch (random_.next_below(6)) {
            case 0:
                return negate(x);
            case 1:
                return negate(negate(x));
            case 2:
                return tanh(x);
            case 3:
                return logistic(x);
            case 4:
                return stop_gradient(x);
            default:
                return abs(x);
        }
    }

    /// Moves elements about and ends up with the common dims.
    Tensor moved(const Tensor& x) {
        switch (random_.next_below(8)) {
            case 0:
                return transpose(transpose(x, {2, 0, 1}), {0, 2, 1});
            case 1:
                return transpose(transpose(x, {1, 2, 0}), {2, 0, 1});
            case 2:
                return reshape(reshape(x, {4, 3}), common_dims);
            case 3:
                return transpose(x, {2, 1, 0});
            case 4:
                return reverse(reverse(x, {0, 1}), {1, 0});
            case 5:
                return slice(pad(x, 0, {{0, 0, 0}, {0, 1, 0}, {0, 0, 0}}), {0, 0, 0}, common_dims,
                             {1, 1, 1});
            case 6:
                return broadcast_in_dim(
                    broadcast_in_dim(reduce(x, {0, 1}, Reduction::add), {3, 2}, {1}), common_dims,
                    {1, 2});
            default:
                return slice(concatenate({x, x}, 1), {0, 0, 0}, common_dims, {1, 1, 1});
        }
    }

    Tensor converted(const Tensor& x) {
        constexpr DType middle[] = {DType::f32, DType::f64, DType::i32,
                                    DType::i64, DType::u8,  DType::pred};
        const DType first = middle[random_.next_below(std::size(middle))];
        const DType second = middle[random_.next_below(std::size(middle))];
        return convert(convert(convert(x, first), second), DType::f64);
    }

    Tensor chosen(const Tensor& x, const Tensor& z) {
        const Tensor limit = random_.next_below(2) == 0 ? small_constant() : any();
        const Tensor& compared = random_.next_below(4) == 0 ? limit : x;
        const Comparison direction = random_.next_below(2) == 0 ? Comparison::gt : Comparison::le;
        return select(compare(compared, limit, direction), z, random_.next_below(4) == 0 ? z : x);
    }

    Tensor random_op() {
        Tensor x = any();
        const Tensor z = any();
        switch (random_.next_below(8)) {
            case 0:
                return arithmetic(x, z);
            case 1:
                return arithmetic(x, small_constant());
            case 2:
                return broadcast(small_constant(), common_dims) + x * small_constant();
            case 3:
                return function_of(x);
            case 4:
                return moved(x);
            case 5:
                return converted(x);
            case 6:
                return chosen(x, z);
            default:
                return (x + z) * (x + z);    // the same sum twice
        }
    }

    RandomStream& random_;    // outlives the Maker: it lives in random_graph's caller
    RandomGraph result_;
    std::vector<Tensor> pool_;
};

}    // namespace

RandomGraph random_graph(RandomStream& random, int node_count) {
    return Maker(random).take(node_count);
}

}    // namespace slipway
