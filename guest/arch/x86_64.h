/* SPDX-License-Identifier: GPL-2.0 */
#ifndef QUIRE_ARCH_X86_64_H
#define QUIRE_ARCH_X86_64_H

#ifndef __x86_64__
#error "this compiler does not compile for x86_64"
#endif

#define ARCH_NAME	"x86_64"
/* e_machine of its programs: EM_X86_64. */
#define ARCH_ELF	62

/*
 * PTEs that the tests handle as one block. There is no contpte; any number will
 * do.
 */
#define ARCH_BLOCK	16ul
#define ARCH_BLOCK_STATE	0

/* The return from a function, and the bytes of a marker and a return. */
#define ARCH_RETURN	"ret"
#define ARCH_MARKER_AND_RETURN	8

/* What a program has in vector registers, in bytes: those of SSE. */
#define ARCH_VECTOR_BYTES	256

#define ARCH_LOAD_(a, at)	"movdqu " #at "(%[in]), %%xmm" #a "\n"
#define ARCH_STORE_(a, at)	"movdqu %%xmm" #a ", " #at "(%[out])\n"
#define ARCH_VECTORS_(op) \
	op(0, 0) op(1, 16) op(2, 32) op(3, 48) \
	op(4, 64) op(5, 80) op(6, 96) op(7, 112) \
	op(8, 128) op(9, 144) op(10, 160) op(11, 176) \
	op(12, 192) op(13, 208) op(14, 224) op(15, 240)

/* A system call while the vector registers hold `in`; `out` gets them after it. */
static inline long arch_call_with_vectors(long nr, const long arg[3],
					  const void *in, void *out)
{
	long ret = nr;

	__asm__ volatile(ARCH_VECTORS_(ARCH_LOAD_) "syscall\n"
			 ARCH_VECTORS_(ARCH_STORE_)
			 : "+a"(ret)
			 : "D"(arg[0]), "S"(arg[1]), "d"(arg[2]),
			   [in] "r"(in), [out] "r"(out)
			 : "memory", "cc", "rcx", "r11",
			   "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
			   "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
			   "xmm12", "xmm13", "xmm14", "xmm15");
	return ret;
}

#endif
