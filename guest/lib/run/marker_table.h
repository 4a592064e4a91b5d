/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Markers with a payload that is known only at run time. A marker contains its
 * payload, so there is a table with a marker for each, followed by a return.
 */
#ifndef QUIRE_RUN_MARKER_TABLE_H
#define QUIRE_RUN_MARKER_TABLE_H

#include "arch/arch.h"
#include "run/marker.h"

#define MARKER_TEXT(number)	#number
#define MARKER_NUMBER(number)	MARKER_TEXT(number)

typedef const char marker_table[][ARCH_MARKER_AND_RETURN];

/* Defines the table `name` of `count` markers of that operation. */
#define MARKER_TABLE(name, op, count)					\
	asm(".pushsection .text\n"					\
	    "\t.balign " MARKER_NUMBER(ARCH_MARKER_AND_RETURN) "\n"	\
	    #name ":\n"							\
	    "\t.set number, 0\n"					\
	    "\t.rept " MARKER_NUMBER(count) "\n"			\
	    "\t" QUIRE_MARKER(MARKER_NUMBER(op) " << 12 | number") "\n"	\
	    "\t" ARCH_RETURN "\n"					\
	    "\t.set number, number + 1\n"				\
	    "\t.endr\n"							\
	    "\t.popsection");						\
	extern marker_table name

/* Executes the table's marker with that payload. */
static inline void marker_call(marker_table table, unsigned int payload)
{
	((void (*)(void))table[payload])();
}

#endif
