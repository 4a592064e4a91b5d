// SPDX-License-Identifier: GPL-2.0
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/child.h"
#include "report/die.h"
#include "worker.h"

#define TICK_MS		20u

/* A file of zeroes, as large as the largest range. */
static int make_file(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, MAX_PAGES * PAGE_SIZE))
		die_errno("cannot make a file");
	return fd;
}

void workers_start(pid_t *workers)
{
	int file = make_file("private"), shared = make_file("shared");
	unsigned int i;

	for (i = 0; i < common->processes; i++) {
		workers[i] = fork_child();
		if (!workers[i])
			worker(i, file, shared);
	}
	close(file);
	close(shared);
}

void workers_judge(pid_t *workers)
{
	unsigned int i;
	int status;

	for (i = 0; i < common->processes; i++) {
		if (!workers[i] || waitpid(workers[i], &status, WNOHANG) <= 0)
			continue;
		workers[i] = 0;
		if (WIFSIGNALED(status))
			violation(NULL, -1, "worker %u was killed by signal %d "
				  "(%s)", i, WTERMSIG(status),
				  strsignal(WTERMSIG(status)));
		else if (WEXITSTATUS(status) || !common->end)
			violation(NULL, -1, "worker %u ended with status %d", i,
				  WEXITSTATUS(status));
	}
}

bool workers_left(const pid_t *workers)
{
	unsigned int i;

	for (i = 0; i < common->processes; i++) {
		if (workers[i])
			return true;
	}
	return false;
}

void workers_end(pid_t *workers)
{
	long began = now_ms();
	unsigned int i;

	__atomic_store_n(&common->end, 1, __ATOMIC_SEQ_CST);
	while (workers_left(workers) && now_ms() - began < HUNG_S * 1000) {
		sleep_ms(TICK_MS);
		workers_judge(workers);
	}
	if (!workers_left(workers))
		return;
	report_doing();
	violation(NULL, -1, "workers do not end");
	for (i = 0; i < common->processes; i++) {
		if (workers[i])
			kill(workers[i], SIGKILL);
	}
}
