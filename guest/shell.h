/* SPDX-License-Identifier: GPL-2.0 */
/* A command loop on the console, for looking around in a booted kernel. */
#ifndef QUIRE_SHELL_H
#define QUIRE_SHELL_H

/* Until "poweroff" or the end of input; returns the status of the session. */
int shell_main(void);

#endif
