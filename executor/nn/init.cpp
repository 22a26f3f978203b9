#include "executor/nn/init.h"

#include <algorithm>
#include <cmath>

#include "executor/tensor/random.h"

namespace slipway {

Init Init::zeros() {
    Init init(0);
    init.draws_ = false;
    return init;
}

template <class Draw>
Array Init::drawn(Dims dims, Draw draw) {
    Array array(Shape{DType::f32, std::move(dims)});
    if (!draws_) return array;
    RandomStream stream(seed_, site_init, calls_++);
    for (float& value : array.as<float>())
        value = float(draw(stream));
    return array;
}

Array Init::uniform(Dims dims, double bound) {
    return drawn(std::move(dims), [bound](RandomStream& stream) {
        return (2.0 * double(stream.next_uniform()) - 1.0) * bound;
    });
}

Array Init::normal(Dims dims, double deviation) {
    return drawn(std::move(dims), [deviation](RandomStream& stream) {
        return double(stream.next_normal()) * deviation;
    });
}

Array Init::truncated_normal(Dims dims, double deviation) {
    return drawn(std::move(dims), [deviation](RandomStream& stream) {
        float value = stream.next_normal();
        while (std::abs(value) > 2)
            value = stream.next_normal();
        return double(value) * deviation;
    });
}

Array Init::fan_in_uniform(Dims dims, std::int64_t fan_in) {
    return uniform(std::move(dims), 1.0 / std::sqrt(double(fan_in)));
}

Array filled(Dims dims, double value) {
    Array array(Shape{DType::f32, std::move(dims)});
    std::ranges::fill(array.as<float>(), float(value));
    return array;
}

}    // namespace slipway
