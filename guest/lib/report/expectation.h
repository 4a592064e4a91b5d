/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Expectations: what a test case requires. A failed expectation is reported and
 * counted, in any process of the case.
 */
#ifndef QUIRE_EXPECTATION_H
#define QUIRE_EXPECTATION_H

#include <stdbool.h>
#include <stdlib.h>

#include "report/die.h"

/* Reports a failed expectation; the case continues, and fails. */
#define EXPECT(cond, ...) ktap_expect(!!(cond), __FILE__, __LINE__, __VA_ARGS__)

#define EXPECT_EQ(a, b)							\
	do {								\
		long long a_ = (long long)(a), b_ = (long long)(b);	\
		ktap_expect(a_ == b_, __FILE__, __LINE__,		\
			    #a " is %lld (%#llx), expected " #b		\
			    " = %lld (%#llx)", a_, a_, b_, b_);		\
	} while (0)

/* As EXPECT, but a failure ends the process at once. */
#define ASSERT(cond, ...)						\
	do {								\
		if (!EXPECT(cond, __VA_ARGS__))				\
			exit(STATUS_FAILED);				\
	} while (0)

/* Ends the case. Only for what this kernel or architecture does not have. */
#define SKIP(...) ktap_skip(__VA_ARGS__)

/* Returns ok. Prints at most TALLY_PRINTED failures, counts all. */
bool ktap_expect(bool ok, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void ktap_skip(const char *fmt, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

/* Counts a check; a failure was reported already. */
void ktap_count(bool ok);

#define TALLY_PRINTED	16u

/* One per case, in memory shared by its processes and the harness. */
struct tally {
	unsigned int checks;	/* failed or not, without those of guards */
	unsigned int failures;
	char skip_reason[160];
};

/*
 * From now on, this process and its children count here. Returns the last
 * tally.
 */
struct tally *tally_use(struct tally *tally);

#endif
