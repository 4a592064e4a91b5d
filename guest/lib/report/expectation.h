/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Expectations: what a test case says must hold. One that fails is reported and
 * counted, in whatever process of the case it fails.
 */
#ifndef QUIRE_EXPECTATION_H
#define QUIRE_EXPECTATION_H

#include <stdbool.h>
#include <stdlib.h>

#include "report/die.h"

/* An expectation that fails is reported; the case goes on, and has failed. */
#define EXPECT(cond, ...) ktap_expect(!!(cond), __FILE__, __LINE__, __VA_ARGS__)

#define EXPECT_EQ(a, b)							\
	do {								\
		long long a_ = (long long)(a), b_ = (long long)(b);	\
		ktap_expect(a_ == b_, __FILE__, __LINE__,		\
			    #a " is %lld (%#llx), expected " #b		\
			    " = %lld (%#llx)", a_, a_, b_, b_);		\
	} while (0)

/* As EXPECT, and ends the process at once when it fails. */
#define ASSERT(cond, ...)						\
	do {								\
		if (!EXPECT(cond, __VA_ARGS__))				\
			exit(STATUS_FAILED);				\
	} while (0)

/* Only for what this kernel or architecture cannot have; ends the case. */
#define SKIP(...) ktap_skip(__VA_ARGS__)

/* Returns ok. At most TALLY_PRINTED failures are printed, all are counted. */
bool ktap_expect(bool ok, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void ktap_skip(const char *fmt, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

/* Count a failure that has been reported in other words. */
void ktap_count_failure(void);

#define TALLY_PRINTED	16u

/* Of one case, in memory that all its processes share with the harness. */
struct tally {
	unsigned int failures;
	char skip_reason[160];
};

/* From now on this process and its children count here; returns the last one. */
struct tally *tally_use(struct tally *tally);

#endif
