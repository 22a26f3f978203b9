#include "scheduler/store/pg/password.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace slipway::store {

bool may_hold_password(std::string_view address) {
    std::string text;
    for (const char c : address)
        if (c != ' ') text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    // password= and sslpassword=; an escape in a URL could hide their letters.
    if (text.find("password=") != std::string::npos) return true;
    const std::size_t scheme = text.find("://");
    if (scheme == std::string::npos) return false;
    if (text.find('?') != std::string::npos && text.find('%', text.find('?')) != std::string::npos)
        return true;
    const std::string_view rest = std::string_view(text).substr(scheme + 3);
    const std::size_t at = rest.rfind('@');
    return at != std::string_view::npos && rest.substr(0, at).find(':') != std::string_view::npos;
}

}    // namespace slipway::store
