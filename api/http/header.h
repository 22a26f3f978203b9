#pragma once

#include <string>

namespace slipway {

/// One header of an HTTP message.
struct HttpHeader {
    std::string name;
    std::string value;
};

}    // namespace slipway
