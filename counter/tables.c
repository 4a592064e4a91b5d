// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "map.h"
#include "tables.h"
#include "util.h"

#define WORD_BYTES	8
#define PAGE_SHIFT	12
#define UPPER_HALF	(1ULL << 63)
#define SPELL_BITS	12
#define FRAME_BITS	36	/* three markers */
#define KEY_FRAME_BITS	32
#define KEY_SYMBOL_BITS	20	/* the region has the other twelve */
#define CACHE_ENTRIES	1024

/*
 * Recent stores, not yet in `words`. The kernel maps a frame at one address of
 * the upper half for as long as it is a page table.
 */
static struct recent {
	uint64_t page;		/* virtual */
	unsigned int symbol;
	uint64_t frame;
	uint64_t words;
} recent[CACHE_ENTRIES];

static struct map words;	/* by key_of() */
static struct map named;	/* by frame number + 1 */
static unsigned int region;
static uint64_t spelling;
static unsigned int spelt_bits;

static uint64_t key_of(unsigned int id, unsigned int symbol, uint64_t frame)
{
	return (((uint64_t)id << KEY_SYMBOL_BITS) + symbol) << KEY_FRAME_BITS |
	       frame;
}

static void write_back(struct recent *r)
{
	if (r->words)
		*map_at(&words, key_of(region, r->symbol, r->frame)) += r->words;
	r->words = 0;
}

void tables_start(unsigned int id)
{
	memset(recent, 0, sizeof(recent));
	region = id;
}

void tables_stop(void)
{
	for (unsigned int i = 0; i < CACHE_ENTRIES; i++)
		write_back(&recent[i]);
}

/* False if the address is not in memory. */
static bool find_frame(qemu_plugin_meminfo_t info, uint64_t addr,
		       uint64_t *frame)
{
	const struct qemu_plugin_hwaddr *where =
		qemu_plugin_get_hwaddr(info, addr);

	if (!where || qemu_plugin_hwaddr_is_io(where))
		return false;
	*frame = qemu_plugin_hwaddr_phys_addr(where) >> PAGE_SHIFT;
	return !(*frame >> KEY_FRAME_BITS);
}

void tables_store(qemu_plugin_meminfo_t info, uint64_t addr, unsigned int size,
		  struct symbol *sym)
{
	uint64_t page = addr >> PAGE_SHIFT, frame;
	unsigned int symbol = symbol_number(sym);
	struct recent *r = &recent[(page + 37 * symbol) % CACHE_ENTRIES];

	if (addr < UPPER_HALF || size < WORD_BYTES || addr % WORD_BYTES)
		return;
	if (r->page != page || r->symbol != symbol) {
		if (!find_frame(info, addr, &frame))
			return;
		write_back(r);
		*r = (struct recent) { page, symbol, frame, 0 };
	}
	r->words += size / WORD_BYTES;
}

void tables_spell(unsigned int bits)
{
	spelling |= (uint64_t)bits << spelt_bits;
	spelt_bits += SPELL_BITS;
	if (spelt_bits < FRAME_BITS)
		return;
	*map_at(&named, spelling + 1) = 1;
	spelling = 0;
	spelt_bits = 0;
}

bool tables_spelt(void)
{
	return !spelt_bits;
}

static void add(struct tally *sum, const struct fixed_cells *fixed,
		const struct map_entry *entry)
{
	uint64_t frame = entry->key & ((1ULL << KEY_FRAME_BITS) - 1);
	unsigned int number = entry->key >> KEY_FRAME_BITS &
			      ((1U << KEY_SYMBOL_BITS) - 1);
	struct symbol *sym = symbol_numbered(number);

	if (!*map_at(&named, frame + 1))
		return;
	tally_raise(sum, fixed->events[KIND_TABLE_WORDS], entry->value);
	if (sym)
		tally_raise(sum, symbol_event(sym, KIND_TABLE_WORDS),
			    entry->value);
}

void tables_add(unsigned int id, struct tally *sum,
		const struct fixed_cells *fixed)
{
	for (size_t i = 0; i < words.room; i++) {
		const struct map_entry *entry = &words.entries[i];

		if (entry->key && entry->key >> (64 - SPELL_BITS) == id)
			add(sum, fixed, entry);
	}
}
