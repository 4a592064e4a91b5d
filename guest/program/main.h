/* SPDX-License-Identifier: GPL-2.0 */
/* A user's own static programs, which are in the initramfs. */
#ifndef QUIRE_PROGRAM_MAIN_H
#define QUIRE_PROGRAM_MAIN_H

#include <stddef.h>

/* `program bench PATH [key=value ...]`, `program test PATH [argument ...]`. */
int program_main(size_t nr, char *const *words);

#endif
