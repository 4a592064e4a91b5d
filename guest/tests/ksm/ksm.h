/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers of the ksm cases: ksmd driven pass by pass, processes that carry out
 * orders, ranges whose page indexes differ from their addresses, and the check
 * that every mapping of a merged page is found.
 */
#ifndef QUIRE_TESTS_KSM_H
#define QUIRE_TESTS_KSM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "proc/pagemap.h"
#include "run/ktap.h"

/*
 * Sets known KSM settings, makes the case's memory cgroup and the workers' pipes.
 */
void ksm_begin(void);
/* Writes a file of /sys/kernel/mm/ksm. */
void ksm_set(const char *knob, unsigned long value);
/* Waits until ksmd has done that many passes; returns how many it did. */
unsigned int ksm_pass(unsigned int passes);
/* Lets ksmd begin a pass, and stops it when it has visited one page. */
void ksm_visit_first(void);

/*
 * Workers: processes forked from the case's process or from each other. Each
 * waits for orders: a function with two arguments, whose result is returned. A
 * worker that is NULL is the case's own process.
 */
struct worker;
typedef long act(char *addr, long arg);

struct worker *worker_fork(struct worker *parent);
pid_t worker_pid(const struct worker *who);	/* 0 for NULL */
long worker_do(struct worker *who, act *what, char *addr, long arg);
/* Ends the worker; its memory is freed when this returns. */
void worker_end(struct worker *who);

/* Acts. Those that can fail return 0 or an errno. */
act act_touch;		/* read through a new TLB entry */
act act_verify;		/* 0: the page holds the pattern with number arg */
act act_write;		/* write the pattern with number arg to the page */
act act_unmergeable;	/* MADV_UNMERGEABLE of arg pages */
act act_unmap;		/* munmap() of arg pages */
act act_soft_offline;	/* MADV_SOFT_OFFLINE of the page */
act act_range;		/* range_make() of kind arg */
act act_move_away;	/* move arg pages to AWAY */

/*
 * Where the pages of a range get their index from. The address, as in a fresh
 * anonymous VMA; the address before mremap(); the offset in a tmpfs file mapped
 * MAP_PRIVATE; that, moved. HIGH: an address so large that the index needs more
 * than 32 bits. FAR: a file offset so large that the index has non-zero bytes
 * where smart scan keeps its age and its skips.
 */
enum range_kind { PLAIN, MOVED, FILE_PAGES, FILE_MOVED, HIGH, FAR };

#define RANGE_PAGES	16ul
#define MID		5ul	/* the page of a range that gets merged */
#define SEED		0x6b5eedul
#define SAME		0u	/* the number of the contents of merged pages */
#define OTHER		1u	/* written to merged pages; OTHER + 1, too */

/* Addresses for the cases, far from each other. */
#define LOW_TWIN	PLACE(0x1800000000, 0x38000000)	/* scanned before HOME */
#define HOME		PLACE(0x2000000000, 0x40000000)	/* most ranges */
#define ORIGIN		PLACE(0x2400000000, 0x4c000000)	/* before they moved */
#define AWAY		PLACE(0x2800000000, 0x58000000)
#define TWINS		PLACE(0x3000000000, 0x64000000)
#define HIGH_HOME	PLACE(0x500000000000, 0xa0000000)

static inline char *page_of(char *range, size_t page)
{
	return range + page * PAGE_SIZE;
}

/*
 * RANGE_PAGES of private mergeable memory. Page MID holds SAME; every other
 * page holds contents that no other address has. Returns its address: HOME or
 * HIGH_HOME.
 */
char *range_make(enum range_kind kind);
/* The same at an address, without any move. */
char *range_make_at(enum range_kind kind, char *home);
/* One mergeable anonymous page that holds SAME, in its own VMA. */
char *twin_make_at(char *addr);
char *twin_make(unsigned int nr);
/* mremap() of whole pages to exactly `to`, or die. */
void range_move(char *from, size_t pages, char *to);
void range_mergeable(char *addr, size_t pages);

/* The mappings of one page: process and address. */
struct mapping {
	struct worker *who;
	char *addr;
};

#define MAX_MAPPINGS 48

struct mappings {
	size_t nr;
	struct mapping at[MAX_MAPPINGS];
};

void mappings_add(struct mappings *all, struct worker *who, char *addr);
/* After a fork: adds a mapping in `who` for each mapping of `parent`. */
void mappings_add_fork(struct mappings *all, struct worker *parent,
		       struct worker *who);
void mappings_remove(struct mappings *all, struct worker *who, char *addr);

struct page_state mapping_state(const struct mapping *mapping);
long mapping_do(const struct mapping *mapping, act *what, long arg);

/* Page MID of a new range and one twin, both not merged yet. */
struct mappings pair_make(enum range_kind kind);
/* The same, merged. */
struct mappings pair_merged(enum range_kind kind);
/*
 * The same with a child that ksmd never scans. It shares the page that becomes
 * the merged one (the one scanned last). moved: the child has its page at AWAY,
 * where stock does not find it. Returns the child; its mapping is last.
 */
struct worker *pair_merged_unscanned(struct mappings *all, enum range_kind kind,
				     bool moved);

/*
 * The pfn of the one page that all map, or 0. On stock 6.12, kpageflags
 * calls every anonymous page a KSM page. So the proof is that two addresses
 * that were written separately map the same page.
 */
uint64_t mappings_merged(const struct mappings *all);
/* Lets ksmd merge all to one page; dies if it does not. */
void mappings_merge(const struct mappings *all);

/* Each holds SAME. */
void expect_same(const struct mappings *all);
/* All map one KSM page, it has no other mapping, and a walk finds each. */
void expect_reached(const struct mappings *all);
/* The merged page can be migrated: afterwards none is of the old page. */
void expect_migrated(const struct mappings *all);
/* All can be swapped out, which frees the page, and in again. */
void expect_swapped(const struct mappings *all);
/* All of the above. Afterwards the pages are swapped in and not merged. */
void expect_found(const struct mappings *all);

/* Reclaims until none is present; otherwise the case fails. */
void mappings_swap_out(const struct mappings *all);
/* Returns a soft-offlined or poisoned page to the free pages. */
void unpoison(uint64_t pfn);

/*
 * Holds a reference to the page, as direct I/O would, until page_let_go(). The
 * page can then be unmapped but not freed. Returns the argument of
 * page_let_go().
 */
int page_hold(char *addr);
void page_let_go(int held);

/* A case that is one call; KSM_FIXES_CASE: of a bug of stock. */
#define KSM_CASE(name_, call_)						\
	QUIRE_CASE(ksm, name_) { ksm_begin(); call_; }
#define KSM_FIXES_CASE(name_, call_)					\
	QUIRE_CASE_TAGGED(ksm, name_, FIXES) { ksm_begin(); call_; }

/* One case for each of three kinds of range: name, name_moved, name_file. */
#define KSM_CASES(name)							\
	static void name(enum range_kind kind);				\
	KSM_CASE(name, name(PLAIN))					\
	KSM_CASE(name##_moved, name(MOVED))				\
	KSM_CASE(name##_file, name(FILE_PAGES))				\
	static void name(enum range_kind kind)

#endif
