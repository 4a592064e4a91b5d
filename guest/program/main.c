// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "main.h"
#include "program.h"
#include "report/die.h"

int program_main(size_t nr, char *const *words)
{
	if (nr > 1 && !strcmp(words[0], "bench"))
		return program_bench(nr - 1, words + 1);
	if (nr > 1 && !strcmp(words[0], "test"))
		return program_test(nr - 1, words + 1);
	if (nr > 1 && !strcmp(words[0], "run"))
		return program_run(nr - 1, words + 1);
	die_usage("program: \"bench PATH [key=value ...]\", "
		  "\"test PATH [argument ...]\" or "
		  "\"run PATH [argument ...]\"");
}
