// SPDX-License-Identifier: GPL-2.0
/*
 * A region of the counting plugin for each program. A marker's region is part
 * of the instruction: there is one for each, with a return behind it, in a table.
 */
#include "main.h"
#include "run/marker.h"

#define REGIONS 2048u	/* more programs than that are counted by the last */

#if defined(__aarch64__)
#define MARK(op)	".inst 0xd2e0001f | ((" #op " << 12 | number) << 5)\n\tret"
#else
#define MARK(op)	".byte 0x0f, 0x1f, 0x80\n\t" \
			".long 0x51550000 | (" #op " << 12 | number)\n\tret"
#endif

#define TABLE(name, op)						\
	asm(".pushsection .text\n"				\
	    "\t.balign 8\n" #name ":\n"				\
	    "\t.set number, 0\n"				\
	    "\t.rept 2048\n"					\
	    "\t" MARK(op) "\n"					\
	    "\t.set number, number + 1\n"			\
	    "\t.endr\n"						\
	    "\t.popsection");					\
	extern const char name[][8]

TABLE(region_starts, 1);
TABLE(region_stops, 2);

static void call(const char (*table)[8], unsigned int number)
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
