/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the ksm cases share: ksmd driven pass by pass, processes that do as they
 * are told, ranges whose page indexes differ from their addresses, and the
 * proof that every mapping of a merged page is found.
 */
#ifndef QUIRE_TESTS_KSM_H
#define QUIRE_TESTS_KSM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "proc/pagemap.h"
#include "run/ktap.h"

/* Known KSM settings, a memory cgroup of the case's own, the crew's pipes. */
void ksm_begin(void);
/* A file of /sys/kernel/mm/ksm. */
void ksm_set(const char *knob, unsigned long value);
/* Let ksmd finish that many passes over all memory; returns how many it did. */
unsigned int ksm_pass(unsigned int passes);

/*
 * The crew: processes forked from the case's own or from each other. Each waits
 * for orders: a function with two arguments, whose result is handed back. A
 * worker that is NULL stands for the case's own process.
 */
struct worker;
typedef long act(char *addr, long arg);

struct worker *crew_fork(struct worker *parent);
pid_t crew_pid(const struct worker *who);	/* 0 for NULL */
long crew_do(struct worker *who, act *what, char *addr, long arg);
/* End the worker; when this returns, its memory is gone. */
void crew_end(struct worker *who);

/* Acts. Those that can fail return 0 or an errno. */
act act_touch;		/* read by a TLB entry that was not there before */
act act_verify;		/* 0: the page holds the pattern with number arg */
act act_write;		/* write the pattern with number arg to the page */
act act_unmergeable;	/* MADV_UNMERGEABLE of arg pages */
act act_unmap;		/* munmap() of arg pages */
act act_soft_offline;	/* MADV_SOFT_OFFLINE of the page */
act act_range;		/* range_make() of kind arg */
act act_move_away;	/* move arg pages to AWAY */

/*
 * Where the pages of a range get their index from: the address, as in a fresh
 * anonymous mapping; the address it was moved away from by mremap(); the offset
 * in a tmpfs file mapped MAP_PRIVATE; that, moved. HIGH: an address so large
 * that the index needs more than 32 bits. FAR: a file offset so large that the
 * index has ones in every byte where smart scan has its age and its skips.
 */
enum range_kind { PLAIN, MOVED, FILE_PAGES, FILE_MOVED, HIGH, FAR };

#define RANGE_PAGES	16ul
#define MID		5ul	/* the page of a range that gets merged */
#define SEED		0x6b5eedul
#define SAME		0u	/* number of the content that merged pages have */
#define OTHER		1u	/* what is written to merged pages; OTHER + 1, too */

/* Addresses for the cases, all far from each other. */
#define LOW_TWIN	((char *)0x1800000000ul)	/* scanned before HOME */
#define HOME		((char *)0x2000000000ul)	/* most ranges */
#define ORIGIN		((char *)0x2400000000ul)	/* before they moved */
#define AWAY		((char *)0x2800000000ul)
#define TWINS		((char *)0x3000000000ul)
#define HIGH_HOME	((char *)0x500000000000ul)

static inline char *page_of(char *range, size_t page)
{
	return range + page * PAGE_SIZE;
}

/*
 * RANGE_PAGES of private memory, mergeable: page MID holds SAME, every other
 * one a content that no other address has. Returns its address: HOME, HIGH_HOME.
 */
char *range_make(enum range_kind kind);
/* The same at an address, without any move. */
char *range_make_at(enum range_kind kind, char *home);
/* One mergeable anonymous page that holds SAME, in a mapping of its own. */
char *twin_make_at(char *addr);
char *twin_make(unsigned int nr);
/* mremap() of whole pages to exactly `to`, or die. */
void range_move(char *from, size_t pages, char *to);
void range_mergeable(char *addr, size_t pages);

/* Where one page is mapped: in which process, at which address. */
struct place {
	struct worker *who;
	char *addr;
};

#define MAX_PLACES 48

struct places {
	size_t nr;
	struct place at[MAX_PLACES];
};

void places_add(struct places *all, struct worker *who, char *addr);
/* A place in `who` for each that `parent` has: after a fork. */
void places_add_fork(struct places *all, struct worker *parent,
		     struct worker *who);
void places_remove(struct places *all, struct worker *who, char *addr);

struct page_state place_state(const struct place *place);
long place_do(const struct place *place, act *what, long arg);

/* Page MID of a new range and one twin, both not merged yet. */
struct places pair_make(enum range_kind kind);
/* And merged. */
struct places pair_merged(enum range_kind kind);
/*
 * The same with a child that ksmd never looks at, which shares the page that
 * becomes the merged one (that which is scanned last); moved: it has its page at
 * AWAY, which stock does not find. Returns the child; its place is the last.
 */
struct worker *pair_merged_unscanned(struct places *all, enum range_kind kind,
				     bool moved);

/*
 * The pfn of the one page that all places map, or 0. In 6.12, /proc/kpageflags
 * calls every anonymous page a KSM page: that it is one shows by being mapped
 * at two addresses that were written separately.
 */
uint64_t places_merged(const struct places *all);
/* Let ksmd merge all places to one page; dies if it does not. */
void places_merge(const struct places *all);

/* Every place holds SAME. */
void expect_same(const struct places *all);
/* All places map one KSM page, nobody else does, and a walk finds each. */
void expect_reached(const struct places *all);
/* The merged page can be moved elsewhere: no place maps the old one. */
void expect_migrated(const struct places *all);
/* All places can be swapped out, which empties the page, and in again. */
void expect_swapped(const struct places *all);
/* All of the above. Afterwards the pages are swapped in, not merged. */
void expect_found(const struct places *all);

/* Reclaim until no place maps a page, or give up and fail the case. */
void places_swap_out(const struct places *all);
/* A soft-offlined or poisoned page goes back to the free ones. */
void unpoison(uint64_t pfn);

/*
 * Hold a reference to the page, as direct I/O would, until page_let_go(). It
 * can be unmapped then, but not freed. Returns what to give page_let_go().
 */
int page_hold(char *addr);
void page_let_go(int held);

/* One case for each of three kinds of range: name, name_moved, name_file. */
#define KSM_CASES(name)							\
	static void name(enum range_kind kind);				\
	QUIRE_CASE(ksm, name) { ksm_begin(); name(PLAIN); }		\
	QUIRE_CASE(ksm, name##_moved) { ksm_begin(); name(MOVED); }	\
	QUIRE_CASE(ksm, name##_file) { ksm_begin(); name(FILE_PAGES); }	\
	static void name(enum range_kind kind)

#endif
