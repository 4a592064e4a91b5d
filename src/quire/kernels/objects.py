# SPDX-License-Identifier: GPL-2.0
"""Read .text of an object file: its functions, its bytes, its source lines."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from elftools.elf.elffile import ELFFile

TEXT = ".text"


class LineRow(NamedTuple):
    """A row of a line table: code from this address on belongs to that line of the file."""

    address: int
    file: str
    number: int


def functions(path: Path) -> dict[str, tuple[int, int]]:
    """Return the offset and size in bytes of each function in an object's code."""
    with path.open("rb") as file:
        elf = ELFFile(file)
        text, symbols = elf.get_section_index(TEXT), elf.get_section_by_name(".symtab")
        return {
            symbol.name: (symbol["st_value"], symbol["st_size"])
            for symbol in (symbols.iter_symbols() if symbols else ())
            if symbol["st_shndx"] == text and symbol["st_info"]["type"] == "STT_FUNC"
        }


def code(path: Path) -> bytes:
    """Return the bytes of an object's code."""
    with path.open("rb") as file:
        section = ELFFile(file).get_section_by_name(TEXT)
        return bytes(section.data()) if section else b""


def lines(path: Path) -> list[LineRow]:
    """Return the line table of an object's code, with a last row at its end; empty without one."""
    with path.open("rb") as file:
        size = ELFFile(file).get_section_by_name(TEXT)["sh_size"]
        # The sequences of each section start at 0; the one for the code ends where the code does.
        found = (rows for rows in _sequences(file) if rows[-1].address == size)
        return next(found, [])


def _sequences(file: BinaryIO) -> Iterator[list[LineRow]]:
    elf = ELFFile(file)
    dwarf: Any = elf.get_dwarf_info() if elf.has_dwarf_info() else None
    for unit in dwarf.iter_CUs() if dwarf else ():
        program = dwarf.line_program_for_CU(unit)
        files: dict[int, str] = {}
        rows: list[LineRow] = []
        for state in filter(None, (entry.state for entry in program.get_entries())):
            if state.file not in files:
                files[state.file] = _file(program.header, state.file)
            rows.append(LineRow(state.address, files[state.file], state.line))
            if state.end_sequence:
                yield rows
                rows = []


def _file(header: Mapping[str, Any], number: int) -> str:
    """Return a file's path in a line table, relative to the compiler's directory or absolute."""
    old = header["version"] < 5
    entry = header["file_entry"][number - old]
    # Directory 0 is the compiler's.
    folders = ([b""] if old else []) + list(header["include_directory"])
    folder = folders[entry.dir_index] if entry.dir_index else b""
    return str(Path(folder.decode()) / entry.name.decode())
