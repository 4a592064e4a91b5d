// SPDX-License-Identifier: GPL-2.0
/* A merged page is migrated when its memory block goes offline. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "kernel/nodes.h"
#include "ksm.h"
#include "proc/knob.h"
#include "process/map.h"

#define MEMORY		"/sys/devices/system/memory"
#define ATTEMPTS	8u
#define BALLAST		(256 * MIB)
#define BALLAST_ADDR	PLACE(0x4000000000, 0x70000000)

/* Only blocks of ZONE_MOVABLE can be relied on to go offline. */
static bool have_movable_zone(void)
{
	static char text[64 * 1024];
	unsigned long managed;
	char *zone;

	if (read_file("/proc/zoneinfo", text, sizeof(text)) < 0)
		die_errno("cannot read /proc/zoneinfo");
	zone = strstr(text, " Movable\n");
	zone = zone ? strstr(zone, "managed") : NULL;
	return zone && sscanf(zone, "managed %lu", &managed) == 1 && managed;
}

static void block_path(char *path, size_t size, uint64_t pfn)
{
	char text[32];

	if (read_file(MEMORY "/block_size_bytes", text, sizeof(text)) < 0)
		die_errno("cannot read " MEMORY "/block_size_bytes");
	snprintf(path, size, MEMORY "/memory%llu/state",
		 (unsigned long long)pfn * PAGE_SIZE / strtoul(text, NULL, 16));
}

/*
 * Pages are allocated first from the block at the end of memory. It has pages
 * that the boot reserved. Use it up.
 */
static void take_ballast(void)
{
	char *page = map_anon(BALLAST_ADDR, BALLAST);

	for (; page < BALLAST_ADDR + BALLAST; page += PAGE_SIZE)
		*(volatile char *)page = 1;
}

static void take_offline(const char *path)
{
	unsigned int tries;

	for (tries = 0; tries < ATTEMPTS; tries++) {
		if (try_write_file(path, "offline"))
			return;
		if (errno == EPERM)
			SKIP("boot memory stays online on this architecture");
	}
	if (PAGE_SCALE > 1)
		SKIP("each of the large blocks of memory has pages of the boot");
	ASSERT(false, "%s stays online: %s", path, strerror(errno));
}

KSM_CASES(memory_offline)
{
	struct mappings all;
	uint64_t pfn, now;
	char path[96];

	if (access(MEMORY "/block_size_bytes", F_OK))
		SKIP("no memory can go offline");
	if (!have_movable_zone())
		SKIP("no ZONE_MOVABLE; boot with movablecore=1G to have it");
	/*
	 * Two nodes meet in the middle of a block, which stays online. The end
	 * of memory is in the second.
	 */
	if (nodes_two())
		nodes_allocate_from(1);
	take_ballast();
	all = pair_merged(kind);
	unmap(BALLAST_ADDR, BALLAST);
	if (nodes_two())
		nodes_allocate_from(-1);
	mappings_add_fork(&all, NULL, worker_fork(NULL));
	pfn = mappings_merged(&all);
	block_path(path, sizeof(path), pfn);
	take_offline(path);
	now = mappings_merged(&all);
	EXPECT(now && now != pfn, "page %#llx did not leave its memory block",
	       (unsigned long long)pfn);
	expect_same(&all);
	ksm_pass(2);	/* the stable tree was pruned meanwhile */
	write_file(path, "online");
	expect_found(&all);
}
