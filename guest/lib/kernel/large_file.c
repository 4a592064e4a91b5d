// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/units.h"
#include "kernel/image.h"
#include "kernel/large_file.h"
#include "kernel/zonefs.h"
#include "proc/knob.h"
#include "report/die.h"

#define NAME	"large"
#define DEVICE	"/dev/" NAME
#define WHERE	"/tmp/large"

struct filesystem {
	const char *type;
	const char *file;
	/* Makes the device. */
	void (*make)(const char *name, unsigned long mib);
	/* Where the data of the file, which is written, begins on it. */
	uint64_t (*place)(int file, size_t len, unsigned long mib);
};

static struct filesystem chosen(void)
{
	const char *type = image_type();

	if (type)
		return (struct filesystem){ type, WHERE "/file", image_make,
					    image_place };
	return (struct filesystem){ "zonefs", WHERE "/cnv/0", zonefs_make,
				    zonefs_place };
}

bool large_file_any_kernel(void)
{
	return strcmp(chosen().type, "ext4") != 0;
}

static uint64_t file_at;

static void mount_device(const struct filesystem *fs, unsigned long mib)
{
	/* From an earlier case, which ended however it did. */
	if (umount(WHERE) && errno != EINVAL && errno != ENOENT)
		die_errno("cannot unmount " WHERE);
	fs->make(NAME, mib);
	if (mkdir(WHERE, 0755) && errno != EEXIST)
		die_errno("cannot make " WHERE);
	if (mount(DEVICE, WHERE, fs->type, 0, NULL))
		die_errno("cannot mount %s", fs->type);
}

static void write_folios(int file, size_t len, size_t folio)
{
	char *zeroes = allocate(1, folio);
	size_t done;

	for (done = 0; done < len; done += folio) {
		if (write(file, zeroes, folio) != (ssize_t)folio)
			die_errno("cannot write at %zu KiB", done / KIB);
	}
	free(zeroes);
	if (fsync(file))
		die_errno("cannot sync the file");
}

int large_file(unsigned long mib, size_t len, unsigned long kib)
{
	const struct filesystem fs = chosen();
	int file;

	mount_device(&fs, mib);
	/* The flusher thread must not clean the folios. */
	write_file("/proc/sys/vm/dirty_writeback_centisecs", "0");
	/*
	 * On 7.3 khugepaged collapses the folios of writable files. The first
	 * process to enter its list wakes it, whatever its intervals are.
	 */
	write_file("/sys/kernel/mm/transparent_hugepage/enabled", "never");
	file = open(fs.file, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (file < 0)
		die_errno("cannot open %s", fs.file);
	/* In one extent: at the end of one, a write ends, and its folio. */
	if (fallocate(file, 0, 0, (off_t)len) && errno != EOPNOTSUPP)
		die_errno("cannot allocate %zu KiB", len / KIB);
	write_folios(file, len, kib * KIB);
	file_at = fs.place(file, len, mib);
	return file;
}

void large_file_read_device(void *to, size_t len)
{
	int fd = open(DEVICE, O_RDONLY | O_DIRECT | O_CLOEXEC);

	if (fd < 0)
		die_errno("cannot open " DEVICE);
	if (pread(fd, to, len, (off_t)file_at) != (ssize_t)len)
		die_errno("cannot read %zu KiB of " DEVICE, len / KIB);
	close(fd);
}
