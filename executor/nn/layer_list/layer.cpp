#include "executor/nn/layer_list/layer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace slipway::layer_list {

std::string described(const LayerSpec& spec, const std::string& path) {
    const std::string name = spec.name.empty() ? "" : fmt::format(" \"{}\"", spec.name);
    return fmt::format("{} ({}{})", path, to_string(spec.type), name);
}

std::string shown(const Dims& dims) {
    return fmt::format("[{}]", fmt::join(dims, ", "));
}

void refuse(const LayerRequest& request, const std::string& needs) {
    std::string got;
    for (const Source& input : request.inputs)
        got += fmt::format("{}{} from {}", got.empty() ? "" : " and ", shown(input.dims),
                           input.origin);
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{} needs {}, got {}", described(request.spec, request.path), needs, got));
}

ImageShape image_of(const LayerRequest& request) {
    const Dims& dims = request.input();
    if (dims.size() == 3) return {dims[0], dims[1], dims[2]};
    refuse(request, "an image [channels, height, width]");
}

void require_trainable(const LayerRequest& request, const Dims& dims) {
    constexpr double elements_max = 1LL << 31;
    double elements = 1;    // of doubles: the product may be beyond whole numbers
    for (const std::int64_t extent : dims)
        elements *= double(extent);
    if (elements <= elements_max) return;
    refuse(request, fmt::format("a weight {} of {:.3g} numbers, more than the {:.3g} allowed",
                                shown(dims), elements, elements_max));
}

}    // namespace slipway::layer_list
