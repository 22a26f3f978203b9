#include "executor/nn/init.h"

#include <cmath>

#include "executor/tensor/random.h"

namespace slipway {

Array Init::uniform(Dims dims, double bound) {
    RandomStream stream(seed_, site_init, calls_++);
    Array array(Shape{DType::f32, std::move(dims)});
    for (float& value : array.as<float>()) {
        value = float((2.0 * double(stream.next_uniform()) - 1.0) * bound);
    }
    return array;
}

Array Init::fan_in_uniform(Dims dims, std::int64_t fan_in) {
    return uniform(std::move(dims), 1.0 / std::sqrt(double(fan_in)));
}

}    // namespace slipway
