#include "executor/graph/stablehlo/erf_as_polynomial.h"

#include <array>
#include <span>

#include "executor/graph/ops.h"

namespace slipway {

Tensor erf_as_polynomial(const Tensor& given) {
    constexpr std::array over{-2.72614225801306e-10, 2.77068142495902e-08,  -2.10102402082508e-06,
                              -5.69250639462346e-05, -7.34990630326855e-04, -2.95459980854025e-03,
                              -1.60960333262415e-02};
    constexpr std::array under{-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03,
                               -7.37332916720468e-03, -1.42647390514189e-02};
    const Tensor wide = given.dtype() == DType::f32 ? given : convert(given, DType::f32);
    const Tensor x = clamp(constant(-4), wide, constant(4));
    const Tensor square = x * x;
    const auto polynomial = [&](std::span<const double> factors) {
        Tensor sum = broadcast(constant(factors[0]), x.dims());
        for (const double factor : factors.subspan(1))
            sum = sum * square + constant(factor);
        return sum;
    };
    const Tensor result = x * polynomial(over) / polynomial(under);
    return given.dtype() == DType::f32 ? result : convert(result, given.dtype());
}

}    // namespace slipway
