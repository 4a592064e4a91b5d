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

/*
 * Memory tags: four bits for each 16 bytes of memory that is mapped with this
 * protection, on a CPU that has this bit in AT_HWCAP2.
 */
#define ARCH_PROT_TAGS	0x20
#define ARCH_HAS_TAGS	(1ul << 18)

static inline void arch_set_tag(char *at, unsigned long tag)
{
	__asm__ volatile(".arch armv8.5-a+memtag\n\tstg %0, [%0]"
			 : : "r"((unsigned long)at | tag << 56) : "memory");
}

static inline unsigned long arch_tag(const char *at)
{
	unsigned long tagged = (unsigned long)at;

	__asm__ volatile(".arch armv8.5-a+memtag\n\tldg %0, [%0]"
			 : "+r"(tagged) : : "memory");
	return tagged >> 56 & 0xf;
}

#endif
