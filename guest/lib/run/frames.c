// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "proc/pagemap.h"
#include "report/die.h"
#include "run/frames.h"
#include "run/marker_table.h"

#define FLAGS_FILE	"/proc/kpageflags"

/* A frame number is spelt in three payloads of twelve bits, low ones first. */
#define PAYLOAD_BITS	12
#define PAYLOADS	4096
#define FRAME_BITS	36

MARKER_TABLE(frame_markers, QUIRE_OP_TABLE, PAYLOADS);

static void name(uint64_t frame)
{
	unsigned int bit;

	for (bit = 0; bit < FRAME_BITS; bit += PAYLOAD_BITS)
		marker_call(frame_markers, frame >> bit & (PAYLOADS - 1));
}

/* The plugin's frames have 4 KiB. */
static void name_page(uint64_t page)
{
	uint64_t frame = page * PAGE_SCALE, end = frame + PAGE_SCALE;

	for (; frame < end; frame++)
		name(frame);
}

bool frames_wanted(void)
{
	const char *value = getenv("quire_lines");

	return value && !strcmp(value, "on");
}

void frames_name_tables(void)
{
	uint64_t flags[2048], page = 0;
	ssize_t got, i;
	int fd;

	if (!frames_wanted())
		return;
	fd = open(FLAGS_FILE, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die_errno("cannot open " FLAGS_FILE);
	while ((got = read(fd, flags, sizeof(flags))) > 0) {
		for (i = 0; i < got / (ssize_t)sizeof(*flags); i++, page++)
			if (flags[i] & KPF_PGTABLE)
				name_page(page);
	}
	if (got < 0)
		die_errno("cannot read " FLAGS_FILE);
	close(fd);
}
