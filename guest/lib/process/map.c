// SPDX-License-Identifier: GPL-2.0
#include <sys/mman.h>

#include "base/units.h"
#include "process/map.h"
#include "report/die.h"

void *map_or_die(void *at, size_t len, int prot, int flags, int fd, off_t off)
{
	void *p = mmap(at, len, prot, flags, fd, off);

	if (p == MAP_FAILED)
		die_errno("cannot map %zu KiB at %p", len / KIB, at);
	if (at && p != at)
		die("mapped at %p instead of %p", p, at);
	return p;
}

void *map_anon(void *at, size_t len)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;

	if (at)
		flags |= MAP_FIXED_NOREPLACE;
	return map_or_die(at, len, PROT_READ | PROT_WRITE, flags, -1, 0);
}

void unmap(void *addr, size_t len)
{
	if (munmap(addr, len))
		die_errno("cannot unmap %zu KiB at %p", len / KIB, addr);
}
