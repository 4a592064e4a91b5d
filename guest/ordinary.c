// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "command.h"
#include "report/die.h"

int ordinary_main(size_t nr __attribute__((unused)),
		  char *const *words __attribute__((unused)))
{
	fprintf(stderr, "quire-guest is the init of a Quire guest; it "
			"changes system settings and runs nowhere else\n");
	return STATUS_USAGE;
}
