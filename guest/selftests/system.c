// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/units.h"
#include "kernel/swap.h"
#include "proc/knob.h"
#include "report/die.h"
#include "system.h"

#define THP_DIR		"/sys/kernel/mm/transparent_hugepage"
#define KSM_DIR		"/sys/kernel/mm/ksm"
#define HUGETLB_DIR	"/sys/kernel/mm/hugepages"
/* A tmpfs in which khugepaged may collapse pages. */
#define ADVISE_DIR	DIRECTORY "/tmpfs"

/* Where shm_open() has its files. */
#define SHM_DIR		"/dev/shm"

#define SWAP_MIB	256ul
/* run_vmtests.sh reserves 256 MiB of the default size, and no other. */
#define HUGETLB_KIB	(256 * 1024ul)
#define OTHER_PAGES	4ul
/* Larger sizes would take too much of the guest's memory. */
#define LARGEST_KIB	(32 * 1024ul)

/* The settings after boot; some programs restore nothing when they fail. */
static const struct {
	const char *path;
	const char *value;
} defaults[] = {
	{ KSM_DIR "/pages_to_scan", "100" },
	{ KSM_DIR "/sleep_millisecs", "20" },
	{ KSM_DIR "/use_zero_pages", "0" },
	{ KSM_DIR "/smart_scan", "1" },
	{ KSM_DIR "/merge_across_nodes", "1" },
	{ KSM_DIR "/max_page_sharing", "256" },
	{ THP_DIR "/enabled", "always" },
	{ THP_DIR "/defrag", "madvise" },
	{ THP_DIR "/shmem_enabled", "never" },
	{ THP_DIR "/use_zero_page", "1" },
	{ "/proc/sys/vm/drop_caches", "3" },
	{ "/proc/sys/vm/compact_memory", "1" },
};

void selftests_mount(void)
{
	mkdir(SHM_DIR, 0755);
	mkdir(ADVISE_DIR, 0755);
	if (mount("tmpfs", ADVISE_DIR, "tmpfs", 0, "huge=advise"))
		die_errno("cannot mount a tmpfs on " ADVISE_DIR);
}

static void set_aside(unsigned long kib)
{
	unsigned long nr = kib == PMD_KIB ? HUGETLB_KIB / kib : OTHER_PAGES;
	char path[128];

	snprintf(path, sizeof(path), HUGETLB_DIR "/hugepages-%lukB/nr_hugepages",
		 kib);
	write_file(path, "%lu", nr);
	if (read_number(path) != nr)
		diag("only %lu of %lu hugetlb pages of %lu KiB",
		     read_number(path), nr, kib);
}

static void set_aside_all(void)
{
	DIR *dir = opendir(HUGETLB_DIR);
	struct dirent *entry;
	unsigned long kib;

	if (!dir)
		return;	/* a kernel without hugetlb */
	while ((entry = readdir(dir))) {
		if (sscanf(entry->d_name, "hugepages-%lukB", &kib) == 1 &&
		    kib <= LARGEST_KIB)
			set_aside(kib);
	}
	closedir(dir);
}

static void set(const char *path, const char *value)
{
	/* A kernel without NUMA or hugetlb lacks some. */
	if (!try_write_file(path, value) && errno != ENOENT)
		diag("cannot set %s to %s", path, value);
}

void selftests_prepare(void)
{
	static const char *const inherit[] = { "enabled", "shmem_enabled" };
	char path[128];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(inherit); i++) {
		snprintf(path, sizeof(path), THP_DIR "/hugepages-%zukB/%s",
			 PMD_KIB, inherit[i]);
		set(path, "inherit");
	}
	for (i = 0; i < ARRAY_SIZE(defaults); i++)
		set(defaults[i].path, defaults[i].value);
	set_aside_all();
	swap_on(SWAP_MIB);
}

/* Not process 1, and not this one. */
void selftests_sweep(void)
{
	kill(-1, SIGKILL);
}
