// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/units.h"
#include "kernel/nullb.h"
#include "kernel/xfs.h"
#include "report/die.h"

/* As in src/quire/build/filesystem.py. Behind the image's end it is zero. */
#define IMAGE	"/xfs.img"
#define FS_MIB	256ul

bool xfs_available(void)
{
	return !access(IMAGE, F_OK);
}

void xfs_make(const char *name, unsigned long mib)
{
	const struct nullb device = { .name = name, .mib = FS_MIB };
	static char block[64 * KIB];
	int from, to;
	ssize_t n;

	if (mib > FS_MIB / 2)
		die("a file of %lu MiB in a filesystem of %lu", mib, FS_MIB);
	nullb_create(&device);
	from = open(IMAGE, O_RDONLY | O_CLOEXEC);
	if (from < 0)
		die_errno("cannot open " IMAGE);
	to = nullb_open(&device);
	while ((n = read(from, block, sizeof(block))) > 0) {
		if (write(to, block, (size_t)n) != n)
			die_errno("cannot write the filesystem to %s", name);
	}
	if (n < 0 || fsync(to) || close(to) || close(from))
		die_errno("cannot copy " IMAGE);
}

uint64_t xfs_place(int file, size_t len, unsigned long mib)
{
	struct {
		struct fiemap map;
		struct fiemap_extent extent;
	} of = { .map = { .fm_length = len, .fm_extent_count = 1 } };

	(void)mib;
	if (ioctl(file, FS_IOC_FIEMAP, &of))
		die_errno("FS_IOC_FIEMAP");
	if (of.map.fm_mapped_extents != 1 || of.extent.fe_length < len)
		die("the file is not in one piece");
	return of.extent.fe_physical;
}
