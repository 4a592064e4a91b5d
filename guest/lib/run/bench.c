// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "kernel/env.h"
#include "kernel/memcg.h"
#include "memory/folio.h"
#include "proc/proc.h"
#include "process/others.h"
#include "report/die.h"
#include "report/results.h"
#include "run/bench.h"
#include "run/frames.h"

#define MAX_PARAMS	ARRAY_SIZE(((struct workload *)0)->params)
#define MAX_COUNTERS	ARRAY_SIZE(((struct workload *)0)->vmstat)
#define FEW_REPS	4ul
#define SETTLE_MS	40u	/* RCU callbacks and kworkers of the setup */

extern const struct workload *const __start_quire_workloads[];
extern const struct workload *const __stop_quire_workloads[];

/* What the process does on further CPUs. */
static const struct bench_param others = {
	"others", "none", "none|idle|running"
};

struct counters {
	unsigned long vmstat[MAX_COUNTERS];
	unsigned long mthp[MAX_COUNTERS];
};

/* This process runs one bench. This is its state. */
static struct bench_param params[MAX_PARAMS + 1];
static size_t nr_params;
static unsigned long work_pages, work_ops;
static size_t folios_ok, folios_total;

static const struct bench_param *param(const char *name)
{
	size_t i;

	for (i = 0; i < nr_params; i++) {
		if (!strcmp(params[i].name, name))
			return &params[i];
	}
	die("this workload has no parameter \"%s\"", name);
}

unsigned long bench_number(const char *name)
{
	return strtoul(param(name)->value, NULL, 10);
}

const char *bench_word(const char *name)
{
	return param(name)->value;
}

unsigned long bench_reps(void)
{
	const char *few = getenv("quire_few");
	unsigned long reps = bench_number("reps");

	if ((frames_wanted() || (few && !strcmp(few, "on"))) && reps > FEW_REPS)
		reps = FEW_REPS;
	return reps;
}

void bench_work(unsigned long pages, unsigned long ops)
{
	work_pages = pages;
	work_ops = ops;
}

void bench_reclaim(size_t bytes)
{
	int fd = memcg_open_reclaim();
	char amount[32];
	ssize_t done;
	size_t len;

	len = snprintf(amount, sizeof(amount), "%zuK", bytes / KIB);
	env_after_tick();
	quire_start();
	done = write(fd, amount, len);
	quire_stop();
	if (done < 0 && errno != EAGAIN)
		die_errno("memory.reclaim of %s", amount);
	close(fd);
}

void bench_check_folios(const void *addr, size_t len, unsigned long kib)
{
	size_t total;

	folios_ok += folio_count(addr, len, kib, &total);
	folios_total += total;
}

void bench_check_layout(const void *vma, size_t len, unsigned long kib)
{
	unsigned long mapped;

	bench_check_folios(vma, len, kib);
	if (kib * KIB != PMD_SIZE)
		return;
	mapped = folio_pmd_mapped_kib(vma);
	if (mapped * KIB != len)
		bench_fail("only %lu of %zu KiB are mapped by PMD", mapped,
			   len / KIB);
}

void bench_counter(const char *name, unsigned long before, unsigned long after)
{
	result_counter(name, before, after);
}

void bench_fail(const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	result_verify_fail("%s", text);
	exit(STATUS_FAILED);
}

/*
 * Is value one of the words of "a|b|c"? If that is NULL: is it a number above
 * 0?
 */
static bool value_allowed(const char *value, const char *allowed)
{
	size_t len = strlen(value);
	char *end;

	if (!allowed)
		return strtoul(value, &end, 10) > 0 && !*end;
	for (; allowed; allowed = strchr(allowed, '|')) {
		allowed += *allowed == '|';
		if (!strncmp(allowed, value, len) &&
		    (!allowed[len] || allowed[len] == '|'))
			return true;
	}
	return false;
}

static void set_param(const struct workload *w, const char *word)
{
	const char *equals = strchr(word, '=');
	size_t i, len = equals ? (size_t)(equals - word) : 0;

	if (!equals)
		die_usage("bench %s: \"%s\" is not key=value", w->name, word);
	for (i = 0; i < nr_params; i++) {
		if (strncmp(params[i].name, word, len) || params[i].name[len])
			continue;
		if (!value_allowed(equals + 1, params[i].allowed))
			die_usage("bench %s: %s is not in %s", w->name, word,
				  params[i].allowed ? params[i].allowed :
						      "1, 2, 3, ...");
		params[i].value = equals + 1;
		return;
	}
	die_usage("bench %s: no parameter \"%.*s\"", w->name, (int)len, word);
}

