# SPDX-License-Identifier: GPL-2.0
"""Read TOML data files into dataclasses; errors name the line."""

import re
import tomllib
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, make_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Generic, TypeVar

from cattrs import Converter, transform_error
from cattrs.errors import BaseValidationError, ForbiddenExtraKeysError

from quire.host.errors import UserError

T = TypeVar("T")

_CONVERTER = Converter(forbid_extra_keys=True)
# One component of an error's path: a table or key, and its index in an array of tables.
_STEP = re.compile(r"\.(\w+)|\[(?:'([^']*)'|(\d+))\]")


def _exactly(value: Any, kind: type[T]) -> T:
    if issubclass(kind, Enum):
        # cattrs treats a StrEnum as a string.
        return kind(value)
    if type(value) is not kind:
        raise TypeError(f"{value!r} is not of type {kind.__name__}")
    return value


for _kind in (str, int, bool):
    _CONVERTER.register_structure_hook(_kind, _exactly)


@_CONVERTER.register_structure_hook_factory(lambda kind: getattr(kind, "__origin__", None) is tuple)
def _of_list(kind: Any, converter: Converter) -> Any:
    """A tuple from a list; by default a string would become a tuple of its letters."""
    inner = Converter.get_structure_hook(converter, list[kind.__args__[0]])

    def structure(value: Any, _: Any) -> Any:
        return tuple(inner(_exactly(value, list), list[kind.__args__[0]]))

    return structure


def read(
    file: Path,
    kind: type[T],
    remedy: str,
    prepare: Callable[[dict[str, Any]], dict[str, Any]] = dict,
) -> T:
    """Read the file as a `kind`, whose fields are its top-level keys, after `prepare`.

    UserError lists unknown and missing keys and values of wrong types, each with its line.
    """
    try:
        text = file.read_text()
        content = tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"{file.name} cannot be read", f"{file}: {error}", remedy) from error
    try:
        return _CONVERTER.structure(prepare(content), kind)
    except (BaseValidationError, LookupError, TypeError, ValueError, AttributeError) as error:
        messages = transform_error(error, format_exception=_describe)
        where = "\n".join(f"{file}:{_line(text, told)}: {told}" for told in messages)
        raise UserError(f"{file.name} is invalid", where, remedy) from error


def optional(file: Path, kind: type[T], remedy: str) -> T:
    """Read like read(); return an empty `kind` if there is no such file."""
    return read(file, kind, remedy) if file.is_file() else kind()


@dataclass(frozen=True)
class Table(Generic[T]):
    """A file of [[name]] entries, each a `kind`; `remedy` says what each must have.

    `others` are entries of the same file that other readers use. An `optional` file may be missing,
    which means no entries.
    """

    name: str
    kind: type[T]
    remedy: str
    others: tuple[str, ...] = ()
    optional: bool = False
    # Returns what is wrong with an entry besides empty fields, or an empty string.
    trouble: Callable[[T], str] = lambda _: ""

    def read(self, file: Path) -> list[T]:
        """Read the entries. UserError names the line of an invalid one, like read()."""
        columns = {name: tuple[Any, ...] for name in self.others}
        columns[self.name] = tuple[self.kind, ...]  # type: ignore[name-defined]
        shape = make_dataclass("Tables", [(name, of, ()) for name, of in columns.items()])
        found: Any = (optional if self.optional else read)(file, shape, self.remedy)
        entries: list[T] = list(getattr(found, self.name))
        for number, entry in enumerate(entries):
            if what := _empty(entry) or self.trouble(entry):
                raise UserError(what, row(file, self.name, number), self.remedy)
        return entries


def row(file: Path, table: str, number: int) -> str:
    """Return the location of a file's `number`th [[table]], for messages about its contents."""
    return f"{file}:{_line(file.read_text(), f'@ $.{table}[{number}]')}"


def _empty(entry: Any) -> str:
    """The complaint about a required field that is empty."""
    for field in fields(entry):
        given = field.default is MISSING and field.default_factory is MISSING
        value = getattr(entry, field.name)
        if given and not (value.strip() if isinstance(value, str) else value):
            return f"an entry lacks its {field.name}"
    return ""


def _describe(error: BaseException, kind: type | None) -> str:
    if isinstance(error, KeyError):
        return f"lacks {error}"
    if isinstance(error, ForbiddenExtraKeysError):
        return f"has no key {', '.join(sorted(error.extra_fields))}"
    return str(error) or f"is not of type {getattr(kind, '__name__', kind)}"


def _line(text: str, message: str) -> int:
    """The approximate line for a message that ends in `@ $.table[3].key`."""
    said, _, path = message.rpartition("@ $")
    extra = re.search(r"has no key (\w+)", said)
    steps = [step.groups() for step in _STEP.finditer(path)]
    names = [name or quoted or "" for name, quoted, number in steps if number is None]
    number = next((int(number) for _, _, number in steps if number is not None), 0)
    lines = text.splitlines()
    at = 0
    if names:
        header = re.compile(rf"\[+{re.escape(names[0])}\b")
        tables = [line for line, written in enumerate(lines) if header.match(written)]
        at = tables[min(number, len(tables) - 1)] if tables else 0
    for name in [*names, *(extra.groups() if extra else ())]:
        key = re.compile(rf"\s*\[*(?:[\w.\"-]+\.)?\"?{re.escape(name)}\b")
        at = next((line for line in range(at, len(lines)) if key.match(lines[line])), at)
    return at + 1
