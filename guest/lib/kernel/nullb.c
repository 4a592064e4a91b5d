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

static void remove_device(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), CONFIGFS "/nullb/%s", name);
	if (rmdir(path) && errno != ENOENT)
		die_errno("cannot remove %s", path);
}

void nullb_create(const struct nullb *device)
{
	remove_device(device->name);
	make_directory(device);
	set(device, "size", device->mib);
	set(device, "memory_backed", 1);
	set(device, "blocksize", 4 * KIB);
	set(device, "irqmode", 0);
	if (device->zone_mib) {
		set(device, "zoned", 1);
		set(device, "zone_size", device->zone_mib);
		set(device, "zone_nr_conv", device->conventional);
	}
	set(device, "power", 1);
}

void nullb_fill(const struct nullb *device)
{
	char *zeroes = map_anon(NULL, MIB);
	unsigned long done;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/dev/%s", device->name);
	fd = open(path, O_WRONLY | O_DIRECT | O_CLOEXEC);
	if (fd < 0)
		die_errno("cannot open %s", path);
	for (done = 0; done < device->mib; done++) {
		if (write(fd, zeroes, MIB) != (ssize_t)MIB)
			die_errno("cannot write MiB %lu of %s", done, path);
	}
	close(fd);
	unmap(zeroes, MIB);
}
