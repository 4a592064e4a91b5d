/* SPDX-License-Identifier: GPL-2.0 */
#ifndef QUIRE_ARCH_X86_64_H
#define QUIRE_ARCH_X86_64_H

#ifndef __x86_64__
#error "this compiler does not compile for x86_64"
#endif

#define ARCH_NAME	"x86_64"
/* e_machine of its programs: EM_X86_64. */
#define ARCH_ELF	62

/* What a loop that waits for another CPU executes. */
#define ARCH_RELAX	"pause"

/* The return from a function, and the bytes of a marker and a return. */
#define ARCH_RETURN	"ret"
#define ARCH_MARKER_AND_RETURN	8

#endif
