// SPDX-License-Identifier: GPL-2.0
/*
 * Selects and reports test cases. Two levels of KTAP: one result line per
 * suite, and inside it, indented by two spaces, one per case.
 */
#include <fnmatch.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "memory/folio.h"
#include "proc/proc.h"
#include "report/results.h"
#include "run/ktap.h"
#include "run/supervise.h"

#define MAX_RUNS	4096
#define NAME_LEN	96
#define FULL_LEN	(2 * NAME_LEN)

/* Set by the linker around the section KTAP_REGISTER() fills. */
extern const struct ktap_case *const __start_quire_cases[];
extern const struct ktap_case *const __stop_quire_cases[];

/* A case with one of its folio sizes. */
struct run {
	const struct ktap_case *test;
	unsigned long size;	/* as the case names it */
	unsigned long kib;	/* as it is here */
	bool done;
};

struct run_list {
	struct run run[MAX_RUNS];
	size_t nr;
};

static void run_name(const struct run *run, char *name)
{
	if (run->test->nr_sizes)
		snprintf(name, NAME_LEN, "%s-%luk", run->test->name, run->kib);
	else
		snprintf(name, NAME_LEN, "%s", run->test->name);
}

/*
 * quire_without_sizes=KIB,KIB on the command line, for slow kernels: as the cases
 * name them.
 */
static bool of_other_size(const struct run *run)
{
	const char *sizes = getenv("quire_without_sizes");
	char *end;

	if (!run->test->nr_sizes)
		return false;
	while (sizes && *sizes) {
		if (strtoul(sizes, &end, 10) == run->size)
			return true;
		sizes = *end ? end + 1 : end;
	}
	return false;
}

/*
 * quire_without=PATTERN,PATTERN on the command line: cases that can damage a
 * kernel without the fix for what they show.
 */
static bool can_damage(const char *full)
{
	const char *patterns = getenv("quire_without");
	char *copy, *rest, *pattern;
	bool found = false;

	if (!patterns)
		return false;
	copy = strdup(patterns);
	if (!copy)
		die("no memory for quire_without");
	for (pattern = strtok_r(copy, ",", &rest); pattern && !found;
	     pattern = strtok_r(NULL, ",", &rest))
		found = !fnmatch(pattern, full, 0);
	free(copy);
	return found;
}

static bool matches(const struct ktap_case *test, const char *name,
		    const char *pattern)
{
	if (test->hidden)
		return !strcmp(pattern, name);
	if (*pattern == '@')
		return test->tag && !strcmp(pattern + 1, test->tag);
	return !fnmatch(pattern, name, 0);
}

static void full_name(const struct run *run, char *full)
{
	char name[NAME_LEN];

	run_name(run, name);
	snprintf(full, FULL_LEN, "%s.%s", run->test->suite, name);
}

static bool selected(const struct run *run, char *const *patterns, size_t nr)
{
	char full[FULL_LEN];
	size_t i;

	full_name(run, full);
	for (i = 0; i < nr; i++) {
		if (matches(run->test, full, patterns[i]))
			return true;
	}
	return false;
}

static void add_case(struct run_list *list, const struct ktap_case *test,
		     char *const *patterns, size_t nr)
{
	size_t i, sizes = test->nr_sizes ? test->nr_sizes : 1;

	for (i = 0; i < sizes; i++) {
		unsigned long size = test->nr_sizes ? test->sizes[i] : 4;
		struct run run = { test, size, folio_size(size), false };

		if (!selected(&run, patterns, nr))
			continue;
		if (list->nr == MAX_RUNS)
			die("more than %d test cases: raise MAX_RUNS", MAX_RUNS);
		list->run[list->nr++] = run;
	}
}

/* Adds every case and size that matches, in link order. */
static void collect(struct run_list *list, char *const *patterns, size_t nr)
{
	const struct ktap_case *const *entry;

	list->nr = 0;
	for (entry = __start_quire_cases; entry < __stop_quire_cases; entry++)
		add_case(list, *entry, patterns, nr);
}

/* quire_shard=I/N on the command line: every N-th case, from the I-th on. */
static void keep_shard(struct run_list *list)
{
	const char *shard = getenv("quire_shard");
	unsigned long part, parts;
	size_t i, nr = 0;
	char *end;

	if (!shard)
		return;
	part = strtoul(shard, &end, 10);
	parts = *end == '/' ? strtoul(end + 1, &end, 10) : 0;
	if (!part || part > parts || *end)
		die_usage("quire_shard=%s is not I/N", shard);
	for (i = part - 1; i < list->nr; i += parts)
		list->run[nr++] = list->run[i];
	list->nr = nr;
}

