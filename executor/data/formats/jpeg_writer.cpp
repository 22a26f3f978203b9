#include "executor/data/formats/jpeg_writer.h"

#include <turbojpeg.h>

#include <memory>
#include <type_traits>

#include "api/base/check.h"

namespace slipway {

namespace {

struct FreeEncoder {
    void operator()(void* handle) const { tjDestroy(handle); }
};
using Encoder = std::unique_ptr<std::remove_pointer_t<tjhandle>, FreeEncoder>;

}    // namespace

std::vector<std::byte> encode_jpeg(const Image& image, int quality) {
    thread_local const Encoder encoder(tjInitCompress());
    check(encoder != nullptr, "a JPEG encoder can be made");
    const bool gray = image.channels == 1;
    const int sampling = gray ? TJSAMP_GRAY : TJSAMP_444;
    const auto width = int(image.width), height = int(image.height);
    std::vector<std::byte> file(tjBufSize(width, height, sampling));
    auto* bytes = reinterpret_cast<unsigned char*>(file.data());
    unsigned long size = static_cast<unsigned long>(file.size());
    const int status = tjCompress2(encoder.get(), image.pixels.data(), width, 0, height,
                                   gray ? TJPF_GRAY : TJPF_RGB, &bytes, &size, sampling, quality,
                                   TJFLAG_NOREALLOC);
    check(status == 0, "pixels in memory can be encoded");
    file.resize(size);
    return file;
}

}    // namespace slipway
