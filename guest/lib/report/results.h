/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The results port: the lines that the host reads. The kernel's messages go to
 * the console and cannot mix with them.
 */
#ifndef QUIRE_RESULTS_H
#define QUIRE_RESULTS_H

#include <stdarg.h>
#include <stdbool.h>

/*
 * Opens the virtio port named "quire", the serial line that quire_results=
 * names, or else the console, and writes the protocol line. Forked children inherit the port and may write to it.
 */
void results_open(void);

/* From now on, this process and its children write all lines to fd instead. */
void results_redirect(int fd);

/* The present file descriptor of the lines (-1 before results_open()). */
int results_fd(void);

/* One line, in a single write(2); these functions add the newline. */
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

/* The last line; later calls do nothing. Waits until the host has it. */
void result_exit(int status);

#endif
