/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Test suites and cases, reported as KTAP.
 *
 *	QUIRE_CASE(mremap, keeps_content)
 *	{
 *		EXPECT_EQ(a, b);
 *	}
 *
 *	QUIRE_CASE_SIZES(mremap, moves_folio, 16, 64, 2048)
 *	{
 *		// kib: the folio size of this run; cases mremap.moves_folio-16k, ...
 *	}
 *
 * Sizes are those of kernels with pages of 4 KiB; on others, kib and the name
 * have what is in their place: folio_size().
 *
 * Each case runs in a forked child with a process group of its own, with all
 * mTHP sizes off, no swap, KSM stopped. It fails when an expectation fails (in
 * the child or in anything it forked), when none was checked, when it dies,
 * crashes, exceeds its time limit, or taints the kernel. State outside the process (sysctl, swap, mTHP) is
 * reset by the harness before the next case.
 */
#ifndef QUIRE_KTAP_H
#define QUIRE_KTAP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/units.h"
#include "report/expectation.h"

#define KTAP_TIMEOUT_MS 10000u	/* of virtual time */

struct ktap_case {
	const char *suite;
	const char *name;
	void (*run)(unsigned long kib);
	const unsigned long *sizes;	/* KiB; NULL: once, with kib = PAGE_KIB */
	size_t nr_sizes;
	unsigned int timeout_ms;
	unsigned long taints;	/* bits of "tainted" that the case may set */
	const char *tag;	/* or NULL */
	bool hidden;	/* run only when named in full (the self-test's) */
};

#define KTAP_REGISTER(id, ...)						\
	static const struct ktap_case id##_case = { __VA_ARGS__ };	\
	static const struct ktap_case *const id##_entry			\
	__attribute__((used, section("quire_cases"))) = &id##_case

#define QUIRE_CASE_FULL(suite_, name_, timeout_, ...)			\
	static void suite_##__##name_(unsigned long kib);		\
	KTAP_REGISTER(suite_##__##name_, .suite = #suite_,		\
		      .name = #name_, .run = suite_##__##name_,		\
		      .timeout_ms = timeout_, __VA_ARGS__);		\
	static void suite_##__##name_(unsigned long kib __attribute__((unused)))

#define KTAP_SIZES(...)							\
	.sizes = (const unsigned long[]){ __VA_ARGS__ },		\
	.nr_sizes = ARRAY_SIZE(((const unsigned long[]){ __VA_ARGS__ }))

#define QUIRE_CASE(suite_, name_)					\
	QUIRE_CASE_FULL(suite_, name_, KTAP_TIMEOUT_MS)
#define QUIRE_CASE_SIZES(suite_, name_, ...)				\
	QUIRE_CASE_FULL(suite_, name_, KTAP_TIMEOUT_MS,			\
			KTAP_SIZES(__VA_ARGS__))
#define QUIRE_CASE_TIMEOUT(suite_, name_, seconds_)			\
	QUIRE_CASE_FULL(suite_, name_, (seconds_) * 1000u)
#define QUIRE_CASE_TAINTS(suite_, name_, taints_)			\
	QUIRE_CASE_FULL(suite_, name_, KTAP_TIMEOUT_MS, .taints = taints_)
#define QUIRE_CASE_HIDDEN(suite_, name_, ms_)				\
	QUIRE_CASE_FULL(suite_, name_, ms_, .hidden = true)

/*
 * What is expected of a kernel without the series: patterns @fixes and @series.
 */
#define FIXES	"fixes"		/* fails on stock; the series fixes that */
#define SERIES	"series"	/* needs the series; stock may fail */

#define QUIRE_CASE_TAGGED(suite_, name_, tag_)				\
	QUIRE_CASE_FULL(suite_, name_, KTAP_TIMEOUT_MS, .tag = tag_)
#define QUIRE_CASE_SIZES_TAGGED(suite_, name_, tag_, ...)		\
	QUIRE_CASE_FULL(suite_, name_, KTAP_TIMEOUT_MS, .tag = tag_,	\
			KTAP_SIZES(__VA_ARGS__))

/* Cases that are one call. */
#define QUIRE_CASE_CALL(suite_, name_, call_)				\
	QUIRE_CASE(suite_, name_) { call_; }
#define QUIRE_CASE_SIZES_CALL(suite_, name_, call_, ...)		\
	QUIRE_CASE_SIZES(suite_, name_, __VA_ARGS__) { call_; }
#define QUIRE_CASE_CALL_TAGGED(suite_, name_, tag_, call_)		\
	QUIRE_CASE_TAGGED(suite_, name_, tag_) { call_; }
#define QUIRE_CASE_SIZES_CALL_TAGGED(suite_, name_, tag_, call_, ...)	\
	QUIRE_CASE_SIZES_TAGGED(suite_, name_, tag_, __VA_ARGS__) { call_; }

/*
 * Runs every case whose "suite.case" matches one of the patterns (fnmatch), or
 * whose tag is a pattern "@tag", in link order. Returns the status of the run,
 * STATUS_USAGE when nothing matches.
 */
int ktap_run(char *const *patterns, size_t nr);
/* Prints one line each: "test suite.case", or "test suite.case @tag". */
void ktap_list(void);

#endif
