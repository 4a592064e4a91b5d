/* SPDX-License-Identifier: GPL-2.0 */
#ifndef QUIRE_ARCH_ARM64_H
#define QUIRE_ARCH_ARM64_H

#ifndef __aarch64__
#error "this compiler does not compile for arm64"
#endif

#define ARCH_NAME	"arm64"
/* e_machine of its programs: EM_AARCH64. */
#define ARCH_ELF	183

/* A contpte block has one accessed and one dirty state. */
#define ARCH_BLOCK_STATE	1

/* What a loop that waits for another CPU executes. */
#define ARCH_RELAX	"yield"

/* The return from a function, and the bytes of a marker and a return. */
#define ARCH_RETURN	"ret"
#define ARCH_MARKER_AND_RETURN	8

#endif
