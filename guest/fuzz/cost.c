// SPDX-License-Identifier: GPL-2.0
/*
 * What each operation costs. Around each one, and around the reads and the
 * writes at the end, is region 0 of the counting plugin, which writes a line
 * whenever the region stops. The record says which line belongs to which
 * operation:
 *
 *	c <stop>	the operation before was the plugin's line <stop>, from 0
 */
#include "fuzz.h"
#include "kernel/env.h"
#include "main.h"

#define REGION_COST	0u

static bool counting;

void costs_arm(void)
{
	counting = true;
	regions_arm();
}

void cost_settle(void)
{
	/* An exit is counted in main, and its actor must not delay it. */
	if (!counting || arena->open)
		return;
	/* How full the LRU's batches are depends on what went before. */
	env_drain_lru();
	env_after_tick();
}

bool cost_begin(void)
{
	if (!counting || arena->open)
		return false;
	arena->open = true;
	region_begin(REGION_COST);
	return true;
}

void cost_end(bool begun)
{
	/* Main may have given up. */
	if (!begun || !arena->open)
		return;
	region_end(REGION_COST);
	arena->open = false;
	arena->stops++;
}

unsigned int cost_last(void)
{
	return arena->stops - 1;
}

/* No line of the record refers to this stop. */
void cost_give_up(void)
{
	cost_end(arena->open);
}
