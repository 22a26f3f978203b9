// Arrays may be views of their bytes (strides, offset), which is how torch stores channels-last
// weights: the elements are gathered by stride, each place checked against the size of the member.
#include "executor/import/exported_program/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <span>

#include "api/base/error.h"
#include "executor/tensor/float16.h"

namespace slipway::importer {

namespace {

/// Where an input's value lies.
struct Placed {
    const NetworkInput* input;
    const StoredType* type;
    Dims dims, strides;    ///< in elements
    std::int64_t offset;
    std::int64_t end = 0;    ///< one behind the last element that is read
};

Placed placed(const NetworkInput& input, const Json& entry) {
    if (entry.value("use_pickle", false))
        refuse_program(
            fmt::format("{} is stored as a Python object, which is not read; make it a plain "
                        "tensor of the module",
                        input.target));
    const Json& meta = entry.at("tensor_meta");
    Placed place{.input = &input,
                 .type = &stored_type(meta, input.target),
                 .dims = stored_dims(meta, input.target),
                 .strides = {},
                 .offset = meta.at("storage_offset").at("as_int").get<std::int64_t>()};
    for (const Json& stride : meta.at("strides"))
        place.strides.push_back(stride.at("as_int").get<std::int64_t>());
    if (place.dims != input.dims || place.strides.size() != place.dims.size())
        refuse_program(fmt::format("the value of {} has other dimensions than the program says",
                                   input.target));
    constexpr std::int64_t elements_max = std::int64_t{1} << 40;
    std::int64_t count = 1, last = place.offset;
    for (std::size_t i = 0; i < place.dims.size(); ++i) {
        const std::int64_t extent = place.dims[i], stride = place.strides[i];
        if (extent < 0 || extent > elements_max || stride < 0 || stride > elements_max)
            refuse_program(fmt::format("the value of {} has the extent {} with stride {}",
                                       input.target, extent, stride));
        if (extent > 0 && count > elements_max / extent)
            refuse_program(fmt::format("the value of {} has more than {} elements", input.target,
                                       elements_max));
        count *= extent;
        if (extent > 1 && (last > elements_max || stride > elements_max / extent))
            refuse_program(fmt::format("the value of {} reaches beyond its bytes", input.target));
        last += extent > 0 ? (extent - 1) * stride : 0;
    }
    if (place.offset < 0 || place.offset > elements_max)
        refuse_program(fmt::format("the value of {} begins at {}", input.target, place.offset));
    place.end = count == 0 ? 0 : last + 1;
    return place;
}

template <class T>
T stored(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

/// One element as a number of the array's type.
void put(const StoredType& type, const std::byte* from, Array& array, std::int64_t index) {
    const auto at = std::size_t(index);
    switch (type.code) {
        case 1:
            array.as<std::int64_t>()[at] = stored<std::uint8_t>(from);
            return;
        case 2:
            array.as<std::int64_t>()[at] = stored<std::int8_t>(from);
            return;
        case 3:
            array.as<std::int64_t>()[at] = stored<std::int16_t>(from);
            return;
        case 4:
            array.as<std::int64_t>()[at] = stored<std::int32_t>(from);
            return;
        case 5:
            array.as<std::int64_t>()[at] = stored<std::int64_t>(from);
            return;
        case 6:
            array.as<float>()[at] = widened_float16(stored<std::uint16_t>(from));
            return;
        case 7:
            array.as<float>()[at] = stored<float>(from);
            return;
        case 8:
            array.as<float>()[at] = float(stored<double>(from));
            return;
        case 12:
            array.as<bool>()[at] = stored<std::uint8_t>(from) != 0;
            return;
        default:
            array.as<float>()[at] = float(stored<BFloat16>(from));
    }
}

Array gathered(const Placed& place, std::span<const std::byte> bytes) {
    Array array(Shape{place.type->dtype, place.dims});
    Dims index(place.dims.size(), 0);
    const std::int64_t count = array.element_count();
    for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t element = place.offset;
        for (std::size_t d = 0; d < index.size(); ++d)
            element += index[d] * place.strides[d];
        put(*place.type, bytes.data() + std::size_t(element) * place.type->bytes, array, i);
        for (std::size_t d = index.size(); d-- > 0;) {
            if (++index[d] < place.dims[d]) break;
            index[d] = 0;
        }
    }
    return array;
}

bool is_row_major(const Placed& place) {
    const Dims row_major = strides_of(place.dims);
    for (std::size_t i = 0; i < place.dims.size(); ++i)
        if (place.dims[i] > 1 && place.strides[i] != row_major[i]) return false;
    return place.offset == 0;
}

void read_exactly(const std::string& name, ZipReader& reader, std::span<std::byte> bytes) {
    if (reader.read(bytes) < bytes.size())
        refuse_program(fmt::format("{} is shorter than the program says", name));
}

Array read_array(const std::string& name, ZipReader& reader, const Placed& place) {
    const bool is_plain = place.type->dtype == DType::f32
                              ? place.type->code == 7
                              : place.type->bytes == size_in_bytes(place.type->dtype);
    if (is_plain && is_row_major(place)) {
        Array array(Shape{place.type->dtype, place.dims});
        read_exactly(name, reader, {array.bytes(), std::size_t(array.byte_count())});
        if (place.type->dtype == DType::pred)
            for (std::byte& flag : std::span(array.bytes(), std::size_t(array.byte_count())))
                flag = std::byte(flag != std::byte{0});
        return array;
    }
    std::vector<std::byte> bytes(std::size_t(place.end) * place.type->bytes);
    read_exactly(name, reader, bytes);
    return gathered(place, bytes);
}

/// By the member that has its bytes: tied tensors share one.
using Places = std::multimap<std::string, Placed>;

Places places_of(const ArchiveDocuments& documents, const Network& network) {
    Places places;
    for (const NetworkInput& input : network.inputs) {
        if (input.kind == InputKind::sample) continue;
        const bool is_constant = input.kind == InputKind::constant ||
                                 (input.kind == InputKind::buffer && !input.persistent);
        const Json& table = (is_constant ? documents.constants : documents.weights).at("config");
        if (!table.contains(input.target))
            refuse_program(fmt::format("the file has no value for {}", input.target));
        const Json& entry = table.at(input.target);
        places.emplace(fmt::format("data/{}/{}", is_constant ? "constants" : "weights",
                                   entry.at("path_name").get<std::string>()),
                       placed(input, entry));
    }
    return places;
}

void require_total(const Places& places, std::int64_t bytes_max) {
    std::int64_t total = 0;
    for (const auto& [member, place] : places) {
        const std::int64_t bytes = Shape{place.type->dtype, place.dims}.byte_count() +
                                   place.end * std::int64_t(place.type->bytes);
        if (bytes > bytes_max - total)
            throw Error(ErrorCode::exhausted,
                        fmt::format("the network's values are larger than {} bytes", bytes_max));
        total += bytes;
    }
}

std::vector<NamedArray> read_arrays(const ArchiveMembers& members, const Places& places,
                                    const Network& network) {
    std::map<std::string, Array> arrays;
    members.for_each([&](const std::string& name, ZipReader& reader) {
        const auto [first, last] = places.equal_range(name);
        if (first == last) return;
        Array array = read_array(name, reader, first->second);
        for (auto place = first; place != last; ++place) {
            if (place->second.dims != first->second.dims ||
                place->second.strides != first->second.strides ||
                place->second.offset != first->second.offset)
                refuse_program(
                    fmt::format("{} and {} are different views of one tensor; make one of them "
                                "a tensor of its own",
                                first->second.input->target, place->second.input->target));
            arrays[place->second.input->target] = array;
        }
    });
    std::vector<NamedArray> values;
    for (const NetworkInput& input : network.inputs) {
        if (input.kind == InputKind::sample) continue;
        const auto found = arrays.find(input.target);
        if (found == arrays.end())
            refuse_program(fmt::format("the file has no bytes for {}", input.target));
        values.push_back({input.target, found->second});
    }
    return values;
}

/// Which inputs are one tensor: those whose values have the same bytes.
void find_shared(const Places& places, Network& network) {
    std::map<std::string, std::string> first;    // by member
    std::map<std::string, std::string> member_of;
    for (const auto& [member, place] : places)
        member_of[place.input->target] = member;
    for (NetworkInput& input : network.inputs) {
        if (input.kind != InputKind::parameter) continue;
        const auto [at, is_new] = first.try_emplace(member_of.at(input.target), input.target);
        if (!is_new) input.shares = at->second;
    }
}

}    // namespace

std::vector<NamedArray> read_values(const ArchiveMembers& members,
                                    const ArchiveDocuments& documents, Network& network,
                                    std::int64_t bytes_max) {
    const Places places = places_of(documents, network);
    require_total(places, bytes_max);
    std::vector<NamedArray> values = read_arrays(members, places, network);
    find_shared(places, network);
    return values;
}

}    // namespace slipway::importer
