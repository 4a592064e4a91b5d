/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A thread that uses the pages of a range during reclaim, on another CPU if
 * there is one. Within a round, only this thread changes their contents.
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
	uint64_t old;		/* the first word of the round, or the seed */
	uint64_t next;		/* the value of the next write */
	uint32_t random;
	unsigned int round;	/* 0: do not use the pages */
	unsigned int acted;	/* the round in which the thread is */
	bool end;
	unsigned long steps;
	struct {
		enum racer_state state;
		uint64_t value;
	} page[];
};

struct race {
	/* The step that the thread repeats, on random pages. */
	void (*step)(struct racer *racer, size_t page);
	/* A round: it fills the pages, reclaims them and checks them. */
	void (*round)(struct racer *racer, unsigned int number,
		      unsigned long kib, enum how how);
	bool may_drop;
};

#define BY_BOTH	NR_HOW	/* for alternate rounds */

/* Runs RACER_ROUNDS on range_pages(kib) at addr, then unmaps them. */
void race(const struct race *race, char *addr, unsigned long kib, enum how how);

/*
 * A step: read and check the word, usually write it, sometimes drop the page.
 */
void racer_write(struct racer *racer, size_t page);
/*
 * A step: take a reference to a page with pattern `old`, and read it by that.
 */
void racer_hold(struct racer *racer, size_t page);

/* The word of that page that racer_write() uses, and whether it is valid. */
volatile uint64_t *racer_word(struct racer *racer, size_t page);
void racer_expect(struct racer *racer, size_t page, uint64_t is);

/*
 * A round (from 1 on): reclaim once or twice while the thread uses the pages.
 */
void racer_reclaim(struct racer *racer, unsigned int round, enum how how);

/* Drop the racer's pages and fill them again, with folios of that size. */
void racer_refill(struct racer *racer, unsigned long kib, uint64_t seed);

#endif
