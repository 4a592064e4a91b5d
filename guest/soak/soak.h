/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The soak test. Processes with several threads each do all that the series
 * change, to the same ranges, at the same time and short of memory, and know
 * the expected contents of each page at every moment.
 *
 * main.c starts the run and gives the verdict; background.c does what happens
 * to all processes meanwhile; worker.c is a process and its threads; child.c is
 * one forked from it. ops*.c are their operations, on a range (range.c) or on a
 * page of it (page.c).
 *
 * A page's lock (struct page) protects its expected contents. It is only taken
 * by trylock. The expected contents are a key (content.h). While they change,
 * `changes` is odd. A thread with the locks of all pages of a run may drop them
 * (MADV_DONTNEED, MADV_FREE).
 *
 * A range's mutex (struct range) in a process protects the place and the
 * protection of its pages. With it, parts of ranges are moved, protected,
 * locked and unmapped, and processes are forked. A thread with the mutex does
 * not wait for the lock of a page.
 *
 * So accesses race with moves and with changes of protection. Each page has a
 * word with its place (`where`). It is read before and after an access, and
 * tells whether a fault was allowed. Each page has two homes, which no other
 * page ever has: an access to a place that the page has left faults and is
 * repeated.
 *
 * Reclaim, swap-out, KSM, compaction and the like take no lock at all.
 */
#ifndef QUIRE_SOAK_H
#define QUIRE_SOAK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/units.h"
#include "content.h"
#include "memory/hold.h"

#define MAX_PROCESSES	4u
#define MAX_THREADS	8u
#define MAX_CHILDREN	8u	/* of all processes together, at a time */
#define MAX_PAGES	512u
#define NR_RANGES	7u
#define NR_NOTES	1024u
#define NR_SLOTS	(MAX_PROCESSES + MAX_CHILDREN)
#define NR_SEATS	(MAX_PROCESSES * MAX_THREADS + MAX_CHILDREN)
#define MAX_KINDS	32u

/* The expected contents of a page, in all processes that may see it. */
struct page {
	uint32_t taken;		/* the lock */
	uint32_t changes;	/* odd: a change is under way */
	uint64_t key;
	bool lazy;		/* or zero: after MADV_FREE */
	bool unknown;		/* it was changing at the fork */
};

/* An operation on a range. */
struct note {
	uint64_t when;		/* how many operations were done before */
	const char *what;	/* the same address in all processes */
	uint16_t owner;
	uint16_t first, count;
	int32_t result;
};

/* Shared by all processes; a child has its own for private memory. */
struct model {
	uint32_t generation;	/* of the last write to any page */
	uint32_t next_note;
	struct note note[NR_NOTES];
	struct page page[MAX_PAGES];
};

/*
 * Bits of `where`. The bits above them are a number that each change increases.
 */
#define AWAY		1u	/* at its second home */
#define MOVING		2u	/* on its way to the other home */
#define SEALING		4u	/* a write may fault */
#define SEALED		8u	/* a write must fault */
#define LOCKED		16u	/* by mlock() */
#define ABSENT		32u	/* in a child: not inherited */
#define WHERE_STATE	255u
#define WHERE_STEP	256u

enum range_type { ANON, FILE_PRIVATE, SHMEM };

/* A mapped range of a process. */
struct range {
	enum range_type type;
	unsigned int number;
	size_t pages;
	char *home[2];
	int fd;			/* -1 for ANON */
	pthread_mutex_t layout;
	uint32_t where[MAX_PAGES];
	bool mergeable;
	size_t locked, nr_locked;	/* pages that are LOCKED */
	size_t fresh, nr_fresh;		/* written lately, as a whole */
	struct model *model;
};

struct process {
	unsigned int number;	/* of its worker, or of itself */
	unsigned int depth;	/* 0: a worker */
	uint32_t owner;		/* in the keys of its contents */
	uint32_t children;	/* alive */
	int uffd;		/* -1: none */
	struct range range[NR_RANGES];
};

static inline uint32_t where(const struct range *range, size_t page)
{
	return __atomic_load_n(&range->where[page], __ATOMIC_SEQ_CST);
}

