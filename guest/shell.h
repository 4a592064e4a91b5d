/* SPDX-License-Identifier: GPL-2.0 */
/* A command loop on the console, for looking around in a booted kernel. */
#ifndef QUIRE_SHELL_H
#define QUIRE_SHELL_H

#include <stddef.h>

/*
 * Until "poweroff" or the end of input; returns the status of the session. run()
 * is for the words that init understands, too.
 */
int shell_main(int (*run)(size_t nr, char *const *words));

#endif
