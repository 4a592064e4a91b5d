/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The results port: the lines the host reads. Nothing the kernel prints to the
 * console can mix with them.
 */
#ifndef QUIRE_RESULTS_H
#define QUIRE_RESULTS_H

#include <stdarg.h>
#include <stdbool.h>

/*
 * Open the virtio port named "quire", or fall back to the console, and write
 * the protocol line. Forked children inherit the port and may write to it.
 */
void results_open(void);

/* Send all further lines of this process and its children to fd instead. */
void results_redirect(int fd);

/* Which file descriptor the lines go to now (-1 before results_open()). */
int results_fd(void);

/* One line, written by a single write(2); the newline is added here. */
void results_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void results_vline(const char *prefix, const char *fmt, va_list ap);

/* The lines of the bench protocol, one function each. */
void result_region(unsigned int id, const char *name);
void result_pages(unsigned int id, unsigned long pages);
void result_ops(unsigned int id, unsigned long ops);
void result_counter(const char *name, unsigned long before, unsigned long after);
void result_folios(unsigned long ok, unsigned long total);
void result_verify_ok(void);
void result_verify_fail(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));
void result_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The last line, once; later calls are ignored. Waits until the host has it. */
void result_exit(int status);

#endif
