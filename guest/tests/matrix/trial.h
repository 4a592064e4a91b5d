/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fixture of cases that try something on a range, again and again: with each
 * mask, each mapping, each way of reclaim. It makes the range of each trial, and
 * drops, closes and frees what the trial has in the end.
 *
 *	TRIAL_CASE(lazyfree, clean_dropped, lazy, HOWS | MAPPINGS, ALL_SIZES)
 *	{
 *		reclaim(t->at, t->pages, t->how);
 *		expect_dropped(t->at, t->pages);
 *	}
 */
#ifndef QUIRE_TESTS_TRIAL_H
#define QUIRE_TESTS_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/reclaim.h"
#include "kernel/uffd_watch.h"
#include "memory/expect.h"
#include "memory/hold.h"
#include "memory/mask.h"
#include "memory/part.h"
#include "memory/range.h"
#include "process/peer.h"
#include "run/ktap.h"

struct trial {
	unsigned long kib;
	char *at;			/* where the range is now */
	size_t pages;
	const struct mask *mask;	/* of pages of each folio, */
	unsigned long unit;		/* or of each so many KiB */
	const struct part *part;	/* or NULL */
	bool by_pte;			/* folios of PMD_SIZE are mapped so */
	enum how how;
	struct snapshot *before;	/* or NULL */
	int uffd;			/* -1: none */
	struct uffd_watch *watch;	/* or NULL */
	struct peer peer;		/* pid 0: none */
	struct hold hold;
	struct {
		char *at;
		size_t pages;
	} place[4];			/* where the range has been */
	unsigned int places;
	/* Of the matrix: */
	const struct operation *op;
	const struct state *state;
	unsigned int way;		/* of the operation */
	unsigned int kind;		/* of the state */
	unsigned long kib_before;	/* of the state, as smaps counts it */
};

/* What the ranges of a suite need, and how they are made. */
struct ground {
	/* Skips the case on a kernel or machine that cannot do it. */
	void (*needs)(void);
	/* Around all trials of a case. */
	void (*start)(void), (*end)(void);
	/* range_pages(kib) at SRC_BASE, filled with SEED. */
	char *(*range)(unsigned long kib, bool by_pte);
};

/* range_of(), with swap, with two nodes; range_charged(), with swap. */
extern const struct ground plain, with_swap, on_nodes, charged, charged_with_swap;
void start_swap(void);

/* What differs from trial to trial. Otherwise: all pages, by PTEs, BY_PAGEOUT. */
enum {
	MASKS = 1,
	NONE_TOO = 2,	/* mask_none, besides */
	MAPPINGS = 4,	/* by PMDs and by PTEs, for folios of PMD_SIZE */
	HOWS = 8,
	PARTS = 16,	/* for_each_part() */
	PLACES = 32,	/* the masks of the first, last and middle page */
};

/* Calls run() for each trial on the ground, or with a range that run() makes. */
void trials_run(const struct ground *ground, unsigned int differ, unsigned long kib,
		void (*run)(struct trial *t));
void trials_each(struct trial trial, unsigned int differ, void (*run)(struct trial *t));
void trial_begin(struct trial *t, char *at, size_t pages);
void trial_end(struct trial *t);
/* A hole between guards, of the size of the range; the range goes there. */
char *trial_hole(struct trial *t, char *to);
char *trial_goes(struct trial *t, char *to);
/*
 * t->hold of one page of each folio, the one at that index. Returns how many pages
 * the folios have that are held, from the first of the range on.
 */
size_t trial_holds(struct trial *t, size_t index);

#define TRIAL_CASE(suite_, name_, ground_, differ_, ...)		\
	static void suite_##_##name_(struct trial *t);			\
	QUIRE_CASE_SIZES(suite_, name_, __VA_ARGS__)			\
	{								\
		trials_run(&ground_, differ_, kib, suite_##_##name_);	\
	}								\
	static void suite_##_##name_(struct trial *t)

#define CALL_TRIAL_CASE(suite_, name_, ground_, differ_, call_, ...)	\
	TRIAL_CASE(suite_, name_, ground_, differ_, __VA_ARGS__) { call_; }

#define TAGGED_TRIAL_CASE(suite_, name_, tag_, ground_, differ_, ...)	\
	static void suite_##_##name_(struct trial *t);			\
	QUIRE_CASE_SIZES_TAGGED(suite_, name_, tag_, __VA_ARGS__)	\
	{								\
		trials_run(&ground_, differ_, kib, suite_##_##name_);	\
	}								\
	static void suite_##_##name_(struct trial *t)

#endif
