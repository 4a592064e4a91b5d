# SPDX-License-Identifier: GPL-2.0
"""What an object file has in .text: its functions, its bytes, the lines of its source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from elftools.elf.elffile import ELFFile

TEXT = ".text"


class Line(NamedTuple):
    """A row of a line table: from this address on, the code is of that line of the file."""

    address: int
    file: str
    number: int


def functions(path: Path) -> dict[str, tuple[int, int]]:
    """The offset and the size of each function in an object's code."""
    with path.open("rb") as file:
        elf = ELFFile(file)
        text, symbols = elf.get_section_index(TEXT), elf.get_section_by_name(".symtab")
        return {
            symbol.name: (symbol["st_value"], symbol["st_size"])
            for symbol in (symbols.iter_symbols() if symbols else ())
            if symbol["st_shndx"] == text and symbol["st_info"]["type"] == "STT_FUNC"
        }


def code(path: Path) -> bytes:
    """The bytes of an object's code."""
    with path.open("rb") as file:
        section = ELFFile(file).get_section_by_name(TEXT)
        return bytes(section.data()) if section else b""


def lines(path: Path) -> list[Line]:
    """The line table of an object's code, whose last row is behind it; empty if it has none."""
    with path.open("rb") as file:
        size = ELFFile(file).get_section_by_name(TEXT)["sh_size"]
        # Each section has sequences from 0 on; that of the code ends where the code does.
        found = (rows for rows in _sequences(file) if rows[-1].address == size)
        return next(found, [])


def _sequences(file: BinaryIO) -> Iterator[list[Line]]:
    elf = ELFFile(file)
    dwarf: Any = elf.get_dwarf_info() if elf.has_dwarf_info() else None
    for unit in dwarf.iter_CUs() if dwarf else ():
        program = dwarf.line_program_for_CU(unit)
        files: dict[int, str] = {}
        rows: list[Line] = []
        for state in filter(None, (entry.state for entry in program.get_entries())):
            if state.file not in files:
                files[state.file] = _file(program.header, state.file)
            rows.append(Line(state.address, files[state.file], state.line))
            if state.end_sequence:
                yield rows
                rows = []


def _file(header: Mapping[str, Any], number: int) -> str:
    """The path of a file in a line table, relative to the compiler's directory or absolute."""
    old = header["version"] < 5
    entry = header["file_entry"][number - old]
    # Directory 0 is the compiler's.
    folders = ([b""] if old else []) + list(header["include_directory"])
    folder = folders[entry.dir_index] if entry.dir_index else b""
    return str(Path(folder.decode()) / entry.name.decode())
