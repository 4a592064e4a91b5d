/* SPDX-License-Identifier: GPL-2.0 */
/* Sizes of memory, and two macros that every file needs. */
#ifndef QUIRE_UNITS_H
#define QUIRE_UNITS_H

#define KIB		1024ul
#define MIB		(1024ul * KIB)
#define GIB		(1024ul * MIB)
#define PAGE_SIZE	4096ul
#define PMD_SIZE	(2 * MIB)

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define ALIGN_UP(x, a)	(((x) + (a) - 1) / (a) * (a))

#endif
