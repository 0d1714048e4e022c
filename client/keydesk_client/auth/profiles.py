"""Profiles: which account of which host, and where its token is stored, as `keydesk login` wrote them.

They stand in `keydesk/config.toml` of the user's settings folder, without tokens. The vault, where a token has no desktop
store, is `tokens/tokens.vault` of the state folder. `KEYDESK_HOME` puts both folders in one place.
"""

# ruff: noqa: PLC0415 - the desk reads its settings before its first picture, and tokens after it

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar, cast, get_args

from keydesk_client.errors import InvalidSettings, StoreLocked, TokenStoreError

if TYPE_CHECKING:
    from keydesk_client.auth.secret import Secret

Environment: TypeAlias = Literal["practice", "live", "custom"]
ENVIRONMENTS: Final[tuple[Environment, ...]] = get_args(Environment)
TokenPlace: TypeAlias = Literal["native", "vault"]
TOKEN_PLACES: Final[tuple[TokenPlace, ...]] = get_args(TokenPlace)
CONFIG_FILE: Final = "config.toml"
VAULT: Final = Path("tokens") / "tokens.vault"
Word = TypeVar("Word", bound=str)


@dataclass(frozen=True, slots=True)
class Profile:
    """An account at a broker, as `keydesk login` stored it."""

    name: str
    environment: Environment
    account_id: str
    rest_url: str = ""  # of a custom host; the others are known
    stream_url: str = ""
    kept_in: TokenPlace = "vault"  # which store has its token
    proxy: str | None = field(
        default=None, repr=False
    )  # its URL, with its password; "" for none, None for the environment's
    practice_money: bool = False  # of a custom host: declared by the user

    @property
    def is_practice(self) -> bool:
        """Whether no real money is traded; a custom host counts as real money unless the user declared otherwise."""
        return self.environment == "practice" or (
            self.environment == "custom" and self.practice_money
        )


def profile_folders(data: str | Path | None, environment: Mapping[str, str]) -> tuple[Path, Path]:
    """Return the folders of settings and of state: `data` for both if it is given, else those of the environment.

    `KEYDESK_HOME` if it is set, else the XDG folders of the user; relative XDG folders are ignored, as the standard says.
    """
    home = data or environment.get("KEYDESK_HOME")
    if home:
        root = Path(home).expanduser().absolute()
        return root, root
    user = Path(environment.get("HOME") or Path.home())
    config = _xdg(environment, "XDG_CONFIG_HOME", user / ".config")
    state = _xdg(environment, "XDG_STATE_HOME", user / ".local" / "state")
    return config / "keydesk", state / "keydesk"


def load_profile(name: str, folder: Path) -> Profile:
    """Return a profile of the settings folder.

    Raises:
        InvalidSettings: there is no such profile, or the file cannot be read.
    """
    path = folder / CONFIG_FILE
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        data = {}
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSettings(f"{path} cannot be read: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise InvalidSettings(f"{path} is not valid TOML: {error}; fix or remove it") from error
    held: object = data.get("profiles")
    profiles = cast("dict[str, object]", held) if isinstance(held, dict) else {}
    if name not in profiles:
        known = ", ".join(sorted(profiles))
        raise InvalidSettings(
            f"there is no profile {name!r} in {path} (known: {known or 'none yet'}); sign in with `keydesk login {name}`"
        )
    try:
        return read_profile(name, profiles[name])
    except InvalidSettings as error:
        raise InvalidSettings(f"{path}: profiles.{error}") from None


def read_profile(name: str, table: object) -> Profile:
    """Return a profile from its table in a settings file; raise InvalidSettings, which begins with its name and member."""
    if not isinstance(table, dict):
        raise InvalidSettings(f"{name} must be a table")
    members = cast("dict[str, object]", table)
    environment: Environment = _one_of(members, name, "environment", ENVIRONMENTS)
    if environment != "custom" and not {"rest_url", "stream_url"}.isdisjoint(members):
        raise InvalidSettings(f'{name} names an address, which only environment = "custom" may')
    if environment != "custom" and "practice_money" in members:
        raise InvalidSettings(
            f'{name} says practice_money, which only environment = "custom" may: the others are known'
        )
    address = None if environment == "custom" else ""
    return Profile(
        name,
        environment,
        _text(members, name, "account"),
        _text(members, name, "rest_url", address),
        _text(members, name, "stream_url", address),
        _one_of(members, name, "token_store", TOKEN_PLACES),
        _text(members, name, "proxy") if "proxy" in members else None,
        _truth(members, name, "practice_money"),
    )


def load_token(
    profile: Profile, state: Path, passphrase: Callable[[], str | None] | None = None
) -> "Secret":
    """Return the token of a profile from the store that has it.

    Args:
        profile: the profile.
        state: the state folder, which holds the vault.
        passphrase: returns the passphrase of the vault; by default it is asked for at the terminal.

    Raises:
        TokenStoreError: the store is locked, the passphrase is wrong, or there is no token.
    """
    from keydesk_client.auth.token_store import open_token_store

    store = open_token_store(state / VAULT, passphrase or ask_passphrase, choice=profile.kept_in)
    token = store.load(profile.name, profile.environment)
    if token is None:
        raise TokenStoreError(
            f"no token is stored for profile {profile.name!r}; sign in again: `keydesk login {profile.name}"
            f" --environment {profile.environment}`"
        )
    return token


def ask_passphrase() -> str:
    """Ask for the vault's passphrase at the terminal, without showing it.

    Raises:
        StoreLocked: there is no terminal to ask at.
    """
    import warnings
    from getpass import GetPassWarning, getpass

    with warnings.catch_warnings():
        warnings.simplefilter("error", GetPassWarning)  # getpass would go on and show what is typed
        try:
            return getpass("Vault passphrase: ")
        except (GetPassWarning, EOFError):
            pass
    raise StoreLocked(
        "the vault needs its passphrase, and there is no terminal to ask at: pass `passphrase`, as in"
        " passphrase_from_file(path)"
    )


def _xdg(environment: Mapping[str, str], name: str, default: Path) -> Path:
    value = environment.get(name, "")
    return Path(value) if value.startswith("/") else default


def _one_of(table: Mapping[str, object], name: str, key: str, words: tuple[Word, ...]) -> Word:
    for word in words:
        if table.get(key) == word:
            return word
    missing = "" if key in table else "is missing: it "
    raise InvalidSettings(f"{name}.{key} {missing}must be one of: {', '.join(words)}")


def _text(table: Mapping[str, object], name: str, key: str, default: str | None = None) -> str:
    value = table.get(key, default)
    if not isinstance(value, str):
        missing = "" if key in table else "is missing: it "
        raise InvalidSettings(
            f'{name}.{key} {missing}must be text in quotes, such as {key} = "..."'
        )
    return value


def _truth(table: Mapping[str, object], name: str, key: str) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise InvalidSettings(f"{name}.{key} must be true or false, such as {key} = true")
    return value
