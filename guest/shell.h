/* SPDX-License-Identifier: GPL-2.0 */
/* A command loop on the console of a booted kernel. */
#ifndef QUIRE_SHELL_H
#define QUIRE_SHELL_H

#include <stddef.h>

/*
 * Runs until "poweroff" or the end of input; returns the status of the session.
 * run() handles the words that init understands, too.
 */
int shell_main(int (*run)(size_t nr, char *const *words));

#endif
