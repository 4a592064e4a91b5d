// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "stream.h"
#include "util.h"

#define BUFFER_BYTES	(1 << 20)

static FILE *stream;
static const char *stream_path;
static bool with_symbols;

static struct watched {
	const char *name;	/* adjacent entries may share it */
	const struct symbol *symbol;
} *watched;
static size_t n_watched;

static void watch(const char *name, struct symbol *sym)
{
	symbol_need_cells(sym);
	watched = xrealloc(watched, (n_watched + 1) * sizeof(*watched));
	watched[n_watched++] = (struct watched) { name, sym };
}

bool stream_watch(const char *path)
{
	return names_load("watch", path, watch);
}

bool stream_open(const char *path, bool detail)
{
	stream = fopen(path, "w");
	if (!stream) {
		complain("cannot open stream=%s: %s", path, strerror(errno));
		return false;
	}
	setvbuf(stream, NULL, _IOFBF, BUFFER_BYTES);
	stream_path = path;
	with_symbols = detail;
	return true;
}

static void write_calls(const struct tally *run)
{
	for (size_t i = 0; i < n_watched; ) {
		const char *name = watched[i].name;
		uint64_t calls = 0;

		for (; i < n_watched && watched[i].name == name; i++)
			calls += tally_of(run, watched[i].symbol->calls);
		if (calls)
			fprintf(stream, " %s=%" PRIu64, name, calls);
	}
}

void stream_stop(const struct report *report, unsigned int id,
		 const struct tally *run)
{
	uint64_t user, kernel;

	if (!stream)
		return;
	user = tally_of(run, report->fixed.user);
	kernel = tally_kernel(run, &report->fixed);
	fprintf(stream, "stop %u insns %" PRIu64 " user %" PRIu64
		" kernel %" PRIu64, id, user + kernel, user, kernel);
	report_nonzero(stream, report, run);
	write_calls(run);
	fputc('\n', stream);
	if (with_symbols)
		report_symbols(stream, report, id, run);
}

void stream_close(void)
{
	if (stream && (ferror(stream) | fclose(stream)))
		complain("cannot write stream=%s: %s", stream_path,
			 strerror(errno));
	stream = NULL;
}
