// SPDX-License-Identifier: GPL-2.0
/*
 * NUMA hints: the kernel makes the pages of a process inaccessible, so that its
 * next access to each is a fault. It does so in a timer tick of the process, if
 * that has run long enough since the last time. Of a process with one thread,
 * pages of the local node are left alone.
 */
#include <pthread.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "ops.h"
#include "proc/knob.h"
#include "report/die.h"

#define BALANCING	"/proc/sys/kernel/numa_balancing"
#define SCAN		"/sys/kernel/debug/sched/numa_balancing"
/* Several scans of the whole process, at the least period that 16 MiB allow. */
#define SCAN_MIB	"16"
#define HINT_MS		40

void hints_open(void)
{
	try_write_file(BALANCING, "0");
	try_write_file(SCAN "/scan_delay_ms", "1");
	try_write_file(SCAN "/scan_period_min_ms", "1");
	try_write_file(SCAN "/scan_size_mb", SCAN_MIB);
}

/* A second thread until the pipe closes. */
static void *stand_by(void *pipe_end)
{
	char byte;

	while (read(*(int *)pipe_end, &byte, 1) > 0)
		;
	return NULL;
}

static void run_for_a_while(void)
{
	long end = now_ms() + HINT_MS;

	while (now_ms() < end)
		;
}

/* Gives hints for all memory of the process. */
struct outcome_text verb_hint(struct actor *self __attribute__((unused)),
			      const struct op *op __attribute__((unused)))
{
	pthread_t thread;
	int ends[2];

	if (access(BALANCING, W_OK))
		return outcome_of(false);
	if (pipe(ends))
		die_errno("cannot make a pipe");
	if (pthread_create(&thread, NULL, stand_by, &ends[0]))
		die("cannot start a thread");
	write_file(BALANCING, "1");
	run_for_a_while();
	write_file(BALANCING, "0");
	close(ends[1]);
	pthread_join(thread, NULL);
	close(ends[0]);
	return outcome_ok();
}
