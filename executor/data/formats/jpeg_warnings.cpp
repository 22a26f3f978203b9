// libjpeg says "warning" of damage, which it fills with gray, and of oddities alike. TurboJPEG
// tells the first warning of a file only, so a harmless one may hide damage behind it: here the
// file is decoded once more by libjpeg itself, which hands over the number of each warning. libjpeg
// leaves by longjmp: functions that call it after setjmp own nothing with a destructor.
#include "executor/data/formats/jpeg_warnings.h"

#include <array>
#include <csetjmp>
#include <cstdio>
#include <vector>

#include <jpeglib.h>

#include <jerror.h>

namespace slipway {

namespace {

constexpr std::array harmless{JWRN_EXTRANEOUS_DATA, JWRN_JFIF_MAJOR, JWRN_ADOBE_XFORM,
                              JWRN_BOGUS_ICC};
constexpr int scans_max = 500;    // as TurboJPEG's limit

/// What libjpeg's functions get of a decoding: its handles, and where to go when it is over.
struct Decoding {
    jpeg_decompress_struct decoder{};
    jpeg_error_mgr errors{};
    jpeg_progress_mgr progress{};
    std::jmp_buf over{};
    std::vector<JSAMPLE> row;
};

Decoding& decoding_of(j_common_ptr decoder) {
    return *static_cast<Decoding*>(decoder->client_data);
}

[[noreturn]] void leave(j_common_ptr decoder) {
    std::longjmp(decoding_of(decoder).over, 1);
}

void judge_message(j_common_ptr decoder, int level) {
    if (level >= 0) return;    // no warning
    for (const int code : harmless)
        if (decoder->err->msg_code == code) return;
    leave(decoder);
}

void limit_scans(j_common_ptr decoder) {
    if (reinterpret_cast<j_decompress_ptr>(decoder)->input_scan_number > scans_max) leave(decoder);
}

bool decodes(Decoding& decoding, std::span<const std::byte> jpeg) {
    jpeg_decompress_struct* decoder = &decoding.decoder;
    if (setjmp(decoding.over) != 0) return false;
    jpeg_create_decompress(decoder);
    decoder->client_data = &decoding;
    decoder->progress = &decoding.progress;
    jpeg_mem_src(decoder, reinterpret_cast<const unsigned char*>(jpeg.data()),
                 static_cast<unsigned long>(jpeg.size()));
    jpeg_read_header(decoder, TRUE);
    decoder->out_color_space = decoder->jpeg_color_space;    // no pixel is looked at
    jpeg_start_decompress(decoder);
    decoding.row.resize(std::size_t(decoder->output_width) *
                        std::size_t(decoder->output_components));
    while (decoder->output_scanline < decoder->output_height) {
        JSAMPROW row = decoding.row.data();
        jpeg_read_scanlines(decoder, &row, 1);
    }
    jpeg_finish_decompress(decoder);
    return true;
}

}    // namespace

bool has_only_harmless_warnings(std::span<const std::byte> jpeg) {
    Decoding decoding;
    decoding.decoder.err = jpeg_std_error(&decoding.errors);
    decoding.errors.error_exit = leave;
    decoding.errors.emit_message = judge_message;
    decoding.progress.progress_monitor = limit_scans;
    decoding.decoder.client_data = &decoding;
    const bool good = decodes(decoding, jpeg);
    jpeg_destroy_decompress(&decoding.decoder);
    return good;
}

}    // namespace slipway
