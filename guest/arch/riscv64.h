/* SPDX-License-Identifier: GPL-2.0 */
#ifndef QUIRE_ARCH_RISCV64_H
#define QUIRE_ARCH_RISCV64_H

#if !defined(__riscv) || __riscv_xlen != 64
#error "this compiler does not compile for riscv64"
#endif

#define ARCH_NAME	"riscv64"
/* e_machine of its programs: EM_RISCV. */
#define ARCH_ELF	243

/* mprotect() makes present pages accessed. */
#define ARCH_PROTECT_ACCESSES	1

/* What a loop that waits for another CPU executes: pause, which older assemblers do not know. */
#define ARCH_RELAX	".4byte 0x0100000f"

/* The return from a function, not compressed, and the bytes of a marker and a return. */
#define ARCH_RETURN	".option push\n\t.option norvc\n\tret\n\t.option pop"
#define ARCH_MARKER_AND_RETURN	8

#endif
