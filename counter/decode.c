// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "decode.h"

static const struct target *const targets[] = {
	&target_aarch64,
	&target_riscv64,
	&target_x86_64,
};

const struct target *target_find(const char *name)
{
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
		if (!strcmp(targets[i]->name, name))
			return targets[i];
	return NULL;
}
