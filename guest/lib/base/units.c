// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/units.h"

#define HUGETLB		"/sys/kernel/mm/hugepages"
#define THP_SIZE	"/sys/kernel/mm/transparent_hugepage/hpage_pmd_size"
#define ANY_BLOCK	16u	/* pages */

struct units units = { 4 * KIB, 2 * MIB, 64 * KIB };

/* The smallest huge page that hugetlb has, in bytes; 0 without hugetlb. */
static unsigned long smallest_huge(void)
{
	unsigned long kib, smallest = 0;
	DIR *dir = opendir(HUGETLB);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (sscanf(entry->d_name, "hugepages-%lukB", &kib) == 1 &&
		    (!smallest || kib * KIB < smallest))
			smallest = kib * KIB;
	}
	if (dir)
		closedir(dir);
	return smallest;
}

void units_read(void)
{
	unsigned long huge = smallest_huge();
	char text[32];

	units.page = sysconf(_SC_PAGESIZE);
	/* A table is a page of entries of eight bytes. */
	units.pmd = units.page / 8 * units.page;
	if (read_file(THP_SIZE, text, sizeof(text)) > 0)
		units.pmd = strtoul(text, NULL, 10);
	/* arm64 has huge pages of one block. */
	units.block = huge && huge < units.pmd ? huge : ANY_BLOCK * units.page;
}
