// SPDX-License-Identifier: GPL-2.0
#include <unistd.h>

#include "process/watch.h"
#include "program/program.h"
#include "report/die.h"
#include "run/supervise.h"

static void become(const void *arg)
{
	char *const *argv = arg;

	execv(argv[0], argv);
	die_errno("cannot execute %s", argv[0]);
}

int program_run(size_t nr, char *const *words)
{
	char *argv[nr + 1];
	size_t i;

	for (i = 0; i < nr; i++)
		argv[i] = words[i];
	argv[nr] = NULL;
	program_check(argv[0]);
	diag_prefix("# ");
	return watch(become, argv, patience(PROGRAM_LIMIT_MS));
}
