/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The executor of the fuzzer: it runs programs, short texts of operations on
 * memory (docs/fuzz.md has the language), each in fresh processes, and after
 * each operation writes down all that user space can see of their memory.
 *
 * main.c runs program after program. A program's processes are actors
 * (actor.c) which take turns (turn.c): an operation (ops.c), then a look at
 * their memory (observe.c). Operations on the system as a whole are done
 * without them (global.c).
 */
#ifndef QUIRE_FUZZ_H
#define QUIRE_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/units.h"
#include "memory/hold.h"

#define MAX_OPS		96u
#define MAX_ACTORS	4u
#define MAX_SLOTS	4u	/* address windows, A to D */
#define SLOT_PAGES	1024u	/* of each: two page tables' worth */
#define SLOT_BASE	(64 * MIB)	/* below all else: see the Makefile */
#define SLOT_STRIDE	(64 * MIB)

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
	/* It sets something for later: there is nothing to see after it. */
	bool setting;
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
	bool words;		/* some pages may have one word alone */
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
 * A program's step, and who does it; then all other actors look at their
 * memory. Steps are the operations by their index, and two more.
 */
#define NOBODY MAX_ACTORS	/* of the actors: main */

struct turn {
	unsigned int step;
	unsigned int actor;
};

/* Every actor reads, then every actor writes all pages. */
static inline unsigned int step_read_all(const struct program *program)
{
	return program->nr_ops;
}

static inline unsigned int step_write_all(const struct program *program)
{
	return program->nr_ops + 1;
}

/* Lines that tell a state stand only where it changed. */
enum state { MAPPINGS, PAGES, COUNTERS, NR_STATES };

/*
 * What main and the actors share. All of it belongs to main, so that reclaim
 * in the actors' memory cgroup leaves it alone.
 */
#define TEXT_SIZE	(4 * MIB)
#define SCRATCH_SIZE	MIB

struct arena {
	pid_t pid[MAX_ACTORS];	/* 0: not there */
	struct turn turn;
	unsigned int steps;	/* rises with everything an actor does */
	/* Of the line that was told last, a hash. */
	uint64_t told[NR_STATES][MAX_ACTORS][MAX_SLOTS];
	size_t len;		/* of text */
	size_t done;		/* of what is complete of it */
	char text[TEXT_SIZE];	/* lines that main has not taken yet */
	char scratch[SCRATCH_SIZE];
	uint64_t word[SLOT_PAGES];
	uint64_t flag[SLOT_PAGES];
	uint64_t window[2 * SLOT_PAGES];
};

extern struct arena *arena;

static inline bool actor_alive(unsigned int id)
{
	return arena->pid[id];
}

/*
 * A memfd of the program's own, for mappings of a file: from its start, and
 * from where a page's index is more than 32 bits.
 */
extern int program_file;
/* An index that as smart scan's counters would mean old, and many skips. */
#define FAR_OFFSET	((64l << 40 | 5l << 32) * PAGE_SIZE)

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

/* outcome.c */
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

/* pinned.c: what pins need; from main. */
void pins_open(void);

/* actor.c: the processes. */
void actors_open(void);
void actors_begin(const struct program *next);
/* The step is that actor's end; returns when its memory is gone. */
bool actor_exit(unsigned int id);
/* No process of the program is left when this returns. */
void actors_end(void);

/* turn.c: who comes next. */
void turns_open(void);
/*
 * From main: the actors take turns until there is a step for main, or none any
 * more; arena->turn says which. False when somebody did not come to an end.
 */
bool turns_begin(const struct program *program);
/* The same, after a step that main did. */
bool turns_go_on(const struct program *program);
bool turn_wake(unsigned int who);
/* Whether all look at their memory after a step. */
bool step_shows(const struct program *program, unsigned int step);
/* In an actor: step() is what it does whenever it is its turn. */
void turns_take(const struct program *program, unsigned int self,
		void (*step)(void)) __attribute__((noreturn));
/* After a turn that was lost. */
void turns_drain(void);

/* observe.c: what an actor sees, said in that actor. */
void observe(const struct actor *self, const struct program *program);

/* proc.c: files of /proc/self stay open; a child has to forget its parent's. */
enum proc_file { PROC_SMAPS, PROC_STATUS, PROC_PAGEMAP, NR_PROC_FILES };
int proc_open(enum proc_file file);
void proc_forget(void);

/* smaps.c */
void observe_mappings(const struct actor *self, const struct program *program);
/* Whether there was a mapping when this process looked last. */
bool is_mapped(unsigned int slot, unsigned int page);

/* say.c: lines for the record. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void say_bytes(const char *text, size_t len);
void say_text(const char *text);
void say_number(unsigned long number);
/*
 * The line that began at `start` tells a state: nothing was said if the same
 * was told before.
 */
void say_state(size_t start, enum state state, unsigned int actor,
	       unsigned int slot);

/* content.c: what pages hold. */
/*
 * Whether an access to a page without a mapping fails, as it should: a system
 * call says so for less than what a signal costs.
 */
bool content_is_void(const char *page);
/* Write the content of operation `tag` to a page; 0 or the signal it raised. */
int content_write(unsigned int slot, unsigned int page, unsigned int tag);
/* The same content for all pages of a class, so that KSM merges them. */
int content_write_same(char *page, unsigned int class);
/* One word of the page alone: by it a page is not zero. */
#define PAGE_WORDS (PAGE_SIZE / sizeof(uint64_t))
int content_write_word(unsigned int slot, unsigned int page, unsigned int tag,
		       unsigned int number);
/* Read the pages of a range right now, present or not; a hash of it all. */
unsigned int content_hash(unsigned int slot, unsigned int page,
			  unsigned int count);

struct content {
	enum { NOTHING, UNREADABLE, ZERO, TORN, CLASS, TAGGED, WORD } kind;
	unsigned int number;	/* WORD: which of the page */
	uint64_t value;		/* TAGGED, WORD: the next page's is one more */
};

struct content content_read(const char *page);
/* Whether pages may have one word alone; for processes born from now on. */
void content_expect(bool words);
/* ":" and what it is called, if it is anything. */
void content_say(struct content content);

#endif
