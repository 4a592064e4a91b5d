// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "process/rootfs.h"
#include "program/mark.h"
#include "report/die.h"

int ordinary_main(size_t nr, char *const *words)
{
	if (rootfs_here() && nr == 1 && !strcmp(words[0], "start"))
		return mark_start();
	if (rootfs_here() && nr == 1 && !strcmp(words[0], "stop"))
		return mark_stop();
	fprintf(stderr, "quire-guest is the init of a Quire guest; it "
			"changes system settings and runs nowhere else\n");
	return STATUS_USAGE;
}
