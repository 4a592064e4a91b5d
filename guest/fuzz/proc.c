// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fuzz.h"
#include "report/die.h"

/*
 * Read after each operation, from the start or an offset: opening or seeking
 * each time would add system calls, which are most of the time of UML.
 */
static int proc_fd[NR_PROC_FILES] = { -1, -1, -1, -1 };

int proc_open(enum proc_file file)
{
	static const char *const paths[] = {
		[PROC_SMAPS] = "/proc/self/smaps",
		[PROC_STATUS] = "/proc/self/status",
		[PROC_PAGEMAP] = "/proc/self/pagemap",
		[PROC_FLAGS] = "/proc/kpageflags",
	};
	int *fd = &proc_fd[file];

	if (*fd < 0)
		*fd = open(paths[file], O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		die_errno("cannot read %s", paths[file]);
	return *fd;
}

struct call proc_call(enum proc_file file, void *to, size_t size, off_t at)
{
	return call_of(__NR_pread64, proc_open(file), (uintptr_t)to, size, at);
}

void proc_forget(void)
{
	unsigned int file;

	for (file = 0; file < NR_PROC_FILES; file++) {
		if (proc_fd[file] >= 0)
			close(proc_fd[file]);
		proc_fd[file] = -1;
	}
}
