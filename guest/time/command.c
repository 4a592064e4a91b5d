// SPDX-License-Identifier: GPL-2.0
/* The commands of the program that times: one. ordinary_main() is for a machine. */
#include <string.h>

#include "command.h"
#include "report/die.h"
#include "time/main.h"

int command_run(size_t nr, char *const *words)
{
	if (strcmp(words[0], "time"))
		die_usage("unknown word \"%s\"; known: time", words[0]);
	return time_main(nr - 1, words + 1);
}

int ordinary_main(size_t nr, char *const *words)
{
	diag_prefix("quire-time: ");
	return time_main(nr, words);
}
