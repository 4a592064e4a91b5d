// SPDX-License-Identifier: GPL-2.0
/* A region of the counting plugin for each program. */
#include "main.h"
#include "run/marker_table.h"

#define REGIONS	2048	/* the last region counts all programs beyond that */

MARKER_TABLE(region_starts, QUIRE_OP_START, REGIONS);
MARKER_TABLE(region_stops, QUIRE_OP_STOP, REGIONS);

static unsigned int region(unsigned int number)
{
	return number < REGIONS ? number : REGIONS - 1;
}

void region_begin(unsigned int number)
{
	marker_call(region_starts, region(number));
}

void region_end(unsigned int number)
{
	marker_call(region_stops, region(number));
}

void regions_arm(void)
{
	quire_arm();
}
