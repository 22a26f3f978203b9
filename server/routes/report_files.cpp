#include "server/routes/report_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "api/base/posix.h"
#include "server/http/problem.h"

namespace slipway::routes {

OpenedFile report_file(const Context& context, const store::Job& job, const std::string& name) {
    const auto file = open_below(context.services.artifacts.folder(Artifact::report),
                                 fmt::format("{}/{}", job.id, name));
    if (file) return *file;
    throw ProblemError({.status = 404,
                        .code = "no_report",
                        .detail = fmt::format("job {} is {} and has no {} yet; it is written while "
                                              "the job runs",
                                              job.id, to_string(job.state), name)});
}

void throw_report_too_large(std::string detail) {
    throw ProblemError({.status = 422, .code = "report_too_large", .detail = std::move(detail)});
}

std::string read_whole(const OpenedFile& file, std::size_t bytes_max) {
    if (file.bytes > bytes_max)
        throw_report_too_large(
            fmt::format("the job's report holds {} MiB where at most {} MiB are read for an answer",
                        file.bytes >> 20, bytes_max >> 20));
    std::string text(file.bytes, '\0');
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t got = pread(file.file->get(), text.data() + done, text.size() - done,
                                  static_cast<off_t>(done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        done += static_cast<std::size_t>(got);
    }
    text.resize(done);
    return text;
}

}    // namespace slipway::routes
