/* SPDX-License-Identifier: GPL-2.0 */
#ifndef QUIRE_ARCH_I386_H
#define QUIRE_ARCH_I386_H

#ifndef __i386__
#error "this compiler does not compile for i386"
#endif

#define ARCH_NAME	"i386"
/* e_machine of its programs: EM_386. */
#define ARCH_ELF	3

/* What a loop that waits for another CPU executes. */
#define ARCH_RELAX	"pause"

/* The return from a function, and the bytes of a marker and a return. */
#define ARCH_RETURN	"ret"
#define ARCH_MARKER_AND_RETURN	8

#endif
