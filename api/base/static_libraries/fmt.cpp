// fmt and spdlog as parts of a program: Debian has them as shared libraries alone, and the client's
// package is to need none. Both have all of their code in headers, of which these two files are the
// compiled form (what each library's own src folder does).
#include <fmt/format-inl.h>

template auto fmt::detail::dragonbox::to_decimal(float x) noexcept
    -> fmt::detail::dragonbox::decimal_fp<float>;
template auto fmt::detail::dragonbox::to_decimal(double x) noexcept
    -> fmt::detail::dragonbox::decimal_fp<double>;
template auto fmt::detail::thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template auto fmt::detail::decimal_point_impl(locale_ref) -> char;
