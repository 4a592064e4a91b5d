// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "process/rootfs.h"
#include "report/die.h"

#define HERE		"/rootfs"
#define WAIT_MS		5000u

/* Directories of the initramfs whose paths are the same in the userland. */
static const char *const shared[] = { "/selftests", "/user" };

static const struct {
	const char *name;
	const char *value;
} environment[] = {
	{ "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" },
	{ "HOME", "/root" },
	{ "TERM", "linux" },
	{ "LC_ALL", "C.UTF-8" },
	{ "DEBIAN_FRONTEND", "noninteractive" },
};

/* Drivers may find the disk after init has started. */
static void mount_disk(const char *disk)
{
	unsigned int waited = 0;
	char path[64];

	snprintf(path, sizeof(path), "/dev/%s", disk);
	while (mount(path, HERE, "ext4", 0, NULL)) {
		if (errno != ENOENT || waited >= WAIT_MS)
			die_errno("cannot mount the disk %s", path);
		sleep_ms(20);
		waited += 20;
	}
}

static void become_root(void)
{
	if (chdir(HERE) || mount(".", "/", NULL, MS_MOVE, NULL) ||
	    chroot(".") || chdir("/"))
		die_errno("cannot enter the userland");
}

static void share(const char *dir)
{
	char target[64];

	snprintf(target, sizeof(target), INITRAMFS "%s", dir);
	if (symlink(target, dir) && errno != EEXIST)
		die_errno("cannot link %s", dir);
}

void rootfs_enter(void)
{
	const char *disk = getenv("quire_root");
	size_t i;

	if (!disk)
		return;
	mkdir(HERE, 0755);
	if (mount("devtmpfs", "/dev", "devtmpfs", 0, NULL) && errno != EBUSY)
		die_errno("cannot mount /dev");
	mount_disk(disk);
	mkdir(HERE INITRAMFS, 0755);
	if (mount("/", HERE INITRAMFS, NULL, MS_BIND, NULL))
		die_errno("cannot show the initramfs in the userland");
	become_root();
	for (i = 0; i < ARRAY_SIZE(shared); i++)
		share(shared[i]);
	sethostname("quire", strlen("quire"));
	for (i = 0; i < ARRAY_SIZE(environment); i++)
		setenv(environment[i].name, environment[i].value, 1);
}

bool rootfs_here(void)
{
	return getenv("quire_root");
}

void rootfs_leave(void)
{
	if (!rootfs_here())
		return;
	sync();
	/* Fails while a program has a file open for writing; sync() is enough. */
	mount(NULL, "/", NULL, MS_REMOUNT | MS_RDONLY, NULL);
}
