// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/units.h"
#include "kernel/image.h"
#include "kernel/nullb.h"
#include "report/die.h"

/* As in src/quire/kernels/guest.py. After the image's end it is zero. */
#define FS_MIB	256ul

static const struct image {
	const char *type;
	const char *path;
} images[] = { { "xfs", "/xfs.img" }, { "ext4", "/ext4.img" } };

static const struct image *present(void)
{
	size_t n;

	for (n = 0; n < ARRAY_SIZE(images); n++) {
		if (!access(images[n].path, F_OK))
			return &images[n];
	}
	return NULL;
}

const char *image_type(void)
{
	const struct image *image = present();

	return image ? image->type : NULL;
}

void image_make(const char *name, unsigned long mib)
{
	const struct nullb device = { .name = name, .mib = FS_MIB };
	const struct image *image = present();
	static char block[64 * KIB];
	int from, to;
	ssize_t n;

	if (!image)
		die("the initramfs has no filesystem");
	if (mib > FS_MIB / 2)
		die("a file of %lu MiB in a filesystem of %lu", mib, FS_MIB);
	nullb_create(&device);
	from = open(image->path, O_RDONLY | O_CLOEXEC);
	if (from < 0)
		die_errno("cannot open %s", image->path);
	to = nullb_open(&device);
	while ((n = read(from, block, sizeof(block))) > 0) {
		if (write(to, block, (size_t)n) != n)
			die_errno("cannot write the filesystem to %s", name);
	}
	if (n < 0 || fsync(to) || close(to) || close(from))
		die_errno("cannot copy %s", image->path);
}

uint64_t image_place(int file, size_t len, unsigned long mib)
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