static inline char *place(const struct range *range, uint32_t at, size_t page)
{
	return range->home[at & AWAY] + page * PAGE_SIZE;
}

/* The present process, and a number for a new one. */
extern struct process us;
uint32_t new_owner(void);

/* A thread with its random numbers. */
struct actor {
	uint64_t random;
	unsigned int seat;	/* in common->doing */
	const struct kind *kind;	/* of its present operation */
	/* Chooses an operation, does it and counts it: act() of ops.c. */
	void (*act)(struct actor *self);
	struct range *held;	/* has the page of `hold`, or NULL */
	size_t held_page;
	struct hold hold;
};

/* An actor's present operation, to report one that makes no progress. */
struct doing {
	const char *what;	/* the kind of operation, or NULL */
	uint32_t owner, range, page;
	uint64_t since;		/* how many operations were done then */
};

/* Of a kind of operation: how often it was done, and its total time. */
struct tally {
	uint64_t done, ns;
};

/* The pages of a resting worker; see accounting.c. */
struct account {
	uint64_t populated, resident, swapped;
};

/* The orders of main to the workers while they rest, in turn. */
enum order { ORDER_UNLOCK, ORDER_COUNT, NR_ORDERS };

/* What all processes share, except the memory under test. */
struct common {
	uint64_t seed, target;
	unsigned int processes, threads;
	uint64_t operations;
	struct tally tally[MAX_KINDS];
	uint32_t violations;
	bool unwatched;		/* no write protection by userfaultfd */
	uint32_t stop;		/* there was a violation */
	uint32_t end;		/* the run is over */
	uint32_t pause;
	uint32_t resting;	/* threads */
	uint32_t orders;	/* given so far, each kind in turn */
	uint32_t obeyed;	/* by any worker */
	size_t folio_pages;	/* of the folios that faults allocate now */
	uint32_t owners;	/* numbers given to processes so far */
	uint32_t slots;		/* bits: given to children */
	bool playing[MAX_CHILDREN];	/* the parent still plays the scene */
	struct account account[MAX_PROCESSES];
	struct doing doing[NR_SEATS];
	struct model model[NR_SLOTS][NR_RANGES];
};

extern struct common *common;

/*
 * Operations. run() returns whether it was done; otherwise another is chosen.
 */
struct kind {
	const char *name;
	unsigned int weight;	/* its frequency among all */
	unsigned int ranges;	/* bits of enum range_type */
	unsigned int least;	/* minimum in a million operations */
	bool (*run)(struct actor *self, struct range *range);
};

#define ON_ANON		(1u << ANON)
#define ON_PRIVATE	(ON_ANON | 1u << FILE_PRIVATE)
#define ON_SHMEM	(1u << SHMEM)
#define ON_ALL		(ON_PRIVATE | ON_SHMEM)

/* ops.c */
extern const struct kind kinds[];
extern const unsigned int nr_kinds;
void act(struct actor *self);

/* ops_page.c: drops the extra reference. */
void hold_drop(struct actor *self);

static inline bool stopped(void)
{
	return __atomic_load_n(&common->stop, __ATOMIC_RELAXED);
}

static inline uint64_t operations(void)
{
	return __atomic_load_n(&common->operations, __ATOMIC_RELAXED);
}

static inline bool done(void)
{
	return operations() >= __atomic_load_n(&common->target,
					       __ATOMIC_RELAXED);
}

/* Must all threads rest? */
static inline bool pausing(void)
{
	return __atomic_load_n(&common->pause, __ATOMIC_SEQ_CST) || done();
}

/* random.c */
uint64_t random_number(struct actor *self);
/* A number below n; n must not be 0. */
size_t below(struct actor *self, size_t n);
bool one_in(struct actor *self, unsigned int n);

/* report.c */
/* Reports a violation, and ends the run. page: -1 for none. */
void violation(const struct range *range, long page, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* violation() with errno, for a system call that must not fail. */
void refused(const struct range *range, long page, const char *what);
void note(struct actor *self, struct range *range, size_t first, size_t count,
	  int result);
void report_doing(void);

#endif
