// SPDX-License-Identifier: GPL-2.0
/*
 * A region of the counting plugin for each program. A marker contains its
 * region, so there is a table with a marker for each region, each followed by a
 * return.
 */
#include "arch/arch.h"
#include "main.h"
#include "run/marker.h"

#define REGIONS	2048	/* the last region counts all programs beyond that */

#define TEXT(number)	#number
#define NUMBER(number)	TEXT(number)

#define TABLE(name, op)							\
	asm(".pushsection .text\n"					\
	    "\t.balign " NUMBER(ARCH_MARKER_AND_RETURN) "\n"		\
	    #name ":\n"							\
	    "\t.set number, 0\n"					\
	    "\t.rept " NUMBER(REGIONS) "\n"				\
	    "\t" QUIRE_MARKER(NUMBER(op) " << 12 | number") "\n"	\
	    "\t" ARCH_RETURN "\n"					\
	    "\t.set number, number + 1\n"				\
	    "\t.endr\n"							\
	    "\t.popsection")

TABLE(region_starts, QUIRE_OP_START);
TABLE(region_stops, QUIRE_OP_STOP);

extern const char region_starts[][ARCH_MARKER_AND_RETURN];
extern const char region_stops[][ARCH_MARKER_AND_RETURN];

static void call(const char (*table)[ARCH_MARKER_AND_RETURN],
		 unsigned int number)
{
	((void (*)(void))table[number < REGIONS ? number : REGIONS - 1])();
}

void region_begin(unsigned int number)
{
	call(region_starts, number);
}

void region_end(unsigned int number)
{
	call(region_stops, number);
}

void regions_arm(void)
{
	quire_arm();
}
