/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The differences between architectures, one file for each. Only the marker
 * instruction is elsewhere, in include/quire.h, which has to stand by itself.
 */
#ifndef QUIRE_ARCH_H
#define QUIRE_ARCH_H

#if defined(__aarch64__)
#include "arch/arm64.h"
#elif defined(__i386__)
#include "arch/i386.h"
#elif defined(__riscv)
#include "arch/riscv64.h"
#elif defined(__x86_64__)
#include "arch/x86_64.h"
#else
#error "there is no file in guest/arch for this architecture"
#endif

/* Most have no block of entries with one state, as arm64 has with contpte. */
#ifndef ARCH_BLOCK_STATE
#define ARCH_BLOCK_STATE	0
#endif

/* On most, mprotect() leaves accessed bits alone. */
#ifndef ARCH_PROTECT_ACCESSES
#define ARCH_PROTECT_ACCESSES	0
#endif

/* Most have no memory tags. */
#ifndef ARCH_PROT_TAGS
#define ARCH_PROT_TAGS	0
#define ARCH_HAS_TAGS	0ul

static inline void arch_set_tag(char *at __attribute__((unused)),
				unsigned long tag __attribute__((unused)))
{
}

static inline unsigned long arch_tag(const char *at __attribute__((unused)))
{
	return 0;
}
#endif

#endif
