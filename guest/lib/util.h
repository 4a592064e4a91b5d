/* SPDX-License-Identifier: GPL-2.0 */
/* Small things every part of the guest needs. Errors end the process: die(). */
#ifndef QUIRE_UTIL_H
#define QUIRE_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define KIB		1024ul
#define MIB		(1024ul * KIB)
#define GIB		(1024ul * MIB)
#define PAGE_SIZE	4096ul
#define PMD_SIZE	(2 * MIB)

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define ALIGN_UP(x, a)	(((x) + (a) - 1) / (a) * (a))

/* Exit statuses of a process of this guest. */
enum {
	STATUS_OK = 0,
	STATUS_FAILED = 1,	/* a test or a verification failed, or die() */
	STATUS_USAGE = 2,	/* unknown word, bad parameter */
	STATUS_SKIP = 4,	/* a test case that does not apply here */
};

/*
 * Say what failed and end this process with STATUS_FAILED. die_errno() adds
 * the text of errno, die_usage() exits with STATUS_USAGE. The message becomes
 * a "# " diagnostic in a test and a "note" line in a bench.
 */
void die(const char *fmt, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
void die_errno(const char *fmt, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
void die_usage(const char *fmt, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

/* How die() and diag() prefix their lines: "note " (default) or "# ". */
void diag_prefix(const char *prefix);
void diag(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Whole small files (sysfs, proc). The write functions die on any error. */
void write_file(const char *path, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
bool try_write_file(const char *path, const char *text);
/* Reads at most size - 1 bytes, terminates; returns the length, -1 on error. */
ssize_t read_file(const char *path, char *buf, size_t size);
/* A file that holds one unsigned number; dies when it does not. */
unsigned long read_number(const char *path);

/* mmap of private anonymous read-write memory; at != NULL: exactly there. */
void *map_anon(void *at, size_t len);
void *map_or_die(void *at, size_t len, int prot, int flags, int fd, off_t off);
void unmap(void *addr, size_t len);

/*
 * fork() that dies on error. The harness kills what is left of a case's
 * process group, so a child that hangs does not survive its case.
 */
pid_t fork_child(void);
/* Wait for a forked child; dies (naming signal or status) unless it exited 0. */
void wait_child(pid_t pid, const char *what);

/* Sleep in virtual time. */
void sleep_ms(unsigned int ms);
/* The monotonic clock. */
long now_ms(void);

#endif
