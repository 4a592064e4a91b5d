// SPDX-License-Identifier: GPL-2.0
/*
 * What the system does to the memory of all processes: KSM, compaction, folio
 * sizes, and DAMON, which ages the pages of a process.
 */
#include <string.h>

#include "kernel/damon.h"
#include "memory/folio.h"
#include "proc/kmsg.h"
#include "proc/knob.h"
#include "proc/proc.h"
#include "range.h"
#include "soak.h"
#include "system.h"

#define KSM	"/sys/kernel/mm/ksm"
/* Of DAMON: some thousand samples a second, the results are not read. */
#define SAMPLE_MS	4
#define WINDOW_MS	1000

static struct kmsg kmsg;
static bool watching;

void background_ksm(bool run)
{
	write_file(KSM "/run", run ? "1" : "0");
}

/* Without a pause. */
void background_begin(void)
{
	kmsg_open(&kmsg);
	write_file(KSM "/sleep_millisecs", "0");
	write_file(KSM "/pages_to_scan", "2000");
	background_ksm(true);
}

/* Messages of the kernel on a slow or busy host. */
static bool about_time(const char *text)
{
	static const char *const beginnings[] = {
		"hrtimer: interrupt took", "clocksource:", "sched:",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(beginnings); i++) {
		if (!strncmp(text, beginnings[i], strlen(beginnings[i])))
			return true;
	}
	return false;
}

static void read_messages(void)
{
	const char *text;

	while ((text = kmsg_warning(&kmsg))) {
		if (!about_time(text))
			violation(NULL, -1, "the kernel says: %.200s", text);
	}
}

/* Not what a PMD maps of 64 KiB pages: shmem has no such folios, the machine no room. */
static unsigned long any_folio_size(struct actor *self)
{
	static const unsigned long sizes[] = {
		4, 16, 32, 64, 64, 64, 128, 256, 512, 1024, 2048, 2048, 2048,
		2048,
	};
	unsigned long kib;

	do {
		kib = folio_size(sizes[below(self, ARRAY_SIZE(sizes))]);
	} while (!fits_memory(2 * kib * KIB));
	return kib;
}

static void change_folio_size(struct actor *self)
{
	unsigned long kib = any_folio_size(self);

	folio_want(kib);
	__atomic_store_n(&common->folio_pages, kib * KIB / PAGE_SIZE,
			 __ATOMIC_RELAXED);
	folio_want_shmem(any_folio_size(self));
}

static void change_ksm(struct actor *self)
{
	if (one_in(self, 4))
		write_file(KSM "/run", "2");	/* unmerge all */
	write_file(KSM "/smart_scan", one_in(self, 2) ? "1" : "0");
	write_file(KSM "/run", "1");
}

static void stop_watching(void)
{
	if (watching)
		damon_stop();
	watching = false;
}

/* DAMON ends with its process: workers end after the passes, or by a violation. */
static void watch_another(struct actor *self, const pid_t *workers)
{
	pid_t worker = workers[below(self, common->processes)];
	char *homes[2 * NR_RANGES];
	size_t i;

	stop_watching();
	if (!worker || !damon_available())
		return;
	for (i = 0; i < ARRAY_SIZE(homes); i++)
		homes[i] = range_home(i / 2, i % 2);
	damon_start_places(worker, homes, ARRAY_SIZE(homes), MAX_PAGES * PAGE_SIZE,
			   SAMPLE_MS, WINDOW_MS);
	watching = true;
}

void background_pass(struct actor *self, const pid_t *workers)
{
	read_messages();
	if (one_in(self, 8))
		change_folio_size(self);
	if (one_in(self, 40))
		change_ksm(self);
	if (one_in(self, 60))
		write_file("/proc/sys/vm/compact_memory", "1");
	if (one_in(self, 100))
		watch_another(self, workers);
}

void background_rest(void)
{
	if (!stopped())
		stop_watching();
}

void background_end(void)
{
	read_messages();
	folio_want(PAGE_KIB);
	folio_want_shmem(PAGE_KIB);
	write_file(KSM "/run", "2");
	write_file(KSM "/run", "0");
	read_messages();
	kmsg_close(&kmsg);
}
