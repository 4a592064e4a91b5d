// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <unistd.h>

#include "base/units.h"
#include "kernel/nullb.h"
#include "kernel/zonefs.h"
#include "report/die.h"

#define MAGIC	0x5a4f4653u
#define CRC_LE	0xedb88320u

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

void zonefs_make(const char *name, unsigned long mib)
{
	/*
	 * A zone for the super block, one for the file, and one that is not
	 * conventional: null_blk requires it.
	 */
	const struct nullb device = {
		.name = name,
		.mib = 3 * mib,
		.zone_mib = mib,
		.conventional = 2,
	};
	static union super super = { .magic = MAGIC };
	int fd;

	nullb_create(&device);
	super.crc = 0;
	super.crc = crc32(super.bytes, sizeof(super));
	fd = nullb_open(&device);
	if (write(fd, &super, sizeof(super)) != (ssize_t)sizeof(super))
		die_errno("cannot write the super block of %s", name);
	if (fsync(fd) || close(fd))
		die_errno("cannot flush %s", name);
}

uint64_t zonefs_place(int file, size_t len, unsigned long mib)
{
	(void)file;
	(void)len;
	return (uint64_t)mib * MIB;
}
