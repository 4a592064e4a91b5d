// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "regions.h"
#include "spans.h"
#include "symbols.h"
#include "util.h"

#define MAX_REGIONS	4096	/* twelve bits of a marker's payload */

struct region {
	uint64_t runs;
	bool open;
	unsigned int n_before;	/* the number of cells at the last start */
	unsigned int n_sum;
	uint64_t *before;	/* their values then */
	uint64_t *sum;		/* increase of the cells in all runs so far */
	struct span_tally spans;
	struct region *next_open;
};

static struct region *regions[MAX_REGIONS];
static struct region *open_regions;
static char trouble[256];

void fixed_cells_init(struct fixed_cells *fixed)
{
	fixed->user = cell_new();
	fixed->other = cell_new();
	fixed->rep = cell_new();
	for (int i = 0; i < TLB_CLASSES; i++)
		fixed->tlb[i] = cell_new();
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

void region_start(unsigned int id)
{
	struct region *r = regions[id];
	unsigned int n = cells_count();

	if (!r)
		r = regions[id] = xcalloc(1, sizeof(*r));
	if (r->open) {
		regions_spoil("region %u was started twice without a stop", id);
		return;
	}
	if (n > r->n_before)
		r->before = xrealloc(r->before, n * sizeof(*r->before));
	r->n_before = n;
	cells_read(r->before, n);
	r->open = true;
	r->next_open = open_regions;
	open_regions = r;
}

static void remove_open(struct region *r)
{
	struct region **link = &open_regions;

	while (*link != r)
		link = &(*link)->next_open;
	*link = r->next_open;
	r->open = false;
}

/* The values of all cells, valid until the next call. */
static const uint64_t *cells_now(void)
{
	static uint64_t *values;
	static unsigned int room;
	unsigned int n = cells_count();

	if (n > room) {
		values = xrealloc(values, n * sizeof(*values));
		room = n;
	}
	cells_read(values, n);
	return values;
}

static uint64_t all_insns(const struct fixed_cells *fixed,
			  const uint64_t *values)
{
	return values[fixed->user] + values[fixed->other] +
	       symbols_insns(values);
}

void regions_enter_symbol(const struct symbol *sym,
			  const struct fixed_cells *fixed)
{
	for (struct region *r = open_regions; r; r = r->next_open) {
		span_set_t which = spans_changing(&r->spans, sym);

		/* Reading all cells is expensive. */
		if (which)
			spans_switch(&r->spans, which,
				     all_insns(fixed, cells_now()));
	}
}

/* Cells created since the last stop had no increase before it. */
static void grow_sum(struct region *r, unsigned int n)
{
	r->sum = xrealloc(r->sum, n * sizeof(*r->sum));
	memset(r->sum + r->n_sum, 0, (n - r->n_sum) * sizeof(*r->sum));
	r->n_sum = n;
}

void region_stop(unsigned int id, const struct fixed_cells *fixed)
{
	struct region *r = regions[id];
	unsigned int n = cells_count();
	const uint64_t *now;

	if (!r || !r->open) {
		regions_spoil("region %u was stopped without a start", id);
		return;
	}
	if (n > r->n_sum)
		grow_sum(r, n);
	now = cells_now();
	for (unsigned int i = 0; i < n; i++)
		r->sum[i] += now[i] - (i < r->n_before ? r->before[i] : 0);
	spans_switch(&r->spans, r->spans.open, all_insns(fixed, now));
	remove_open(r);
	r->runs++;
}

static uint64_t gained(const struct region *r, cell_t cell)
{
	return cell < r->n_sum ? r->sum[cell] : 0;
}

/* Static functions of the same name share a line. */
static uint64_t write_symbols(FILE *out, unsigned int id,
			      const struct region *r, bool write)
{
	struct symbol **list;
	unsigned int n = symbols_counted(&list), i = 0;
	uint64_t total = 0;

	while (i < n) {
		const char *name = list[i]->name;
		uint64_t insns = 0, calls = 0;

		for (; i < n && !strcmp(list[i]->name, name); i++) {
			insns += gained(r, list[i]->insns);
			calls += gained(r, list[i]->calls);
		}
		total += insns;
		if (write && (insns || calls))
			fprintf(out, "sym %u %s %" PRIu64 " %" PRIu64 "\n",
				id, name, insns, calls);
	}
	return total;
}

static void write_region(FILE *out, unsigned int id, const struct region *r,
			 const struct target *target,
			 const struct fixed_cells *fixed)
{
	uint64_t user = gained(r, fixed->user);
	uint64_t other = gained(r, fixed->other);
	uint64_t kernel = other + write_symbols(out, id, r, false);

	fprintf(out, "region %u runs %" PRIu64 " insns %" PRIu64
		" user %" PRIu64 " kernel %" PRIu64 " other %" PRIu64 "\n",
		id, r->runs, user + kernel, user, kernel, other);
	for (int i = 0; i < TLB_CLASSES && target->tlb_class[i]; i++)
		fprintf(out, "tlb %u %s %" PRIu64 "\n", id,
			target->tlb_class[i], gained(r, fixed->tlb[i]));
	spans_write(out, id, &r->spans);
	write_symbols(out, id, r, true);
}

void regions_write(FILE *out, const struct target *target,
		   const struct fixed_cells *fixed)
{
	fprintf(out, "quire-count 1 %s\n", target->name);
	for (unsigned int id = 0; id < MAX_REGIONS; id++) {
		const struct region *r = regions[id];

		if (!r)
			continue;
		if (r->open)
			regions_spoil("region %u was started and never stopped",
				      id);
		/*
		 * A string instruction that the translator itself repeats is
		 * executed once and accesses memory many times.
		 */
		if ((int64_t)gained(r, fixed->rep) < 0)
			regions_spoil("rep instructions cannot be counted without -icount");
		write_region(out, id, r, target, fixed);
	}
	if (trouble[0])
		fprintf(out, "error %s\n", trouble);
	else
		fputs("end\n", out);
}
