// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "caches.h"
#include "util.h"

#define LINE_BYTES	64
#define PAGE_LINES	64	/* prefetchers stay within a page */
#define PAGE_SHIFT	12
#define UPPER_HALF	(1ULL << 63)
#define PAGES		4096	/* translations of the kernel's pages */
#define STREAMS		16
#define ALONG		2	/* misses in a row before a prefetcher helps */
#define NEAR		3	/* lines: so far out of order compilers load what they know to be there */

/* Each set has its lines' numbers + 1, the latest first; 0: an empty way. */
struct level {
	unsigned int sets;
	unsigned int ways;
	uint64_t *lines;
};

struct core {
	struct level l1, l2;
	/* Misses in lines that follow each other, upwards or downwards. */
	struct stream {
		uint64_t line;
		unsigned int length;
	} streams[STREAMS];
	unsigned int oldest;
};

static const struct fixed_cells *totals;
static bool empties;
static unsigned int n_cores;
static struct core *cores;
static struct level llc;
static struct {
	uint64_t page;		/* virtual, 0: empty */
	uint64_t frame;
} translations[PAGES];

static void empty(struct level *level)
{
	memset(level->lines, 0, (size_t)level->sets * level->ways *
				sizeof(*level->lines));
}

static void create(struct level *level, const struct level *like)
{
	*level = *like;
	level->lines = xcalloc((size_t)level->sets * level->ways,
			       sizeof(*level->lines));
}

static uint64_t *set_of(const struct level *level, uint64_t line)
{
	return level->lines + line % level->sets * level->ways;
}

/* Is the line there? It is the set's latest afterwards. */
static bool look_up(struct level *level, uint64_t line)
{
	uint64_t *set = set_of(level, line);
	unsigned int i = 0;
	bool found;

	while (i < level->ways - 1 && set[i] != line + 1)
		i++;
	found = set[i] == line + 1;
	memmove(set + 1, set, i * sizeof(*set));
	set[0] = line + 1;
	return found;
}

static void remove_line(struct level *level, uint64_t line)
{
	uint64_t *set = set_of(level, line);

	for (unsigned int i = 0; i < level->ways; i++)
		if (set[i] == line + 1)
			set[i] = 0;
}

/* Does the line continue a stream of misses, which a prefetcher follows? */
static bool streams(struct core *core, uint64_t line)
{
	struct stream *stream;
	uint64_t distance;

	for (unsigned int i = 0; i < STREAMS; i++) {
		stream = &core->streams[i];
		distance = line > stream->line ? line - stream->line : stream->line - line;
		if (stream->line / PAGE_LINES == line / PAGE_LINES && distance <= NEAR) {
			stream->line = line;
			return ++stream->length > ALONG;
		}
	}
	core->streams[core->oldest] = (struct stream) { line, 1 };
	core->oldest = (core->oldest + 1) % STREAMS;
	return false;
}

/* Where a line is found that is not in the first level. */
static int find(struct core *core, uint64_t line)
{
	bool shared;

	if (look_up(&core->l2, line))
		return KIND_L2_HITS;
	shared = look_up(&llc, line);
	if (streams(core, line))
		return KIND_STREAMED;
	return shared ? KIND_LLC_HITS : KIND_MEMORY;
}

static void touch(unsigned int vcpu, uint64_t line, bool store,
		  struct symbol *sym)
{
	struct core *core = &cores[vcpu];

	if (!look_up(&core->l1, line)) {
		int kind = find(core, line);

		cell_add(totals->events[kind], 1);
		if (sym)
			cell_add(symbol_event(sym, kind), 1);
	}
	for (unsigned int i = 0; store && n_cores > 1 && i < n_cores; i++) {
		if (i == vcpu)
			continue;
		remove_line(&cores[i].l1, line);
		remove_line(&cores[i].l2, line);
	}
}

static bool translate(qemu_plugin_meminfo_t info, uint64_t addr,
		      uint64_t *frame)
{
	const struct qemu_plugin_hwaddr *where =
		qemu_plugin_get_hwaddr(info, addr);

	if (!where || qemu_plugin_hwaddr_is_io(where))
		return false;
	*frame = qemu_plugin_hwaddr_phys_addr(where) >> PAGE_SHIFT;
	return true;
}

/* The kernel maps its pages for long; a user's page may get another frame. */
static bool frame_of(qemu_plugin_meminfo_t info, uint64_t addr,
		     uint64_t *frame)
{
	uint64_t page = addr >> PAGE_SHIFT;

	if (addr < UPPER_HALF)
		return translate(info, addr, frame);
	if (translations[page % PAGES].page != page) {
		if (!translate(info, addr, frame))
			return false;
		translations[page % PAGES].page = page;
		translations[page % PAGES].frame = *frame;
	}
	*frame = translations[page % PAGES].frame;
	return true;
}

static void on_access(unsigned int vcpu, qemu_plugin_meminfo_t info,
		      uint64_t addr, void *udata)
{
	unsigned int size = 1u << qemu_plugin_mem_size_shift(info);
	unsigned int in_page = addr % (1u << PAGE_SHIFT);
	bool store = qemu_plugin_mem_is_store(info);
	uint64_t frame, line;

	if (!frame_of(info, addr, &frame))
		return;
	line = frame * PAGE_LINES + in_page / LINE_BYTES;
	touch(vcpu, line, store, udata);
	/* What crosses into another page is rare and counts as its first line. */
	if (in_page % LINE_BYTES + size > LINE_BYTES &&
	    in_page + size <= 1u << PAGE_SHIFT)
		touch(vcpu, line + 1, store, udata);
}

void caches_watch(struct qemu_plugin_insn *insn, struct symbol *sym)
{
	if (n_cores)
		qemu_plugin_register_vcpu_mem_cb(insn, on_access,
						 QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, sym);
}

void caches_start(void)
{
	if (!empties)
		return;
	for (unsigned int i = 0; i < n_cores; i++) {
		empty(&cores[i].l1);
		empty(&cores[i].l2);
		memset(cores[i].streams, 0, sizeof(cores[i].streams));
	}
	empty(&llc);
}

static bool read_level(FILE *file, const char *name, struct level *level)
{
	unsigned int bytes;
	char found[8];

	if (fscanf(file, " %7s %u %u", found, &bytes, &level->ways) != 3 ||
	    strcmp(found, name) || !level->ways)
		return false;
	level->sets = bytes / LINE_BYTES / level->ways;
	return level->sets;
}

bool caches_load(const char *path, unsigned int cpus, bool cold,
		 const struct fixed_cells *fixed)
{
	struct level l1, l2, last;
	FILE *file = fopen(path, "r");
	bool good;

	if (!file) {
		complain("cannot open caches=%s: %s", path, strerror(errno));
		return false;
	}
	good = read_level(file, "l1d", &l1) && read_level(file, "l2", &l2) &&
	       read_level(file, "llc", &last);
	fclose(file);
	if (!good) {
		complain("caches=%s: expected lines \"NAME BYTES WAYS\" of l1d, l2, llc",
			 path);
		return false;
	}
	totals = fixed;
	empties = cold;
	n_cores = cpus;
	cores = xcalloc(cpus, sizeof(*cores));
	for (unsigned int i = 0; i < cpus; i++) {
		create(&cores[i].l1, &l1);
		create(&cores[i].l2, &l2);
	}
	create(&llc, &last);
	return true;
}
