/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The 8-byte words that the kernel stores into page tables. Which frames are
 * page tables only the guest knows, and it says so when the region has ended
 * (op 5); until then all stores are kept, by region, frame and symbol.
 */
#ifndef QUIRE_TABLES_H
#define QUIRE_TABLES_H

#include "qemu_plugin_api.h"
#include "symbols.h"
#include "tally.h"

void tables_start(unsigned int id);
void tables_stop(void);

/* A store within the region. @sym may be NULL. */
void tables_store(qemu_plugin_meminfo_t info, uint64_t addr, unsigned int size,
		  struct symbol *sym);

/* Takes the next 12 bits, low ones first, of a page table's frame number. */
void tables_spell(unsigned int bits);

/* False if a frame number is incomplete. */
bool tables_spelt(void);

/* Adds the words stored within the runs of region @id to the tally of them. */
void tables_add(unsigned int id, struct tally *sum,
		const struct fixed_cells *fixed);

#endif
