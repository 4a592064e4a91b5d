/* SPDX-License-Identifier: GPL-2.0 */
#ifndef QUIRE_SOAK_MAIN_H
#define QUIRE_SOAK_MAIN_H

#include <stddef.h>

/* `soak [key=value ...]`; returns the exit status. */
int soak_main(size_t nr, char *const *words);

#endif
