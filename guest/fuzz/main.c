// SPDX-License-Identifier: GPL-2.0
/*
 * `fuzz`: run the programs of the file /programs and write a record of each to
 * the results port:
 *
 *	p <program>		it begins
 *	o <op> <outcome>
 *	v <actor> <slot> ...	mappings that changed since last recorded
 *	m <actor> <slot> ...	pages, likewise
 *	u <actor> ...		the actor's counters, likewise
 *	r, w <actor> <outcome>	at the end, every page is read, and written to
 *	c <stop>		the plugin's line about it, if costs are counted
 *	x <what> <n>		leaked pages or swap entries
 *	k <level> <text>	a message of the kernel
 *	q <program>		it has ended
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/reboot.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "fuzz.h"
#include "main.h"
#include "proc/kmsg.h"
#include "process/map.h"
#include "report/die.h"
#include "report/results.h"

#define PROGRAMS	"/programs"
/* Always as large: what is mapped after it must be where it always is. */
#define PROGRAMS_SIZE	(16 * MIB)
#define RECORD_SIZE	(4 * MIB)
/* Virtual time; a program takes a tenth of a second. */
#define PROGRAM_LIMIT_S	10u

static char *record;
static size_t record_len;
static struct kmsg kmsg;

static void append(const char *text, size_t len)
{
	if (record_len + len > RECORD_SIZE)
		die("a program's record is too long");
	memcpy(record + record_len, text, len);
	record_len += len;
}

static void add_line(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

static void add_line(const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	append(line, strlen(line));
}

/* Writes to the host, without the limits of a results line. */
static void flush_record(void)
{
	size_t done = 0;

	while (done < record_len) {
		ssize_t n = write(results_fd(), record + done,
				  record_len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			die_errno("cannot write a record");
		done += n;
	}
	record_len = 0;
}

/* Takes the lines of the actors. */
static void take_lines(void)
{
	append(arena->text, arena->done);
	arena->done = 0;
	arena->len = 0;
}

static void take_messages(void)
{
	const char *text;

	while ((text = kmsg_warning(&kmsg)))
		add_line("k %u %.400s\n", kmsg.level, text);
}

/* Returns whether it ended. */
static bool do_op(const struct op *op, struct outcome_text *outcome)
{
	*outcome = outcome_ok();
	if (op->verb->global)
		*outcome = op->verb->global(op);
	else if (!actor_alive(op->actor))
		*outcome = outcome_fmt("ESRCH");
	else if (!strcmp(op->verb->name, "fork"))
		*outcome = outcome_fmt("EEXIST");
	else
		return actor_exit(op->actor);
	return true;
}

/* An operation that no actor can do. */
static bool run_op(const struct op *op)
{
	struct outcome_text outcome;
	bool begun, ok;

	cost_settle();
	begun = cost_begin();
	ok = do_op(op, &outcome);
	cost_end(begun);
	if (!ok)
		return false;
	add_line("o %u %s\n", op->index, outcome.text);
	if (begun)
		add_line("c %u\n", cost_last());
	return true;
}

/* All operations, then the reads and writes at the end. */
static bool run_steps(const struct program *program)
{
	const struct turn *turn = &arena->turn;
	bool ok = turns_begin(program);

	take_lines();
	while (ok && turn->step < program->nr_ops) {
		ok = run_op(&program->op[turn->step]) &&
		     turns_go_on(program);
		take_lines();
	}
	if (ok)
		return true;
	cost_give_up();
	if (turn->step < program->nr_ops)
		add_line("o %u hang\n", turn->step);
	add_line("x hang 1\n");
	return false;
}

/* If main hangs: the host sees a program without an end. */
static void give_up(int sig __attribute__((unused)))
{
	reboot(RB_AUTOBOOT);	/* NOLINT(bugprone-signal-handler): a system call */
}

static void watch_over(unsigned int seconds)
{
	static timer_t timer;
	static bool made;
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1,
	};
	struct itimerspec limit = { .it_value.tv_sec = seconds };

	if (!made && (signal(SIGUSR1, give_up) == SIG_ERR ||
		      timer_create(CLOCK_MONOTONIC, &event, &timer)))
		die_errno("cannot make a timer");
	made = true;
	if (timer_settime(timer, 0, &limit, NULL))
		die_errno("cannot set a timer");
}

/* Returns whether the next program can run in this boot. */
static bool run_program(const struct program *program)
{
	bool more;

	results_line("p %u", program->number);
	watch_over(PROGRAM_LIMIT_S);
	memset(arena->told, 0, sizeof(arena->told));
	arena->keepers = 0;
	system_reset();
	program_file = memfd_create("fuzz", MFD_CLOEXEC);
	if (program_file < 0 ||
	    ftruncate(program_file, FAR_OFFSET + SLOT_PAGES * PAGE_SIZE))
		die_errno("cannot make a file");
	content_expect(program->words);
	actors_begin(program);
	more = run_steps(program);
	actors_end();
	close(program_file);
	more &= system_check(add_line);
	take_messages();
	add_line("q %u\n", program->number);
	flush_record();
	return more;
}

/*
 * The records have VmLck and VmPTE of the actors: what they share with us must
 * not depend on what ran before.
 */
static void *not_for_actors(size_t size)
{
	void *p = map_anon(NULL, size);

	if (madvise(p, size, MADV_DONTFORK))
		die_errno("MADV_DONTFORK");
	return p;
}

static char *read_programs(void)
{
	char *text = not_for_actors(PROGRAMS_SIZE);
	ssize_t len = read_file(PROGRAMS, text, PROGRAMS_SIZE);

	if (len < 0)
		die_errno("cannot read " PROGRAMS);
	if (len == (ssize_t)PROGRAMS_SIZE - 1)
		die("the programs are too long");
	return text;
}

static void run_programs(char *text, bool cover)
{
	static struct program program;
	unsigned int nr = 0;
	bool more = true;

	while (more && program_next(&text, &program)) {
		if (cover)
			region_begin(nr);
		more = run_program(&program);
		if (cover)
			region_end(nr);
		nr++;
	}
}

int fuzz_main(enum counting counting, enum swap_device device)
{
	char *text = read_programs();

	arena = map_or_die(NULL, sizeof(*arena), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	/* khugepaged would take away the page tables of what it collapses. */
	if (madvise(arena, sizeof(*arena), MADV_NOHUGEPAGE))
		die_errno("MADV_NOHUGEPAGE");
	record = not_for_actors(RECORD_SIZE);
	system_open(device);
	calls_open();
	if (strstr(text, " offline "))
		offline_open();
	actors_open();
	kmsg_open(&kmsg);
	if (counting == COUNT_COVER)
		regions_arm();
	if (counting == COUNT_COST)
		costs_arm();
	run_programs(text, counting == COUNT_COVER);
	return STATUS_OK;
}
