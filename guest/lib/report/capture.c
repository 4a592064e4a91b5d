// SPDX-License-Identifier: GPL-2.0
#include <sys/mman.h>
#include <unistd.h>

#include "report/capture.h"
#include "report/die.h"
#include "report/results.h"

struct capture capture_begin(void)
{
	struct capture capture = { results_fd(), memfd_create("report", 0) };

	if (capture.fd < 0)
		die_errno("cannot make a file for the report");
	results_redirect(capture.fd);
	return capture;
}

void capture_end(const struct capture *capture, char *text, size_t size)
{
	ssize_t len;

	results_redirect(capture->outer);
	len = pread(capture->fd, text, size - 1, 0);
	if (len < 0)
		die_errno("cannot read the report");
	text[len] = '\0';
	close(capture->fd);
}
