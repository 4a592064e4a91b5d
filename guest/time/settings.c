// SPDX-License-Identifier: GPL-2.0
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/units.h"
#include "time/settings.h"

#define MM	"/sys/kernel/mm"
#define THP	MM "/transparent_hugepage"
#define MAX	128u

static const char *const patterns[] = {
	THP "/hugepages-*/enabled",
	THP "/hugepages-*/shmem_enabled",
	THP "/khugepaged/scan_sleep_millisecs",
	THP "/khugepaged/alloc_sleep_millisecs",
	THP "/khugepaged/pages_to_scan",
	THP "/khugepaged/max_ptes_none",
	MM "/ksm/run",
	MM "/ksm/sleep_millisecs",
	MM "/ksm/pages_to_scan",
	MM "/lru_gen/enabled",
	"/proc/sys/vm/stat_interval",
	"/proc/sys/vm/dirty_writeback_centisecs",
};

static struct {
	char *path;
	char value[64];
} saved[MAX];
static size_t nr_saved;

static bool has_swap(void)
{
	char text[4096];

	/* The first line is a heading. */
	return read_file("/proc/swaps", text, sizeof(text)) > 0 &&
	       strchr(text, '\n') && strchr(text, '\n')[1];
}

static bool is_nonzero(const char *path)
{
	char text[64];

	return read_file(path, text, sizeof(text)) > 0 && strtoul(text, NULL, 10);
}

bool settings_allow(char *why, size_t size)
{
	const char *reason = NULL;

	if (has_swap())
		reason = "swap is in use, and workloads swap to zram; remedy: "
			 "swapoff -a";
	else if (is_nonzero("/sys/block/zram0/disksize"))
		reason = "zram0 is in use, and workloads reset it; remedy: "
			 "zramctl --reset /dev/zram0";
	else if (is_nonzero(MM "/ksm/pages_shared"))
		reason = "KSM has merged pages, and workloads unmerge them; "
			 "remedy: echo 2 >" MM "/ksm/run";
	if (reason)
		snprintf(why, size, "%s", reason);
	return !reason;
}

/* "always [madvise] never" is the word in brackets. */
static void chosen(char *text)
{
	char *open = strchr(text, '['), *close = strchr(text, ']');

	text[strcspn(text, "\n")] = '\0';
	if (!open || !close || close < open)
		return;
	*close = '\0';
	memmove(text, open + 1, close - open);
}

static void save(const char *path)
{
	char text[256];

	if (nr_saved == MAX || read_file(path, text, sizeof(text)) <= 0)
		return;
	chosen(text);
	saved[nr_saved].path = strdup(path);
	snprintf(saved[nr_saved].value, sizeof(saved->value), "%.63s", text);
	nr_saved++;
}

void settings_save(void)
{
	glob_t found;
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(patterns); i++) {
		if (glob(patterns[i], 0, NULL, &found))
			continue;
		for (j = 0; j < found.gl_pathc; j++)
			save(found.gl_pathv[j]);
		globfree(&found);
	}
}

void settings_restore(void)
{
	size_t i;

	for (i = 0; i < nr_saved; i++)
		try_write_file(saved[i].path, saved[i].value);
}
