#include "executor/codegen/kernels/movement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "api/base/error.h"
#include "executor/tensor/bfloat16.h"

// Everything here moves elements and computes nothing, so a type is only its size. A move is a nest
// of loops over two views, with dimensions joined where both allow it; the innermost loop is a
// memmove when both sides are dense.
namespace slipway {

namespace {

/// Calls call.operator()<T>() with an unsigned type as large as an element: moving needs no more.
template <class Call>
auto with_size(DType dtype, Call&& call) {
    switch (size_in_bytes(dtype)) {
        case 1:
            return call.template operator()<std::uint8_t>();
        case 2:
            return call.template operator()<std::uint16_t>();
        case 4:
            return call.template operator()<std::uint32_t>();
        default:
            return call.template operator()<std::uint64_t>();
    }
}

template <class T>
T* as(std::byte* bytes) {
    return reinterpret_cast<T*>(bytes);
}
template <class T>
const T* as(const std::byte* bytes) {
    return reinterpret_cast<const T*>(bytes);
}

/// to[i * to_step] = from[i * from_step].
template <class T>
void move_row(T* to, std::int64_t to_step, const T* from, std::int64_t from_step, std::int64_t n) {
    if (to_step == 1 && from_step == 1) {
        std::memmove(to, from, std::size_t(n) * sizeof(T));
        return;
    }
    for (std::int64_t i = 0; i < n; ++i)
        to[i * to_step] = from[i * from_step];
}

/// Moves elements from one view to another of the same dims.
struct Move {
    Nest nest;    ///< from, to

    Move(const View& from, const View& to)
        : nest(make_nest(from.dims, std::vector<View>{from, to})) {}

    template <class T>
    void run(const T* from, T* to) const {
        for_each_row(nest, [&](std::span<const std::int64_t> offsets) {
            move_row(to + offsets[1], nest.steps[1].back(), from + offsets[0], nest.steps[0].back(),
                     nest.extents.back());
        });
    }
};

/// Where the operand's elements land in the padded result; what negative padding cuts off is cut
/// off both views.
std::pair<View, View> padded_views(const Dims& from, const PadAttributes& padding,
                                   const Dims& result) {
    View source = dense_view(from);
    View target{from, strides_of(result), 0};
    for (std::size_t i = 0; i < from.size(); ++i) {
        const std::int64_t step = padding.interior[i] + 1;
        const std::int64_t low = padding.low[i];
        const std::int64_t first = low >= 0 ? 0 : (-low + step - 1) / step;
        const std::int64_t last =
            std::min(from[i], result[i] - low <= 0 ? 0 : (result[i] - low + step - 1) / step);
        const std::int64_t kept = std::max<std::int64_t>(0, last - first);
        source.offset += first * source.strides[i];
        target.offset += (low + first * step) * target.strides[i];
        target.strides[i] *= step;
        source.dims[i] = target.dims[i] = kept;
    }
    return {source, target};
}

template <class T>
std::vector<std::byte> iota_of(const Shape& shape, std::int64_t dimension) {
    std::vector<std::byte> bytes(std::size_t(shape.byte_count()));
    const std::int64_t extent = shape.dims[std::size_t(dimension)];
    const std::int64_t stride = strides_of(shape.dims)[std::size_t(dimension)];
    for (std::int64_t i = 0; i < shape.element_count(); ++i)
        as<T>(bytes.data())[i] = T(i / stride % extent);
    return bytes;
}

template <class T>
std::vector<std::byte> bytes_of(T value) {
    std::vector<std::byte> bytes(sizeof(T));
    std::memcpy(bytes.data(), &value, sizeof(T));
    return bytes;
}

[[noreturn]] void refuse(DType dtype) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("programs run f32, bf16, i32, i64, u8 and pred, not {}", to_string(dtype)));
}

}    // namespace

CopyKernel make_copy(const View& view, DType dtype) {
    if (dtype == DType::f64) refuse(dtype);
    const auto move = std::make_shared<const Move>(view, dense_view(view.dims));    // copied
    const Nest& nest = move->nest;
    // A step backwards would let one slice read another's elements.
    const bool is_flat = nest.is_flat() && nest.steps[0][0] >= 0;
    CopyKernel result{.kernel = {}, .elements = is_flat ? nest.extents[0] : 0, .in_place = false};
    result.in_place = nest.steps[0] == nest.steps[1] && nest.offsets[0] == 0;
    result.kernel = with_size(dtype, [&]<class T>() -> Kernel {
        if (!is_flat)
            return [move](const KernelCall& call) {
                move->run(as<T>(call.reads[0]), as<T>(call.writes[0]));
            };
        return [move, step = nest.steps[0][0], offset = nest.offsets[0]](const KernelCall& call) {
            move_row(as<T>(call.writes[0]) + call.begin, 1,
                     as<T>(call.reads[0]) + offset + call.begin * step, step,
                     call.end - call.begin);
        };
    });
    return result;
}

Kernel make_pad(const Dims& from, const PadAttributes& padding, const Shape& result) {
    const auto [source, target] = padded_views(from, padding, result.dims);
    const auto move = std::make_shared<const Move>(source, target);    // kernels are copied
    const std::int64_t count = result.element_count();
    return with_size(result.dtype, [&]<class T>() -> Kernel {
        return [move, count](const KernelCall& call) {
            std::fill_n(as<T>(call.writes[0]), count, as<T>(call.reads[1])[0]);
            move->run(as<T>(call.reads[0]), as<T>(call.writes[0]));
        };
    });
}

Kernel make_concatenate(const std::vector<View>& parts, std::int64_t dimension,
                        const Shape& result) {
    auto moves = std::make_shared<std::vector<Move>>();    // kernels are copied
    View target = dense_view(result.dims);
    const Dims strides = target.strides;
    for (const View& part : parts) {
        target.dims = part.dims;
        moves->emplace_back(part, target);
        target.offset += part.dims[std::size_t(dimension)] * strides[std::size_t(dimension)];
    }
    return with_size(result.dtype, [&]<class T>() -> Kernel {
        return [moves](const KernelCall& call) {
            for (std::size_t i = 0; i < moves->size(); ++i)
                (*moves)[i].run(as<T>(call.reads[i]), as<T>(call.writes[0]));
        };
    });
}

std::vector<std::byte> iota_bytes(const Shape& shape, std::int64_t dimension) {
    switch (shape.dtype) {
        case DType::u8:
            return iota_of<std::uint8_t>(shape, dimension);
        case DType::i32:
            return iota_of<std::int32_t>(shape, dimension);
        case DType::i64:
            return iota_of<std::int64_t>(shape, dimension);
        case DType::f32:
            return iota_of<float>(shape, dimension);
        case DType::bf16:
            return iota_of<BFloat16>(shape, dimension);
        default:
            refuse(shape.dtype);
    }
}

std::vector<std::byte> scalar_bytes(DType dtype, double value) {
    switch (dtype) {
        case DType::pred:
            return bytes_of(std::uint8_t(value != 0));
        case DType::u8:
            return bytes_of(std::uint8_t(value));
        case DType::i32:
            return bytes_of(std::int32_t(value));
        case DType::i64:
            return bytes_of(std::int64_t(value));
        case DType::f32:
            return bytes_of(float(value));
        case DType::bf16:
            return bytes_of(BFloat16(value));
        default:
            refuse(dtype);
    }
}

}    // namespace slipway
