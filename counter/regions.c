// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "caches.h"
#include "lines.h"
#include "locks.h"
#include "regions.h"
#include "spans.h"
#include "stream.h"
#include "tables.h"
#include "util.h"

#define MAX_REGIONS	4096	/* twelve bits of a marker's payload */

struct region {
	uint64_t runs;
	bool open;
	struct tally before;	/* at the last start */
	struct tally sum;	/* increase in all runs so far, on all vCPUs */
	unsigned int vcpu;	/* that runs it */
	struct tally left;	/* when another began to run, with cpus=on */
	struct tally others;	/* increase while others ran */
	struct span_tally spans;
	struct region *next_open;
};

static const struct report *report;
static unsigned int totals;	/* count the cells below it; if zero, all */
static struct region *regions[MAX_REGIONS];
static struct region *open_regions;
static char trouble[256];

void regions_init(const struct report *how, unsigned int below)
{
	report = how;
	totals = below;
}

void regions_spoil(const char *fmt, ...)
{
	va_list args;

	if (trouble[0])
		return;
	va_start(args, fmt);
	vsnprintf(trouble, sizeof(trouble), fmt, args);
	va_end(args);
	complain("%s", trouble);
}

static void read_cells(struct tally *tally)
{
	tally_now(tally, totals ? totals : cells_count());
}

void region_start(unsigned int id, unsigned int vcpu)
{
	struct region *r = regions[id];

	if (!r)
		r = regions[id] = xcalloc(1, sizeof(*r));
	if (r->open) {
		regions_spoil("region %u was started twice without a stop", id);
		return;
	}
	if (open_regions && report->lines) {
		regions_spoil("region %u was started within another, which lines=on cannot count",
			      id);
		return;
	}
	r->open = true;
	r->vcpu = vcpu;
	r->next_open = open_regions;
	open_regions = r;
	read_cells(&r->before);
	if (report->lines)
		lines_start(id);
	caches_start();
}

void regions_switch(unsigned int from, unsigned int to)
{
	static struct tally now;	/* static: keeps its room */

	for (struct region *r = open_regions; r; r = r->next_open) {
		if (from == r->vcpu) {
			read_cells(&r->left);
		} else if (to == r->vcpu) {
			read_cells(&now);
			tally_subtract(&now, &r->left);
			tally_add(&r->others, &now);
		}
	}
}

static void remove_open(struct region *r)
{
	struct region **link = &open_regions;

	while (*link != r)
		link = &(*link)->next_open;
	*link = r->next_open;
	r->open = false;
}

static uint64_t all_insns(void)
{
	return cell_value(report->fixed.user) +
	       cell_value(report->fixed.other) + cells_sum();
}

void regions_enter_symbol(const struct symbol *sym)
{
	for (struct region *r = open_regions; r; r = r->next_open) {
		span_set_t which = spans_changing(&r->spans, sym);

		/* all_insns() is expensive. */
		if (which)
			spans_switch(&r->spans, which, all_insns());
	}
}

void region_stop(unsigned int id, unsigned int vcpu)
{
	static struct tally run;	/* static: keeps its room */
	struct region *r = regions[id];

	if (!r || !r->open) {
		regions_spoil("region %u was stopped without a start", id);
		return;
	}
	if (report->cpus && r->vcpu != vcpu)
		regions_spoil("region %u was started on CPU %u and stopped on CPU %u",
			      id, r->vcpu, vcpu);
	if (report->lines)
		lines_stop();
	read_cells(&run);
	if (r->spans.open)
		spans_switch(&r->spans, r->spans.open, all_insns());
	tally_subtract(&run, &r->before);
	tally_add(&r->sum, &run);
	remove_open(r);
	r->runs++;
	stream_stop(report, id, &run);
}

static void write_region(FILE *out, unsigned int id, struct region *r)
{
	if (r->open)
		regions_spoil("region %u was started and never stopped", id);
	/*
	 * A string instruction that the translator itself repeats is executed
	 * once and accesses memory many times.
	 */
	if ((int64_t)tally_of(&r->sum, report->fixed.rep) < 0)
		regions_spoil("rep instructions cannot be counted without -icount");
	if (!tables_spelt())
		regions_spoil("the last page table's frame number is incomplete");
	tables_add(id, &r->sum, &report->fixed);
	tally_subtract(&r->sum, &r->others);
	report_totals(out, report, id, r->runs, &r->sum);
	spans_write(out, id, &r->spans);
	if (!totals) {
		report_symbols(out, report, id, &r->sum);
		locks_write(out, id, &r->sum);
	}
}

/* As a region of its own: what other CPUs did within region @id. */
static void write_others(FILE *out, unsigned int id, const struct region *r)
{
	report_totals(out, report, MAX_REGIONS + id, r->runs, &r->others);
	if (!totals)
		report_symbols(out, report, MAX_REGIONS + id, &r->others);
}

void regions_write(FILE *out)
{
	fprintf(out, "quire-count 2 %s\n", report->target->name);
	symbols_sort();
	for (unsigned int id = 0; id < MAX_REGIONS; id++)
		if (regions[id])
			write_region(out, id, regions[id]);
	for (unsigned int id = 0; report->cpus && id < MAX_REGIONS; id++)
		if (regions[id])
			write_others(out, id, regions[id]);
	if (trouble[0])
		fprintf(out, "error %s\n", trouble);
	else
		fputs("end\n", out);
}