/* The suite's first case is at index first. */
static bool same_suite(const struct run_list *list, size_t first, size_t i)
{
	return !strcmp(list->run[first].test->suite, list->run[i].test->suite);
}

static size_t count_suites(const struct run_list *list)
{
	size_t i, first, nr = 0;

	for (i = 0; i < list->nr; i++) {
		for (first = 0; !same_suite(list, first, i); first++)
			;
		nr += first == i;
	}
	return nr;
}

/* Returns why the case does not run, or NULL. */
static const char *left_out(const struct run *run, const char *full)
{
	if (of_other_size(run))
		return "its size";
	if (can_damage(full))
		return "it can damage a kernel without its fix";
	return NULL;
}

/* Returns whether the case counts as passed. */
static bool run_case(const struct run *run, size_t number)
{
	struct outcome outcome;
	char name[NAME_LEN], full[FULL_LEN];
	const char *why;

	run_name(run, name);
	full_name(run, full);
	why = left_out(run, full);
	if (why) {
		results_line("  ok %zu %s # SKIP left out: %s", number, name,
			     why);
		return true;
	}
	if (run->test->nr_sizes && !fits_memory(2 * run->kib * KIB)) {
		results_line("  ok %zu %s # SKIP two folios are more than a third of the memory",
			     number, name);
		return true;
	}
	outcome = supervise(run->test, run->kib);
	switch (outcome.verdict) {
	case PASS:
		results_line("  ok %zu %s", number, name);
		return true;
	case SKIPPED:
		results_line("  ok %zu %s # SKIP %s", number, name,
			     outcome.skip_reason);
		return true;
	case TIMEOUT:
		results_line("  not ok %zu %s # TIMEOUT %u ms", number,
			     name, run->test->timeout_ms);
		return false;
	case FAIL:
		break;
	}
	results_line("  not ok %zu %s", number, name);
	return false;
}

/* Runs all cases of the suite whose first case is at index first. */
static bool run_suite(struct run_list *list, size_t first, size_t number)
{
	size_t i, plan = 0, done = 0;
	bool ok = true;

	for (i = first; i < list->nr; i++)
		plan += same_suite(list, first, i);
	results_line("  KTAP version 1");
	results_line("  1..%zu", plan);
	for (i = first; i < list->nr; i++) {
		if (!same_suite(list, first, i))
			continue;
		ok &= run_case(&list->run[i], ++done);
		list->run[i].done = true;
	}
	results_line("%s %zu %s", ok ? "ok" : "not ok", number,
		     list->run[first].test->suite);
	return ok;
}

/*
 * The program's own data and its stack in single pages: what a case reclaims must
 * be its range alone, and a large folio is locked, or not, as a whole. Buffers of
 * MOST_PAGE_SIZE align the data.
 */
static void keep_data_small(void)
{
	extern char __bss_start[], _end[];
	uintptr_t from = ((uintptr_t)__bss_start + MOST_PAGE_SIZE - 1) & -MOST_PAGE_SIZE;
	uintptr_t to = (uintptr_t)_end & -PAGE_SIZE;

	if (madvise((void *)from, to - from, MADV_NOHUGEPAGE))
		die_errno("MADV_NOHUGEPAGE of the program's data");
	maps_named("[stack]", &from, &to);
	if (madvise((void *)from, to - from, MADV_NOHUGEPAGE))
		die_errno("MADV_NOHUGEPAGE of the stack");
}

int ktap_run(char *const *patterns, size_t nr)
{
	static struct run_list list;
	size_t i, suites = 0;
	bool ok = true;

	collect(&list, patterns, nr);
	keep_shard(&list);
	if (!list.nr) {
		result_note("no test case of this run matches \"%s\"; `list` shows them all",
			    nr ? patterns[0] : "");
		return STATUS_USAGE;
	}
	folio_quiet_khugepaged();
	keep_data_small();
	results_line("KTAP version 1");
	results_line("1..%zu", count_suites(&list));
	for (i = 0; i < list.nr; i++) {
		if (!list.run[i].done)
			ok &= run_suite(&list, i, ++suites);
	}
	return ok ? STATUS_OK : STATUS_FAILED;
}

void ktap_list(void)
{
	static char all[] = "*";
	char *patterns[] = { all };
	static struct run_list list;
	char name[NAME_LEN];
	size_t i;

	collect(&list, patterns, 1);
	for (i = 0; i < list.nr; i++) {
		const struct ktap_case *test = list.run[i].test;

		run_name(&list.run[i], name);
		results_line("test %s.%s%s%s", test->suite, name,
			     test->tag ? " @" : "", test->tag ? test->tag : "");
	}
}
