// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/units.h"
#include "kernel/nullb.h"
#include "proc/knob.h"
#include "process/map.h"
#include "report/die.h"

#define CONFIGFS	"/sys/kernel/config"

static void set(const struct nullb *device, const char *attribute,
		unsigned long value)
{
	char path[128];

	snprintf(path, sizeof(path), CONFIGFS "/nullb/%s/%s", device->name,
		 attribute);
	write_file(path, "%lu", value);
}

static void make_directory(const struct nullb *device)
{
	char path[128];

	if (mount("configfs", CONFIGFS, "configfs", 0, NULL) && errno != EBUSY)
		die_errno("cannot mount configfs");
	snprintf(path, sizeof(path), CONFIGFS "/nullb/%s", device->name);
	if (mkdir(path, 0755))
		die_errno("cannot make %s", path);
}

void nullb_remove(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), CONFIGFS "/nullb/%s", name);
	if (rmdir(path) && errno != ENOENT)
		die_errno("cannot remove %s", path);
}

void nullb_create(const struct nullb *device)
{
	nullb_remove(device->name);
	make_directory(device);
	set(device, "size", device->mib);
	set(device, "memory_backed", 1);
	set(device, "blocksize", 4 * KIB);
	set(device, "irqmode", device->delay_ms ? 2 : 0);
	set(device, "completion_nsec", device->delay_ms * 1000000);
	if (device->zone_mib) {
		set(device, "zoned", 1);
		set(device, "zone_size", device->zone_mib);
		set(device, "zone_nr_conv", device->conventional);
	}
	set(device, "power", 1);
}

static int open_device(const struct nullb *device, int flags)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/dev/%s", device->name);
	fd = open(path, O_WRONLY | O_CLOEXEC | flags);
	if (fd < 0)
		die_errno("cannot open %s", path);
	return fd;
}

int nullb_open(const struct nullb *device)
{
	return open_device(device, 0);
}

void nullb_fill(const struct nullb *device)
{
	int fd = open_device(device, O_DIRECT);
	char *zeroes = map_anon(NULL, MIB);
	unsigned long done;

	for (done = 0; done < device->mib; done++) {
		if (write(fd, zeroes, MIB) != (ssize_t)MIB)
			die_errno("cannot write MiB %lu of %s", done,
				  device->name);
	}
	close(fd);
	unmap(zeroes, MIB);
}
