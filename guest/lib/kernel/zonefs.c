// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/units.h"
#include "kernel/nullb.h"
#include "kernel/zonefs.h"
#include "proc/knob.h"
#include "report/die.h"

#define NAME	"zoned"
#define DEVICE	"/dev/" NAME
#define WHERE	"/tmp/zonefs"
#define MAGIC	0x5a4f4653u
#define CRC_LE	0xedb88320u

/* The zone of the file, after that of the super block. */
static unsigned long file_at_mib;

/* struct zonefs_super in fs/zonefs/zonefs.h, in little-endian words. */
union super {
	struct {
		uint32_t magic;
		uint32_t crc;
	};
	unsigned char bytes[4 * KIB];
};

/* The kernel's crc32_le(): without an inversion at the end. */
static uint32_t crc32(const unsigned char *byte, size_t len)
{
	uint32_t crc = ~0u;
	unsigned int bit;

	while (len--) {
		crc ^= *byte++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? CRC_LE : 0);
	}
	return crc;
}

static void format_zonefs(void)
{
	static union super super = { .magic = MAGIC };
	int fd = open(DEVICE, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		die_errno("cannot open " DEVICE);
	super.crc = 0;
	super.crc = crc32(super.bytes, sizeof(super));
	if (write(fd, &super, sizeof(super)) != (ssize_t)sizeof(super))
		die_errno("cannot write the super block of " DEVICE);
	if (fsync(fd) || close(fd))
		die_errno("cannot flush " DEVICE);
}

static const char *make_file(unsigned long mib)
{
	/*
	 * A zone for the super block, one for the file, and one that is not
	 * conventional: null_blk requires it.
	 */
	const struct nullb device = { NAME, 3 * mib, mib, 2 };

	/* From an earlier case, which ended however it did. */
	if (umount(WHERE) && errno != EINVAL && errno != ENOENT)
		die_errno("cannot unmount " WHERE);
	nullb_create(&device);
	file_at_mib = mib;
	format_zonefs();
	if (mkdir(WHERE, 0755) && errno != EEXIST)
		die_errno("cannot make " WHERE);
	if (mount(DEVICE, WHERE, "zonefs", 0, NULL))
		die_errno("cannot mount zonefs");
	return WHERE "/cnv/0";
}

static void write_folios(int file, size_t len, size_t folio)
{
	char *zeroes = calloc(1, folio);
	size_t done;

	if (!zeroes)
		die("no memory for a write of %zu KiB", folio / KIB);
	for (done = 0; done < len; done += folio) {
		if (write(file, zeroes, folio) != (ssize_t)folio)
			die_errno("cannot write at %zu KiB", done / KIB);
	}
	free(zeroes);
	if (fsync(file))
		die_errno("cannot sync the file");
}

int zonefs_file(unsigned long mib, size_t len, unsigned long kib)
{
	const char *path = make_file(mib);
	int file;

	/* The flusher thread must not clean the folios. */
	write_file("/proc/sys/vm/dirty_writeback_centisecs", "0");
	/*
	 * On 7.3 khugepaged collapses the folios of writable files. The first
	 * process to enter its list wakes it, whatever its intervals are.
	 */
	write_file("/sys/kernel/mm/transparent_hugepage/enabled", "never");
	file = open(path, O_RDWR | O_CLOEXEC);
	if (file < 0)
		die_errno("cannot open %s", path);
	write_folios(file, len, kib * KIB);
	return file;
}

void zonefs_read_device(void *to, size_t len)
{
	int fd = open(DEVICE, O_RDONLY | O_DIRECT | O_CLOEXEC);

	if (fd < 0)
		die_errno("cannot open " DEVICE);
	if (pread(fd, to, len, file_at_mib * MIB) != (ssize_t)len)
		die_errno("cannot read %zu KiB of " DEVICE, len / KIB);
	close(fd);
}
