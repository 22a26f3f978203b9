#pragma once

#include <utility>
#include <variant>

#include "api/base/check.h"
#include "api/base/error.h"

namespace slipway {

/// A value, or the Error that took its place: for failures the caller is expected to handle.
/// A subset of std::expected<T, Error>; an alias of it once we may use that.
template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::move(value)) {}        // NOLINT(google-explicit-constructor)
    Result(Error error) : state_(std::move(error)) {}    // NOLINT(google-explicit-constructor)

    explicit operator bool() const noexcept { return state_.index() == 0; }
    const T& operator*() const& {
        check(bool(*this), "a Result is tested before use");
        return *std::get_if<0>(&state_);
    }
    const T* operator->() const { return &**this; }
    const Error& error() const {
        check(!*this, "a Result with a value has no error");
        return *std::get_if<1>(&state_);
    }
    /// The value, or throws the error: the one word that crosses from value to exception.
    T value() && {
        if (!*this) throw error();
        return std::get<0>(std::move(state_));
    }

private:
    std::variant<T, Error> state_;
};

}    // namespace slipway
