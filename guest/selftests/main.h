/* SPDX-License-Identifier: GPL-2.0 */
/* Runs the kernel's own selftests and reports them. */
#ifndef QUIRE_SELFTESTS_MAIN_H
#define QUIRE_SELFTESTS_MAIN_H

#include <stddef.h>

/* Runs those that match the patterns; STATUS_FAILED when a program failed. */
int selftests_main(size_t nr_patterns, char *const *patterns);

#endif
