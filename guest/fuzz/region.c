// SPDX-License-Identifier: GPL-2.0
/*
 * A region of the counting plugin for each program. A marker's region is part
 * of the instruction: there is one for each, with a return behind it, in a table.
 */
#include "arch/arch.h"
#include "main.h"
#include "run/marker.h"

#define REGIONS	2048	/* more programs than that are counted by the last */

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
