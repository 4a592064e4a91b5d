// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/units.h"
#include "proc/knob.h"
#include "proc/proc.h"
#include "report/die.h"

#define LINE_MAX_LEN 1024

static FILE *open_or_die(const char *path)
{
	FILE *f = fopen(path, "re");

	if (!f)
		die_errno("cannot open %s", path);
	return f;
}

/* If line is "<name><blanks or colon><number>", store the number. */
static bool parse_field(const char *line, const char *name, unsigned long *value)
{
	size_t len = strlen(name);
	char *end;

	if (strncmp(line, name, len) || !strchr(": \t", line[len]))
		return false;
	line += len;
	line += strspn(line, ": \t");
	*value = strtoul(line, &end, 10);
	return end != line;
}

static unsigned long field_of(const char *path, const char *name)
{
	FILE *f = open_or_die(path);
	char line[LINE_MAX_LEN];
	unsigned long value = 0;
	bool found = false;

	while (!found && fgets(line, sizeof(line), f))
		found = parse_field(line, name, &value);
	fclose(f);
	if (!found)
		die("%s has no field \"%s\"", path, name);
	return value;
}

/* Reads up to the header line of the VMA that holds addr. */
static void seek_vma(FILE *f, const void *addr)
{
	unsigned long start, end, want = (unsigned long)addr;
	char line[LINE_MAX_LEN];

	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2 &&
		    start <= want && want < end)
			return;
	}
	die("no VMA in /proc/self/smaps holds %p", addr);
}

/*
 * The next line of the same VMA; false at its end. The header line of a VMA
 * starts with a lower-case hexadecimal digit, a field's name with a capital.
 */
static bool vma_line(FILE *f, char *line, size_t size)
{
	return fgets(line, size, f) && isupper((unsigned char)line[0]);
}

unsigned long smaps_kib(const void *addr, const char *field)
{
	FILE *f = open_or_die("/proc/self/smaps");
	char line[LINE_MAX_LEN];
	unsigned long value = 0;
	bool found = false;

	seek_vma(f, addr);
	while (!found && vma_line(f, line, sizeof(line)))
		found = parse_field(line, field, &value);
	fclose(f);
	if (!found)
		die("/proc/self/smaps has no field \"%s\"", field);
	return value;
}

bool smaps_flag(const void *addr, const char *flag)
{
	FILE *f = open_or_die("/proc/self/smaps");
	char line[LINE_MAX_LEN];
	bool found = false, listed = false;
	char *word;

	seek_vma(f, addr);
	while (!listed && vma_line(f, line, sizeof(line)))
		listed = !strncmp(line, "VmFlags:", 8);
	fclose(f);
	if (!listed)
		die("/proc/self/smaps has no VmFlags");
	for (word = strtok(line, " \n"); word; word = strtok(NULL, " \n"))
		found |= !strcmp(word, flag);
	return found;
}

unsigned long status_kib(const char *field)
{
	return field_of("/proc/self/status", field);
}

unsigned long meminfo_kib(const char *field)
{
	return field_of("/proc/meminfo", field);
}

bool fits_memory(size_t len)
{
	/* Asked for each range of a case. */
	static unsigned long total_kib;

	if (!total_kib)
		total_kib = meminfo_kib("MemTotal");
	return len / KIB <= total_kib / 3;
}

unsigned long vmstat(const char *name)
{
	return field_of("/proc/vmstat", name);
}

unsigned long mthp_stat(unsigned long kib, const char *name)
{
	char path[160];

	snprintf(path, sizeof(path),
		 "/sys/kernel/mm/transparent_hugepage/hugepages-%lukB/stats/%s",
		 kib, name);
	return read_number(path);
}

bool counters_fold(void)
{
	return try_write_file("/proc/sys/vm/stat_refresh", "1") ||
	       errno == ENOENT;
}

unsigned long ksm_stat(const char *field)
{
	return field_of("/proc/self/ksm_stat", field);
}

unsigned long ksm_sysfs(const char *file)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/kernel/mm/ksm/%s", file);
	return read_number(path);
}

void maps_named(const char *name, uintptr_t *from, uintptr_t *to)
{
	FILE *f = open_or_die("/proc/self/maps");
	bool found = false;
	char line[256];

	while (!found && fgets(line, sizeof(line), f))
		found = strstr(line, name) &&
			sscanf(line, "%" SCNxPTR "-%" SCNxPTR, from, to) == 2;
	fclose(f);
	if (!found)
		die("/proc/self/maps has no %s", name);
}

unsigned long vma_count(void)
{
	FILE *f = open_or_die("/proc/self/maps");
	unsigned long count = 0;
	int c;

	while ((c = getc(f)) != EOF)
		count += c == '\n';
	fclose(f);
	return count;
}
