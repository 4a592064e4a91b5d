/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Copyright (c) The Quire developers */
/*
 * For a program that Quire measures: mark the measured region, and report what
 * was done in it. This file needs no other. It is C and C++.
 *
 *	quire_start();
 *	touch_every_page();
 *	quire_stop();
 *	quire_pages(4096);
 *	if (wrong)
 *		quire_fail("page %zu has wrong data", page);
 *
 * The marks are instructions that every CPU executes as no-ops, and each of the
 * other functions prints one line. Without the lab, it is an ordinary program.
 */
#ifndef QUIRE_H
#define QUIRE_H

#include <stdarg.h>
#include <stdio.h>

/*
 * A mark is one instruction that contains a payload of 16 bits: (operation <<
 * 12) | region. The counting plugin decodes it: counter/README.md.
 *
 * QUIRE_MARKER: that instruction as text for the assembler. The payload is
 * text, too: an expression of constants.
 */
#if defined(__aarch64__)
/* movz xzr, #payload, lsl #48: a write to the zero register */
#define QUIRE_MARKER(payload)	".inst 0xd2e0001f | ((" payload ") << 5)"
#elif defined(__riscv) && __riscv_xlen == 64
/* slti zero, x(16 + operation), region: a write to the zero register */
#define QUIRE_MARKER(payload)						\
	".4byte 0x2013 | (16 + ((" payload ") >> 12)) << 15 | ((" payload ") & 0xfff) << 20"
#elif defined(__x86_64__) || defined(__i386__)
/* nopl disp32(%rax), the displacement being 0x51550000 | payload */
#define QUIRE_MARKER(payload)	".byte 0x0f, 0x1f, 0x80\n\t"		\
				".long 0x51550000 | (" payload ")"
#else
#error "quire.h knows no marker instruction for this architecture"
#endif

#define QUIRE_OP_START	1
#define QUIRE_OP_STOP	2

/* Region 0 is the measured one. */
#ifdef __riscv
/* A constant has no prefix there, and %c is not known. */
#define QUIRE_CONSTANT	"%0"
#else
#define QUIRE_CONSTANT	"%c0"
#endif
#define QUIRE_MARK(op)							\
	__asm__ volatile(QUIRE_MARKER(QUIRE_CONSTANT) : : "i"((op) << 12) : "memory")

/*
 * The code between these two is counted. They may be called again: the counts
 * add up.
 */
#ifdef QUIRE_TIME
/* In the program of `quire time run`, which reads the clock there. */
void quire_time_start(void);
void quire_time_stop(void);
#else
#define quire_time_start()	((void)0)
#define quire_time_stop()	((void)0)
#endif

static inline __attribute__((always_inline)) void quire_start(void)
{
	QUIRE_MARK(QUIRE_OP_START);
	quire_time_start();
}

static inline __attribute__((always_inline)) void quire_stop(void)
{
	quire_time_stop();
	QUIRE_MARK(QUIRE_OP_STOP);
}

/* How many pages of 4 KiB, and how many operations, the region handled. */
static inline void quire_pages(unsigned long n)
{
	printf("quire: pages %lu\n", n);
	fflush(stdout);
}

static inline void quire_ops(unsigned long n)
{
	printf("quire: ops %lu\n", n);
	fflush(stdout);
}

/* A counter of your own, before and after the region; no blanks in the name. */
static inline void quire_counter(const char *name, unsigned long before,
				 unsigned long after)
{
	printf("quire: counter %s %lu %lu\n", name, before, after);
	fflush(stdout);
}

/*
 * The result is wrong: the bench fails and prints this. The program continues.
 */
__attribute__((format(printf, 1, 2)))
static inline void quire_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	printf("quire: fail ");
	vprintf(fmt, ap);
	printf("\n");
	va_end(ap);
	fflush(stdout);
}

#endif
