/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The executor of the fuzzer. It runs programs, short texts of operations on
 * memory (docs/dev/fuzz.md describes the language), each in fresh processes. After
 * each operation it records all that user space can observe of their memory.
 *
 * main.c runs one program after another. The processes of a program are actors
 * (actor.c), which take turns (turn.c): an operation (ops.c), then an
 * observation of their memory (observe.c). Main does the operations on the
 * system as a whole (global.c).
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
#define MAX_SLOTS	5u	/* address windows, A to E; below all else: see Makefile */
#define SLOT_PAGES	1024u	/* in each: two page tables of 4 KiB pages */
#define SLOT_STRIDE	(96 * MIB)

struct op;
struct actor;

/* The outcome of an operation, as recorded. */
struct outcome_text {
	char text[256];
};

struct verb {
	const char *name;
	/*
	 * The arguments of a verb: R a range (slot page count), A an address
	 * (slot page), n a number, w a word.
	 */
	const char *takes;
	/*
	 * A verb: what an actor does, or what is done to the system as a whole.
	 */
	struct outcome_text (*act)(struct actor *self, const struct op *op);
	struct outcome_text (*global)(const struct op *op);
	/* It only sets something for later; nothing is observed after it. */
	bool setting;
	/*
	 * It clears accessed bits and does not flush the TLB. Whether a read
	 * right after it sets them again depends on the state of the TLB, so
	 * there is none.
	 */
	bool ages;
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

/* The pages of a slot that a program names: only these are observed. */
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

/* A process of a program, as the process itself sees it. */
struct actor {
	unsigned int id;
	int uffd;		/* -1: none yet */
	int tracker;		/* the one that protects without faults; -1: none yet */
	unsigned int fail_nth;	/* the fault to inject into the next one */
	bool warm;		/* read the pages before and after the next one */
	bool holding;
	struct hold hold;
};

/*
 * A step of a program, and the process that does it; then all other actors
 * observe their memory. Steps are the operations by their index, and two more.
 */
#define NOBODY MAX_ACTORS	/* of the actors: main */

struct turn {
	unsigned int step;
	unsigned int actor;
};

/* Every actor reads all pages, then every actor writes all pages. */
static inline unsigned int step_read_all(const struct program *program)
{
	return program->nr_ops;
}

static inline unsigned int step_write_all(const struct program *program)
{
	return program->nr_ops + 1;
}

/* Lines about a state are only recorded when it has changed. */
enum state { MAPPINGS, PAGES, COUNTERS, NR_STATES };

/*
 * Shared by main and the actors. All of it is charged to main, so that reclaim
 * in the actors' memory cgroup skips it.
 */
#define TEXT_SIZE	(4 * MIB)
#define SCRATCH_SIZE	MIB
#define STATUS_SIZE	4096u
#define NEARBY		32u	/* frames whose flags cost less than a system call */

/* A system call of up to four arguments, and what it returns: an error is negative. */
struct call {
	long nr;
	unsigned long arg[6];
	long result;
};

static inline struct call call_of(long nr, unsigned long a, unsigned long b,
				  unsigned long c, unsigned long d)
{
	return (struct call){ .nr = nr, .arg = { a, b, c, d } };
}

#define MAX_CALLS	64u	/* a page of them */

struct arena {
	pid_t pid[MAX_ACTORS];	/* 0: not there */
	struct turn turn;
	unsigned int steps;	/* increases with everything an actor does */
	unsigned int keepers;	/* a bit for each actor that may hold or pin pages */
	/* A hash of the last line that was recorded. */
	uint64_t told[NR_STATES][MAX_ACTORS][MAX_SLOTS];
	bool open;		/* an operation is being counted */
	unsigned int stops;	/* operations counted since the boot */
	size_t len;		/* of text */
	size_t done;		/* the complete part of it */
	char text[TEXT_SIZE];	/* lines that main has not read yet */
	char scratch[SCRATCH_SIZE];
	char status[STATUS_SIZE];
	struct call call[MAX_CALLS];	/* of the process whose turn it is */
	uint64_t word[MAX_SLOTS][SLOT_PAGES];
	uint64_t flag[MAX_SLOTS][SLOT_PAGES];
	uint64_t window[2 * SLOT_PAGES + NEARBY];
};

extern struct arena *arena;

static inline bool actor_alive(unsigned int id)
{
	return arena->pid[id];
}

/*
 * A memfd of the program, for mappings of a file: from its start, and from
 * where a page's index has more than 32 bits.
 */
extern int program_file;
/* An index that would mean old, and many skips, as smart scan's counters. */
#define FAR_OFFSET	((off_t)(64ll << 40 | 5ll << 32) * PAGE_SIZE)

/* Slot E is at address 0: a folio's tail there begins below all addresses. */
static inline char *page_addr(unsigned int slot, unsigned int page)
{
	return (char *)((slot + 1) % MAX_SLOTS * SLOT_STRIDE +
			page * PAGE_SIZE);
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

/*
 * global.c: the initial state of every program, and what a program left behind.
 */
void system_reset(void);
int system_cgroup(void);	/* a directory; actors are forked into it */
/* Lines about leaks. Returns false when the next program needs a fresh boot. */
bool system_check(void (*line)(const char *fmt, ...));

/* pinned.c: the device that pins need; called by main. */
void pins_open(void);

/* hints.c: how the kernel gives NUMA hints; called by main. */
void hints_open(void);

/* offline.c: main calls it before the first program if one empties memory. */
void offline_open(void);

/* actor.c: the processes. */
void actors_open(void);
void actors_begin(const struct program *next);
/* This step is that actor's exit; returns when its memory is freed. */
bool actor_exit(unsigned int id);
/* Returns when no process of the program is left. */
void actors_end(void);

/* cost.c: what an operation costs, if the plugin counts that. */
/* Waits until no timer tick is near. */
void cost_settle(void);
/* Directly around an operation; false within one that is being counted. */
bool cost_begin(void);
void cost_end(bool begun);
/* The last one's line of the plugin, for the record. */
unsigned int cost_last(void);
/* The process that began to count is gone. */
void cost_give_up(void);

/* turn.c: the order of processes. */
void turns_open(void);
/*
 * Called by main: the actors take turns until main has a step to do, or no step
 * is left; arena->turn says which. Returns false when a process hangs.
 */
bool turns_begin(const struct program *program);
/* The same, after a step that main has done. */
bool turns_go_on(const struct program *program);
bool turn_wake(unsigned int who);
/* Whether all actors observe their memory after a step. */
bool step_shows(const struct program *program, unsigned int step);
/* In an actor: calls step() in each of its turns. */
void turns_take(const struct program *program, unsigned int self,
		void (*step)(void)) __attribute__((noreturn));
/* Call after a lost turn. */
void turns_drain(void);

/* observe.c: what an actor observes; called in that actor. */
void observe(const struct actor *self, const struct program *program);

/* calls.c: main calls calls_open() once. The calls are made one after the other. */
void calls_open(void);
void calls_make(struct call *call, unsigned int nr);
/* Whether they are made at once, so that many cost less than a page fault. */
bool calls_cost_less(void);

/* proc.c: files of /proc stay open; a child has to close its parent's. */
enum proc_file { PROC_SMAPS, PROC_STATUS, PROC_PAGEMAP, PROC_FLAGS, NR_PROC_FILES };
int proc_open(enum proc_file file);
void proc_forget(void);
/* Reads a file at an offset. */
struct call proc_call(enum proc_file file, void *to, size_t size, off_t at);

/* smaps.c: the first read of smaps, into arena->scratch; then what it has read. */
struct call smaps_call(void);
void observe_mappings(const struct actor *self, const struct program *program,
		      size_t len);
/* Whether there was a mapping at the last observation by this process. */
bool is_mapped(unsigned int slot, unsigned int page);
/* Whether pages of the slot had not been accessed then. */
bool is_old(unsigned int slot);

/* say.c: lines for the record. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void say_bytes(const char *text, size_t len);
void say_text(const char *text);
void say_number(unsigned long number);
/*
 * The line that begins at `start` describes a state. Drops it if the same state
 * was recorded before.
 */
void say_state(size_t start, enum state state, unsigned int actor,
	       unsigned int slot);

/* content.c: the contents of pages. */
/*
 * An access to an unmapped page, which has to fail; whether it did. A system
 * call can tell that for less than the cost of a signal.
 */
struct call content_probe(const char *page);
bool content_is_void(const struct call *probe);
/*
 * The kernel accesses a word of each page: what a process then reads, or writes
 * over, is in its page tables. Under UML, that saves it a page fault each.
 */
void content_touch(const char *word, unsigned int pages, bool writes);
/*
 * Writes the content of operation `tag` to a page; returns 0 or the signal
 * raised.
 */
int content_write(unsigned int slot, unsigned int page, unsigned int tag);
/* The same content for all pages of a class, so that KSM merges them. */
int content_write_same(char *page, unsigned int class);
/* Of a page, programs name so many words, at equal distances. */
#define PAGE_WORDS	512u
#define WORD_STRIDE	(PAGE_SIZE / PAGE_WORDS)
/* Writes one word of the page only, so that the page is not zero. */
int content_write_word(unsigned int slot, unsigned int page, unsigned int tag,
		       unsigned int number);
/* Reads the pages of a range now, present or not; returns a hash of all. */
unsigned int content_hash(unsigned int slot, unsigned int page,
			  unsigned int count);

struct content {
	enum { NOTHING, UNREADABLE, ZERO, TORN, CLASS, TAGGED, WORD } kind;
	unsigned int number;	/* WORD: which of the page */
	uint64_t value;		/* TAGGED, WORD: the next page's is one more */
};

struct content content_read(const char *page);
/* Whether pages may have a single word; for processes forked from now on. */
void content_expect(bool words);
/* Prints ":" and the name of the content, if it has one. */
void content_say(struct content content);

#endif