static const struct workload *find_workload(const char *name)
{
	const struct workload *const *entry;

	for (entry = __start_quire_workloads; entry < __stop_quire_workloads;
	     entry++) {
		if (!strcmp((*entry)->name, name))
			return *entry;
	}
	die_usage("no workload \"%s\"; `list` shows them all", name);
}

static void parse(const struct workload *w, size_t nr_words, char *const *words)
{
	size_t i;

	while (nr_params < MAX_PARAMS && w->params[nr_params].name) {
		params[nr_params] = w->params[nr_params];
		nr_params++;
	}
	params[nr_params++] = others;
	for (i = 0; i < nr_words; i++)
		set_param(w, words[i]);
}

/* Folio size of the mthp counters, or 0 for 4 KiB pages, which have none. */
static unsigned long mthp_size(const struct workload *w)
{
	unsigned long kib = w->mthp[0] ? bench_number("size") : PAGE_KIB;

	return kib == PAGE_KIB ? 0 : kib;
}

static void read_counters(const struct workload *w, struct counters *c)
{
	unsigned long kib = mthp_size(w);
	size_t i;

	for (i = 0; i < MAX_COUNTERS && w->vmstat[i]; i++)
		c->vmstat[i] = vmstat(w->vmstat[i]);
	for (i = 0; kib && i < MAX_COUNTERS && w->mthp[i]; i++)
		c->mthp[i] = mthp_stat(kib, w->mthp[i]);
}

static void report_counters(const struct workload *w,
			    const struct counters *before,
			    const struct counters *after)
{
	unsigned long kib = mthp_size(w);
	size_t i;

	for (i = 0; i < MAX_COUNTERS && w->vmstat[i]; i++)
		result_counter(w->vmstat[i], before->vmstat[i],
			       after->vmstat[i]);
	for (i = 0; kib && i < MAX_COUNTERS && w->mthp[i]; i++)
		result_counter(w->mthp[i], before->mthp[i], after->mthp[i]);
}

void bench_arm(void)
{
	frames_name_tables();
	sleep_ms(SETTLE_MS);
	quire_arm();
	sleep_ms(SETTLE_MS);	/* the plugin may take a moment to start */
}

void bench_disarm(void)
{
	quire_disarm();
	frames_name_tables();
}

static int measure(const struct workload *w)
{
	struct counters before = {}, after = {};
	unsigned long taint = env_taint();

	env_reset();	/* in the shell, an earlier bench may have left swap */
	result_region(REGION, w->name);
	others_start(bench_word(others.name));
	if (w->setup)
		w->setup();
	bench_arm();
	read_counters(w, &before);
	w->run();
	read_counters(w, &after);
	bench_disarm();
	result_pages(REGION, work_pages);
	result_ops(REGION, work_ops);
	report_counters(w, &before, &after);
	result_folios(folios_ok, folios_total);
	if (w->verify)
		w->verify();
	if (folios_ok != folios_total || !folios_total)
		bench_fail("only %zu of %zu folios have the wanted size",
			   folios_ok, folios_total);
	taint = env_taint() & ~taint;
	if (taint)
		bench_fail("this bench tainted the kernel: %#lx", taint);
	result_verify_ok();
	return STATUS_OK;
}

int bench_main(size_t nr_words, char *const *words)
{
	const struct workload *w;

	if (!nr_words)
		die_usage("bench: which workload? `list` shows them all");
	w = find_workload(words[0]);
	parse(w, nr_words - 1, words + 1);
	return measure(w);
}

void bench_list(void)
{
	const struct workload *const *entry;
	size_t i;

	for (entry = __start_quire_workloads; entry < __stop_quire_workloads;
	     entry++) {
		const struct workload *w = *entry;
		char line[256];
		int n = snprintf(line, sizeof(line), "bench %s", w->name);

		for (i = 0; i < MAX_PARAMS && w->params[i].name; i++)
			n += snprintf(line + n, sizeof(line) - n, " %s=%s",
				      w->params[i].name,
				      w->params[i].allowed ?
					      w->params[i].allowed : "N");
		results_line("%s  # %s", line, w->summary);
	}
}
