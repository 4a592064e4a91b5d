// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "command.h"
#include "fuzz/main.h"
#include "program/main.h"
#include "run/bench.h"
#include "run/ktap.h"
#include "selftests/main.h"
#include "shell.h"
#include "soak/main.h"

static int run_bench(size_t nr, char *const *words)
{
	return bench_main(nr, words);
}

static int run_test(size_t nr, char *const *words)
{
	if (!nr)
		die_usage("test: which cases? e.g. test 'mremap.*'");
	return ktap_run(words, nr);
}

static int run_list(size_t nr __attribute__((unused)),
		    char *const *words __attribute__((unused)))
{
	bench_list();
	ktap_list();
	return STATUS_OK;
}

static int run_fuzz(size_t nr, char *const *words)
{
	enum swap_device device = SWAP_ZRAM;
	enum counting counting = COUNT_NOTHING;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!strcmp(words[i], "cover"))
			counting = COUNT_COVER;
		else if (!strcmp(words[i], "cost"))
			counting = COUNT_COST;
		else if (!strcmp(words[i], "swap=block"))
			device = SWAP_BLOCK;
		else if (!strcmp(words[i], "swap=none"))
			device = SWAP_NONE;
		else
			die_usage("fuzz [cover | cost] [swap=block | swap=none]");
	}
	return fuzz_main(counting, device);
}

static int run_selftests(size_t nr, char *const *words)
{
	return selftests_main(nr, words);
}

static int run_soak(size_t nr, char *const *words)
{
	return soak_main(nr, words);
}

static int run_program(size_t nr, char *const *words)
{
	return program_main(nr, words);
}

static int run_shell(size_t nr __attribute__((unused)),
		     char *const *words __attribute__((unused)))
{
	return shell_main(command_run);
}

static const struct {
	const char *name;
	int (*run)(size_t nr, char *const *words);
} commands[] = {
	{ "bench", run_bench },
	{ "test", run_test },
	{ "fuzz", run_fuzz },
	{ "selftests", run_selftests },
	{ "soak", run_soak },
	{ "program", run_program },
	{ "list", run_list },
	{ "shell", run_shell },
};

int command_run(size_t nr, char *const *words)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!strcmp(commands[i].name, words[0]))
			return commands[i].run(nr - 1, words + 1);
	}
	die_usage("unknown word \"%s\"; known: " COMMAND_WORDS, words[0]);
}
