#include "tests/executor/data/formats/make_tar.h"

#include <fmt/core.h>

namespace slipway {

namespace {

constexpr std::size_t block = 512;

std::string header(const TarMember& member) {
    std::string text(block, '\0');
    text.replace(0, member.name.size(), member.name);
    text.replace(100, 7, "0000644");
    text.replace(124, 11, fmt::format("{:011o}", member.content.size()));
    text.replace(136, 11, "00000000000");
    text.replace(148, 8, "        ");    // the checksum counts as blanks
    text[156] = member.type;
    if (member.type == '1' || member.type == '2') text.replace(157, 5, "0.png");
    text.replace(257, 8, std::string("ustar\00000", 8));
    unsigned sum = 0;
    for (const char c : text)
        sum += static_cast<unsigned char>(c);
    return text.replace(148, 7, fmt::format("{:06o}", sum) + '\0');
}

}    // namespace

std::string tar_file(const std::vector<TarMember>& members) {
    std::string file;
    for (const TarMember& member : members) {
        file += header(member) + member.content;
        file.resize((file.size() + block - 1) / block * block, '\0');
    }
    return file + std::string(2 * block, '\0');
}

}    // namespace slipway
