#include "executor/checkpoint/safetensors.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <set>

#include "executor/checkpoint/durable_file.h"
#include "executor/checkpoint/safetensors_header.h"
#include "executor/tensor/float16.h"

namespace slipway {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

namespace {

/// Entries in the order of the file, and for each the tensor it stands for.
struct Layout {
    std::vector<TensorEntry> entries;
    std::vector<std::size_t> order;
};

Layout lay_out(std::span<const NamedArray> tensors) {
    Layout layout;
    layout.order.resize(tensors.size());
    std::iota(layout.order.begin(), layout.order.end(), std::size_t{0});
    std::stable_sort(layout.order.begin(), layout.order.end(), [&](std::size_t a, std::size_t b) {
        return size_in_bytes(tensors[a].array.shape().dtype) >
               size_in_bytes(tensors[b].array.shape().dtype);
    });
    std::set<std::string> names = {"__metadata__"};
    std::int64_t at = 0;
    for (const std::size_t i : layout.order) {
        const NamedArray& tensor = tensors[i];
        check(names.insert(tensor.name).second, "tensors of a file have different names");
        const std::int64_t end = at + tensor.array.byte_count();
        layout.entries.push_back({tensor.name, tensor.array.shape(), at, end, {}});
        at = end;
    }
    return layout;
}

/// A file from outside, read at offsets.
class Source {
public:
    explicit Source(const std::filesystem::path& path)
        : name_(path.filename().string()), file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
        struct stat facts {};
        if (file_ && fstat(file_.get(), &facts) == 0 && S_ISREG(facts.st_mode)) {
            size_ = facts.st_size;
        }
    }

    bool opened() const { return size_ >= 0; }
    std::int64_t size() const { return size_; }

    /// False when the file has become shorter or cannot be read.
    bool read(std::span<std::byte> bytes, std::int64_t offset) const {
        while (!bytes.empty()) {
            const ssize_t count = pread(file_.get(), bytes.data(), bytes.size(), offset);
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) return false;
            bytes = bytes.subspan(std::size_t(count));
            offset += count;
        }
        return true;
    }

    Error error(ErrorCode code, const std::string& message) const {
        return {code, fmt::format("{}: {}", name_, message)};
    }

private:
    std::string name_;
    UniqueFd file_;
    std::int64_t size_ = -1;
};

/// Reads the tensor's bytes at `offset`; false when they cannot be read.
bool read_array(const Source& source, const TensorEntry& entry, std::int64_t offset, Array& array) {
    if (entry.file_type.empty())
        return source.read({array.bytes(), std::size_t(array.byte_count())}, offset);
    std::vector<std::uint16_t> halves(std::size_t(array.shape().element_count()));
    if (!source.read(std::as_writable_bytes(std::span(halves)), offset)) return false;
    std::ranges::transform(halves, array.as<float>().begin(), widened_float16);
    return true;
}

bool has_valid_elements(const Array& array) {
    if (array.shape().dtype != DType::pred) return true;
    return std::all_of(array.bytes(), array.bytes() + array.byte_count(),
                       [](std::byte byte) { return byte <= std::byte{1}; });
}

}    // namespace

WrittenFile write_safetensors(const std::filesystem::path& path,
                              std::span<const NamedArray> tensors,
                              const std::map<std::string, std::string>& metadata) {
    const Layout layout = lay_out(tensors);
    const std::string header = safetensors_header(layout.entries, metadata);
    check(std::int64_t(header.size()) <= safetensors_header_bytes_max,
          "a model's tensors fit one header");
    DurableFile file(path);
    const std::uint64_t length = header.size();
    file.write(std::as_bytes(std::span(&length, 1)));
    file.write(std::as_bytes(std::span(header)));
    for (const std::size_t i : layout.order) {
        const Array& array = tensors[i].array;
        file.write({array.bytes(), std::size_t(array.byte_count())});
    }
    return file.finish();
}

Result<Safetensors> read_safetensors(const std::filesystem::path& path, std::int64_t bytes_max) {
    const Source source(path);
    if (!source.opened()) return source.error(ErrorCode::not_found, "the file cannot be opened");
    if (source.size() > bytes_max) {
        return source.error(ErrorCode::exhausted,
                            fmt::format("the file has {} bytes, more than the {} that are read",
                                        source.size(), bytes_max));
    }
    std::uint64_t length = 0;
    if (source.size() < 8 || !source.read(std::as_writable_bytes(std::span(&length, 1)), 0)) {
        return source.error(ErrorCode::data_loss, "the file is shorter than the header's length");
    }
    const std::int64_t header_max = std::min(safetensors_header_bytes_max, source.size() - 8);
    if (length > std::uint64_t(header_max)) {
        return source.error(ErrorCode::data_loss,
                            fmt::format("the header should have {} bytes; at most {} are read",
                                        length, header_max));
    }
    std::string text(length, '\0');
    const std::int64_t data = 8 + std::int64_t(length);
    if (!source.read(std::as_writable_bytes(std::span(text)), 8)) {
        return source.error(ErrorCode::data_loss, "the header cannot be read");
    }
    Result<SafetensorsHeader> header = parse_safetensors_header(text, source.size() - data);
    if (!header) return source.error(ErrorCode::data_loss, header.error().what());

    Safetensors result{.tensors = {}, .metadata = header->metadata};
    for (const TensorEntry& entry : header->tensors) {
        if (!is_read(entry)) {
            result.unread[entry.name] =
                fmt::format("{}[{}]", entry.file_type, fmt::join(entry.shape.dims, ","));
            continue;
        }
        Array array(entry.shape);
        if (!read_array(source, entry, data + entry.begin, array)) {
            return source.error(ErrorCode::data_loss,
                                fmt::format("tensor {} cannot be read", entry.name));
        }
        if (!has_valid_elements(array)) {
            return source.error(ErrorCode::data_loss,
                                fmt::format("tensor {} has a BOOL other than 0 and 1", entry.name));
        }
        result.tensors.push_back({entry.name, std::move(array)});
    }
    return result;
}

}    // namespace slipway
