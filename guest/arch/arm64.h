/* SPDX-License-Identifier: GPL-2.0 */
#ifndef QUIRE_ARCH_ARM64_H
#define QUIRE_ARCH_ARM64_H

#ifndef __aarch64__
#error "this compiler does not compile for arm64"
#endif

#define ARCH_NAME	"arm64"
/* e_machine of its programs: EM_AARCH64. */
#define ARCH_ELF	183

/* PTEs of one contpte block, with 4 KiB pages. */
#define ARCH_BLOCK	16ul
/* Such a block has one accessed and one dirty state. */
#define ARCH_BLOCK_STATE	1

/* The return from a function, and the bytes of a marker and a return. */
#define ARCH_RETURN	"ret"
#define ARCH_MARKER_AND_RETURN	8

/* What a program has in vector registers, in bytes. */
#define ARCH_VECTOR_BYTES	512

#define ARCH_PAIR_(op, a, b, at, base) \
	#op " q" #a ", q" #b ", [" #base ", #" #at "]\n"
#define ARCH_PAIRS_(op, base) \
	ARCH_PAIR_(op, 0, 1, 0, base) \
	ARCH_PAIR_(op, 2, 3, 32, base) \
	ARCH_PAIR_(op, 4, 5, 64, base) \
	ARCH_PAIR_(op, 6, 7, 96, base) \
	ARCH_PAIR_(op, 8, 9, 128, base) \
	ARCH_PAIR_(op, 10, 11, 160, base) \
	ARCH_PAIR_(op, 12, 13, 192, base) \
	ARCH_PAIR_(op, 14, 15, 224, base) \
	ARCH_PAIR_(op, 16, 17, 256, base) \
	ARCH_PAIR_(op, 18, 19, 288, base) \
	ARCH_PAIR_(op, 20, 21, 320, base) \
	ARCH_PAIR_(op, 22, 23, 352, base) \
	ARCH_PAIR_(op, 24, 25, 384, base) \
	ARCH_PAIR_(op, 26, 27, 416, base) \
	ARCH_PAIR_(op, 28, 29, 448, base) \
	ARCH_PAIR_(op, 30, 31, 480, base)

/* A system call while the vector registers hold `in`; `out` gets them after it. */
static inline long arch_call_with_vectors(long nr, const long arg[3],
					  const void *in, void *out)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = arg[0];
	register long x1 __asm__("x1") = arg[1];
	register long x2 __asm__("x2") = arg[2];
	register const void *x9 __asm__("x9") = in;
	register void *x10 __asm__("x10") = out;

	__asm__ volatile(ARCH_PAIRS_(ldp, x9) "svc #0\n" ARCH_PAIRS_(stp, x10)
			 : "+r"(x0)
			 : "r"(x1), "r"(x2), "r"(x8), "r"(x9), "r"(x10)
			 : "memory", "cc",
			   "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7",
			   "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15",
			   "v16", "v17", "v18", "v19", "v20", "v21", "v22",
			   "v23", "v24", "v25", "v26", "v27", "v28", "v29",
			   "v30", "v31");
	return x0;
}

#endif
