"""Where the service is and with which token: the rules of the command line, `slipway context --help`.

The first that is given decides: the arguments; a context that is named (SLIPWAY_CONTEXT); SLIPWAY_URL or SLIPWAY_HOME; the
current context; the usual home folder. A token of a context or of a home folder is sent to its own service only, so a changed
address never takes a token elsewhere; SLIPWAY_TOKEN is used with any.
"""
from __future__ import annotations

import json
import os
import pathlib
import urllib.parse
from dataclasses import dataclass

from .errors import ConfigurationError

DEFAULT_URL = "http://127.0.0.1:8470"


@dataclass(frozen=True)
class Settings:
    """What a client needs to know of a service."""
    url: str
    token: str
    #: PEM file of the certificate authority to trust; None: those of the system.
    certificate_authority: str | None = None


def configuration_file() -> pathlib.Path:
    """Where `slipway login` keeps the contexts."""
    if named := os.environ.get("SLIPWAY_CONFIG"):
        return pathlib.Path(named)
    base = os.environ.get("XDG_CONFIG_HOME") or pathlib.Path.home() / ".config"
    return pathlib.Path(base) / "slipway" / "config.json"


def read_contexts() -> dict:
    """{"current": NAME or absent, "contexts": {NAME: {"url", "token", "certificate_authority"}}}."""
    file = configuration_file()
    try:
        content = json.loads(file.read_text())
    except FileNotFoundError:
        return {"contexts": {}}
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{file} cannot be read: {error}") from error
    contexts = content.get("contexts") if isinstance(content, dict) else None
    if not isinstance(contexts, dict) or not all(isinstance(one, dict) for one in contexts.values()):
        raise ConfigurationError(f"{file} is not a file of contexts; remove it and log in again with `slipway login`")
    return content


def settings_of(url: str | None, token: str | None, context: str | None, home: str | None,
                certificate_authority: str | None) -> Settings:
    """Fills in what was not given. Raises ConfigurationError when there is no token."""
    environment = os.environ
    certificate_authority = certificate_authority or environment.get("SLIPWAY_CA") or None
    token = token or environment.get("SLIPWAY_TOKEN") or None
    if not (url or home):
        context = context or environment.get("SLIPWAY_CONTEXT") or None
    if context and (url or home):
        raise ConfigurationError("give a context, or an address or a home folder, not both")
    url = url or (None if context or home else environment.get("SLIPWAY_URL") or None)
    is_named = bool(url or home or environment.get("SLIPWAY_HOME"))
    stored = read_contexts() if context or not is_named else {}
    name = context or stored.get("current")
    if name:
        return _settings_of_context(name, stored["contexts"], token, certificate_authority)
    folder = _home_folder(home)
    if not token:
        token = _first_line(folder / "admin-token")
    if not token:
        raise ConfigurationError(f"there is no token: log in with `slipway login`, set SLIPWAY_TOKEN, or name the home folder of the "
                                 f"service ({folder / 'admin-token'} cannot be read)")
    return Settings(_checked(url or _first_line(folder / "address") or DEFAULT_URL), token, certificate_authority)


def _settings_of_context(name: str, contexts: dict, token: str | None, certificate_authority: str | None) -> Settings:
    found = contexts.get(name)
    if found is None:
        raise ConfigurationError(f"there is no context `{name}`; there are: {', '.join(sorted(contexts)) or 'none'}")
    token = token or found.get("token")
    if not token or not found.get("url"):
        raise ConfigurationError(f"the context `{name}` has no address or no token; log in again with `slipway login`")
    return Settings(_checked(found["url"]), token, certificate_authority or found.get("certificate_authority") or None)


def _home_folder(home: str | None) -> pathlib.Path:
    if named := home or os.environ.get("SLIPWAY_HOME"):
        return pathlib.Path(named)
    return pathlib.Path("/var/lib/slipway") if os.geteuid() == 0 else pathlib.Path.home() / ".local/share/slipway"


def _first_line(file: pathlib.Path) -> str:
    try:
        return file.read_text().partition("\n")[0].strip()
    except OSError:
        return ""


def _checked(url: str) -> str:
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise ConfigurationError(f"the address must be like http://127.0.0.1:8470, got {url}")
    try:
        parts.port
    except ValueError as error:
        raise ConfigurationError(f"the port of the address must be a number up to 65535, got {url}") from error
    return url.rstrip("/")
