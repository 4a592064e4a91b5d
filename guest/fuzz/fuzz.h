/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The executor of the fuzzer: it runs programs, short texts of operations on
 * memory (docs/fuzz.md has the language), each in fresh processes, and after
 * each operation writes down all that user space can see of their memory.
 *
 * main.c runs program after program. A program's processes are actors
 * (actor.c) which do as they are told, one at a time: an operation (ops.c), or
 * a look at their memory (observe.c). Operations on the system as a whole are
 * done without them (global.c).
 */
#ifndef QUIRE_FUZZ_H
#define QUIRE_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hold.h"
#include "util.h"

#define MAX_OPS		96u
#define MAX_ACTORS	4u
#define MAX_SLOTS	4u	/* address windows, A to D */
#define SLOT_PAGES	1024u	/* of each: two page tables' worth */
#define SLOT_BASE	0x2000000000ul
#define SLOT_STRIDE	GIB

struct op;
struct actor;

/* The outcome of an operation, as it is recorded. */
struct outcome_text {
	char text[64];
};

struct verb {
	const char *name;
	/*
	 * What follows: R a range (slot page count), A an address (slot page),
	 * n a number, w a word.
	 */
	const char *takes;
	/* One of them: what an actor does, or what the system as a whole does. */
	struct outcome_text (*act)(struct actor *self, const struct op *op);
	struct outcome_text (*global)(const struct op *op);
};

struct op {
	const struct verb *verb;
	unsigned int index;	/* in its program */
	unsigned int actor;	/* of verbs that have one */
	unsigned int slot, page, count;
	unsigned int to_slot, to_page;
	unsigned int number;
	char word[16];
};

/* Pages of a slot that a program names: only these are looked at. */
struct extent {
	unsigned int first, end;
};

struct program {
	unsigned int number;
	unsigned int nr_ops;
	struct op op[MAX_OPS];
	struct extent extent[MAX_SLOTS];
};

/* A process of a program; this is its own idea of itself. */
struct actor {
	unsigned int id;
	int uffd;		/* -1: none yet */
	unsigned int fail_nth;	/* fault to be injected into the next operation */
	bool warm;		/* read the pages before and after the next one */
	bool holding;
	struct hold hold;
};

/*
 * What main and the actors share. All of it belongs to main, so that reclaim
 * in the actors' memory cgroup leaves it alone.
 */
#define TEXT_SIZE	(4 * MIB)
#define SCRATCH_SIZE	MIB

struct arena {
	pid_t forked;		/* by the last operation that forked */
	size_t len;		/* of text */
	char text[TEXT_SIZE];	/* lines an actor wrote in its turn */
	char scratch[SCRATCH_SIZE];
	uint64_t word[SLOT_PAGES];
	uint64_t flag[SLOT_PAGES];
};

extern struct arena *arena;
/* A memfd of the program's own, for mappings of a file. */
extern int program_file;

static inline char *page_addr(unsigned int slot, unsigned int page)
{
	return (char *)(SLOT_BASE + slot * SLOT_STRIDE + page * PAGE_SIZE);
}

/* program.c: the verbs, and the next program of a text; *text moves on. */
const struct verb *verb_named(const char *name);
bool program_next(char **text, struct program *program);

/* Tables of verbs, ended by one without a name. */
extern const struct verb actor_verbs[];
extern const struct verb global_verbs[];

struct outcome_text outcome_ok(void);
struct outcome_text outcome_of(bool ok);	/* if not: by errno */
struct outcome_text outcome_fmt(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

/* global.c: the state every program starts from, and what it left behind. */
void system_open(void);
void system_reset(void);
int system_cgroup(void);	/* a directory; actors are born into it */
/* Lines about leaks; false when the rest needs a fresh boot. */
bool system_check(void (*line)(const char *fmt, ...));

/* actor.c: orders to actors. All return false when there was no answer. */
void actors_open(void);
bool actors_begin(const struct program *program);
bool actor_do(const struct op *op);
bool actor_observe(unsigned int id);
bool actor_read_all(unsigned int id);
bool actor_write_all(unsigned int id);
bool actor_alive(unsigned int id);
/* No process of the program is left when this returns. */
void actors_end(void);

/* observe.c: lines of one actor, run in that actor. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void observe(const struct actor *self, const struct program *program);
struct outcome_text touch_all(const struct program *program);

/* content.c: what pages hold. */
/* Write the content of operation `tag` to a page; 0 or the signal it raised. */
int content_write(unsigned int slot, unsigned int page, unsigned int tag);
/* The same content for all pages of a class, so that KSM merges them. */
int content_write_same(char *page, unsigned int class);
/* Read the pages of a range right now, present or not; a hash of it all. */
unsigned int content_hash(unsigned int slot, unsigned int page,
			  unsigned int count);
/* What a page holds, as recorded; *next is how its successor would continue. */
#define CONTENT_LEN 24
void content_name(const char *page, char *name, char *next);

#endif
