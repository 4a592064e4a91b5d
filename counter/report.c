// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <string.h>

#include "report.h"
#include "symbols.h"

/* The name of a kind of events, or NULL if it is not in use. */
static const char *kind_name(const struct report *report, int kind)
{
	static const char *const names[] = {
		[KIND_LINES_READ] = "lines_read",
		[KIND_LINES_WRITTEN] = "lines_written",
		[KIND_TABLE_WORDS] = "table_words",
		[KIND_L2_HITS] = "l2_hits",
		[KIND_LLC_HITS] = "llc_hits",
		[KIND_MEMORY] = "memory",
		[KIND_STREAMED] = "streamed",
	};

	if (kind < EVENT_KINDS)
		return report->target->event[kind];
	if (kind <= KIND_TABLE_WORDS)
		return report->lines ? names[kind] : NULL;
	return report->caches ? names[kind] : NULL;
}

void report_totals(FILE *out, const struct report *report, unsigned int id,
		   uint64_t runs, const struct tally *tally)
{
	const struct fixed_cells *fixed = &report->fixed;
	const struct target *target = report->target;
	uint64_t user = tally_of(tally, fixed->user);
	uint64_t kernel = tally_kernel(tally, fixed);

	fprintf(out, "region %u runs %" PRIu64 " insns %" PRIu64
		" user %" PRIu64 " kernel %" PRIu64 " other %" PRIu64 "\n",
		id, runs, user + kernel, user, kernel,
		tally_of(tally, fixed->other));
	for (int i = 0; i < TLB_CLASSES && target->tlb_class[i]; i++)
		fprintf(out, "tlb %u %s %" PRIu64 "\n", id,
			target->tlb_class[i], tally_of(tally, fixed->tlb[i]));
	for (int i = 0; i < ALL_KINDS; i++)
		if (kind_name(report, i))
			fprintf(out, "event %u %s %" PRIu64 "\n", id,
				kind_name(report, i),
				tally_of(tally, fixed->events[i]));
}

static void pair(FILE *out, const char *name, uint64_t n)
{
	if (n && name)
		fprintf(out, " %s=%" PRIu64, name, n);
}

void report_nonzero(FILE *out, const struct report *report,
		    const struct tally *tally)
{
	const struct fixed_cells *fixed = &report->fixed;
	const struct target *target = report->target;

	for (int i = 0; i < TLB_CLASSES && target->tlb_class[i]; i++)
		pair(out, target->tlb_class[i], tally_of(tally, fixed->tlb[i]));
	for (int i = 0; i < ALL_KINDS; i++)
		pair(out, kind_name(report, i),
		     tally_of(tally, fixed->events[i]));
}

/* The counts of all functions of one name. */
struct line {
	uint64_t insns;
	uint64_t calls;
	uint64_t events[ALL_KINDS];
};

static void add_symbol(struct line *line, const struct symbol *sym,
		       const struct tally *tally)
{
	line->insns += tally_of(tally, sym->insns);
	line->calls += tally_of(tally, sym->calls);
	for (int i = 0; i < ALL_KINDS; i++)
		if (sym->events[i].used)
			line->events[i] += tally_of(tally, sym->events[i].cell);
}

void report_symbols(FILE *out, const struct report *report, unsigned int id,
		    const struct tally *tally)
{
	struct symbol **list;
	unsigned int n = symbols_counted(&list), i = 0;

	while (i < n) {
		const char *name = list[i]->name;
		struct line line = { 0 };

		for (; i < n && !strcmp(list[i]->name, name); i++)
			add_symbol(&line, list[i], tally);
		if (!line.insns && !line.calls)
			continue;
		fprintf(out, "sym %u %s %" PRIu64 " %" PRIu64, id, name,
			line.insns, line.calls);
		for (int k = 0; k < ALL_KINDS; k++)
			pair(out, kind_name(report, k), line.events[k]);
		fputc('\n', out);
	}
}
