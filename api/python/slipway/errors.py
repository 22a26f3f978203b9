"""What goes wrong, as exceptions: of the service's answers, of the way to it, and of what was asked for."""
from __future__ import annotations

import http


class SlipwayError(Exception):
    """Base of all errors of this package."""


class ConfigurationError(SlipwayError):
    """There is no address or no token to use, or the file that should name them cannot be read."""


class Unreachable(SlipwayError):
    """The service does not answer, breaks off, or is not a Slipway service."""


class IntegrityError(SlipwayError):
    """Bytes are not what they should be: a checksum differs, or a file contradicts itself."""


class DiskError(SlipwayError):
    """A file here cannot be written."""


class JobFailed(SlipwayError):
    """A job, a sweep or a cross-validation ended in another state than was waited for."""

    def __init__(self, message: str, document: dict):
        super().__init__(message)
        #: The document of the service: its `state` and `reason` say why.
        self.document = document


class DatasetFailed(SlipwayError):
    """The check of a dataset found problems."""

    def __init__(self, message: str, document: dict):
        super().__init__(message)
        self.document = document


class ServiceError(SlipwayError):
    """The service rejected a request. `errors` has an item for each field that is wrong."""

    def __init__(self, status: int, problem: dict):
        self.status = status
        #: Stable word for programs, such as `invalid_spec`.
        self.code: str = problem.get("code", "")
        self.title: str = problem.get("title", "")
        self.detail: str = problem.get("detail", "") or self.title
        self.request_id: str = problem.get("request_id", "")
        self.errors: list[dict] = [item for item in problem.get("errors", []) if isinstance(item, dict)]
        super().__init__(self._text())

    @property
    def pointer(self) -> str:
        """JSON pointer of the first field that is wrong; empty when the problem is not of a field."""
        return self.errors[0].get("pointer", "") if self.errors else ""

    def _text(self) -> str:
        lines = [f"{self.detail or http.HTTPStatus(self.status).phrase} [{self.status} {self.code}]"]
        for item in self.errors:
            allowed = item.get("allowed")
            lines.append(f"  {item.get('pointer', '')}: {item.get('message', '')}"
                         + (f" (allowed: {', '.join(map(str, allowed))})" if allowed else ""))
        return "\n".join(lines)


class BadRequest(ServiceError):
    """400: the request is malformed."""


class Unauthenticated(ServiceError):
    """401: the token is missing, unknown, revoked or expired."""


class PermissionDenied(ServiceError):
    """403: the token may not do this."""


class NotFound(ServiceError):
    """404: there is no such object, or the token may not see it."""


class Conflict(ServiceError):
    """409: the state of the object does not allow this now."""


class TooLarge(ServiceError):
    """413: the body is larger than the service takes."""


class InvalidRequest(ServiceError):
    """422: fields are missing, unknown or out of bounds; `errors` names each."""


class TooManyRequests(ServiceError):
    """429: a limit on requests is reached."""


class ServiceUnavailable(ServiceError):
    """5xx: the service cannot answer now."""


BY_STATUS: dict[int, type[ServiceError]] = {
    400: BadRequest, 401: Unauthenticated, 403: PermissionDenied, 404: NotFound, 409: Conflict, 413: TooLarge,
    422: InvalidRequest, 429: TooManyRequests,
}


def service_error(status: int, problem: dict) -> ServiceError:
    """The error of an answer that is not 2xx."""
    kind = BY_STATUS.get(status, ServiceUnavailable if status >= 500 else ServiceError)
    return kind(status, problem)
