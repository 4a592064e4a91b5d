/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A thread, on another CPU if there is one, that uses the pages of a range while
 * reclaim is at work on them. Within a round it alone decides what they hold.
 */
#ifndef QUIRE_RACER_H
#define QUIRE_RACER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/reclaim.h"

#define RACER_ROUNDS	12u

/* What the word of a page that the thread uses may hold. */
enum racer_state { OLD_OR_ZERO, ZERO, WRITTEN };

struct racer {
	pthread_t thread;
	void (*step)(struct racer *racer, size_t page);
	char *addr;
	size_t pages;
	bool may_drop;		/* clean pages may turn to zero */
	uint64_t old;		/* the word the round began with, or the seed */
	uint64_t next;		/* the value of the next write */
	uint32_t random;
	unsigned int round;	/* 0: stay off the pages */
	unsigned int acted;	/* the round the thread is in */
	bool end;
	unsigned long steps;
	struct {
		enum racer_state state;
		uint64_t value;
	} page[];
};

struct race {
	/* What the thread does again and again, to random pages. */
	void (*step)(struct racer *racer, size_t page);
	/* A round: it fills the pages, reclaims them and looks at them. */
	void (*round)(struct racer *racer, unsigned int number,
		      unsigned long kib, enum how how);
	bool may_drop;
};

#define BY_BOTH	NR_HOW	/* one round by the one, the next by the other */

/* RACER_ROUNDS on range_pages(kib) at addr, which are dropped then. */
void race(const struct race *race, char *addr, unsigned long kib, enum how how);

/* A step: read, check, and mostly write; now and then give the page back. */
void racer_write(struct racer *racer, size_t page);
/* A step: refer to a page, which holds pattern `old`, and read it there. */
void racer_hold(struct racer *racer, size_t page);

/* The word of that page that racer_write() uses, and whether it is right. */
volatile uint64_t *racer_word(struct racer *racer, size_t page);
void racer_expect(struct racer *racer, size_t page, uint64_t is);

/* A round (from 1 on): reclaim once or twice while the thread is on the pages. */
void racer_reclaim(struct racer *racer, unsigned int round, enum how how);

/* The racer's pages given up and filled anew, by folios of that size. */
void racer_refill(struct racer *racer, unsigned long kib, uint64_t seed);

#endif
