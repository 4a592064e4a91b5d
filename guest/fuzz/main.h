/* SPDX-License-Identifier: GPL-2.0 */
#ifndef QUIRE_FUZZ_MAIN_H
#define QUIRE_FUZZ_MAIN_H

/* Run the programs of /programs; returns the exit status. */
int fuzz_main(void);

#endif
