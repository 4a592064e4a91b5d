// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

bool try_write_file(const char *path, const char *text)
{
	size_t len = strlen(text);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t done;
	int err;

	if (fd < 0)
		return false;
	done = write(fd, text, len);
	err = errno;
	close(fd);
	errno = done < 0 ? err : EIO;
	return done == (ssize_t)len;
}

ssize_t read_file(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t got;

	if (fd < 0)
		return -1;
	while (len < size - 1) {
		got = read(fd, buf + len, size - 1 - len);
		if (got <= 0)
			break;
		len += got;
	}
	close(fd);
	buf[len] = '\0';
	return len;
}
