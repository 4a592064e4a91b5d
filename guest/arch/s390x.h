/* SPDX-License-Identifier: GPL-2.0 */
#ifndef QUIRE_ARCH_S390X_H
#define QUIRE_ARCH_S390X_H

#ifndef __s390x__
#error "this compiler does not compile for s390x"
#endif

#define ARCH_NAME	"s390x"
/* e_machine of its programs: EM_S390. */
#define ARCH_ELF	22

/* There is no contpte, no block with one state. */
#define ARCH_BLOCK_STATE	0

/* mprotect() leaves accessed bits alone. */
#define ARCH_PROTECT_ACCESSES	0

/* What a loop that waits for another CPU executes: there is nothing better. */
#define ARCH_RELAX	"nopr"

/* The return from a function, and the bytes of a marker and a return. */
#define ARCH_RETURN	"br %r14\n\tnopr"
#define ARCH_MARKER_AND_RETURN	8

#endif
