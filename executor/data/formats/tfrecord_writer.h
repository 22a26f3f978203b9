#pragma once

#include <string>
#include <string_view>

namespace slipway {

/// One record as a TFRecord file has it, with both checksums (see TfrecordReader).
std::string tfrecord_of(std::string_view record);

}    // namespace slipway
