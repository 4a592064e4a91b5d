/* SPDX-License-Identifier: GPL-2.0 */
#ifndef QUIRE_TIME_MAIN_H
#define QUIRE_TIME_MAIN_H

#include <stddef.h>

/* The words of a command line, in a guest or on a machine; the exit status. */
int time_main(size_t nr, char *const *words);

#endif
