/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's own selftests, run and reported. */
#ifndef QUIRE_SELFTESTS_MAIN_H
#define QUIRE_SELFTESTS_MAIN_H

#include <stddef.h>

/* Run what the patterns select; STATUS_FAILED when a program failed. */
int selftests_main(size_t nr_patterns, char *const *patterns);

#endif
