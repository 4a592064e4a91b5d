// SPDX-License-Identifier: GPL-2.0
/*
 * libquire-count.so: counts what the guest executes between markers.
 *
 * QEMU asks the plugin about every block it translates. Until the guest's arm
 * marker it only looks for markers in user code, which costs next to nothing.
 * Arming resets the plugin: QEMU forgets all translated blocks before the next
 * one is entered and asks again, and now the blocks get counting code.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "qemu_plugin_api.h"
#include "regions.h"
#include "symbols.h"
#include "util.h"

#define UPPER_HALF	(1ULL << 63)	/* kernel addresses, on both targets */
#define GUEST_PAGE	4096

QUIRE_EXPORT int qemu_plugin_version = QUIRE_PLUGIN_API;

static qemu_plugin_id_t plugin_id;
static const struct target *target;
static const char *out_path;
static FILE *out;
static struct fixed_cells fixed;

/* Taken by each callback: several vCPUs may translate and run at a time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool armed;		/* blocks are translated with counting code */
static bool changing;		/* a reset to change that is on its way */

/*
 * Instructions of one cell that execute in a row, counted by one add at the
 * last of them.
 */
struct run {
	struct qemu_plugin_insn *last;
	cell_t cell;
	uint64_t insns;
};

static void run_end(struct run *run)
{
	if (run->insns)
		cell_add_on_exec(run->last, run->cell, run->insns);
	run->insns = 0;
}

static void run_add(struct run *run, struct qemu_plugin_insn *insn, cell_t cell)
{
	if (run->insns && run->cell != cell)
		run_end(run);
	run->last = insn;
	run->cell = cell;
	run->insns++;
}

static void on_reset(qemu_plugin_id_t id);

static void switch_arming(bool on)
{
	bool reset;

	pthread_mutex_lock(&lock);
	reset = armed != on && !changing;
	changing |= reset;
	pthread_mutex_unlock(&lock);
	/* Not under our lock: it takes QEMU's, which on_reset() is called with. */
	if (reset)
		qemu_plugin_reset(plugin_id, on_reset);
}

static void on_marker(unsigned int vcpu, void *udata)
{
	unsigned int payload = (uintptr_t)udata;
	unsigned int op = payload >> 12, id = payload & 0xfff;

	(void)vcpu;
	if (op == MARKER_ARM || op == MARKER_DISARM) {
		switch_arming(op == MARKER_ARM);
		return;
	}
	pthread_mutex_lock(&lock);
	if (!armed || changing)
		regions_spoil("marker of region %u while not armed", id);
	else if (op == MARKER_START)
		region_start(id);
	else
		region_stop(id);
	pthread_mutex_unlock(&lock);
}

/* Markers are not counted themselves. */
static bool take_marker(struct qemu_plugin_insn *insn, uint64_t addr,
			const struct insn_info *info)
{
	unsigned int op = info->payload >> 12;

	if (!info->marker || addr >= UPPER_HALF ||
	    op < MARKER_START || op > MARKER_DISARM)
		return false;
	qemu_plugin_register_vcpu_insn_exec_cb(insn, on_marker,
					       QEMU_PLUGIN_CB_NO_REGS,
					       (void *)(uintptr_t)info->payload);
	return true;
}

static struct insn_info decode(const struct qemu_plugin_insn *insn)
{
	size_t size = qemu_plugin_insn_size(insn);
#if QUIRE_PLUGIN_API == 1
	return target->decode(qemu_plugin_insn_data(insn), size);
#else
	uint8_t code[INSN_MAX_BYTES];

	if (size > sizeof(code))
		size = sizeof(code);
	return target->decode(code, qemu_plugin_insn_data(insn, code, size));
#endif
}

/* Where to count the instruction at @addr; counts the call if it is one. */
static cell_t cell_of(struct qemu_plugin_insn *insn, uint64_t addr)
{
	struct symbol *sym;

	if (addr < UPPER_HALF)
		return fixed.user;
	sym = symbol_at(addr);
	if (!sym)
		return fixed.other;
	if (addr == sym->start)
		cell_add_on_exec(insn, sym->calls, 1);
	return sym->insns;
}

/*
 * QEMU 7.2 mixes up the kinds of access: callbacks registered for loads run
 * after stores, and those for stores after both (op_rw() in its plugin-gen.c).
 */
#if QUIRE_PLUGIN_API == 1
#define AFTER_STORES	QEMU_PLUGIN_MEM_R
#else
#define AFTER_STORES	QEMU_PLUGIN_MEM_W
#endif

/*
 * QEMU executes "rep stosb" once for each iteration, then once more to find
 * the count zero (with -icount, always). So executions less iterations are the
 * instructions that came to their end, and an iteration shows as its access.
 */
static void count_rep(struct qemu_plugin_insn *insn, cell_t cell,
		      enum string_rep rep)
{
	enum qemu_plugin_mem_rw rw = rep == REP_COPY ? AFTER_STORES
						     : QEMU_PLUGIN_MEM_RW;

	cell_add_on_exec(insn, cell, 1);
	cell_add_on_mem(insn, rw, cell, -1);
	cell_add_on_exec(insn, fixed.rep, 1);
	cell_add_on_mem(insn, rw, fixed.rep, -1);
}

/*
 * QEMU 7.2 gives an x86 block's last instruction to the plugin even when it
 * then leaves it to the next block because it crosses into another page.
 * Nothing may be counted at such an instruction but itself.
 */
static bool may_be_dropped(uint64_t addr)
{
	return addr % GUEST_PAGE > GUEST_PAGE - INSN_MAX_BYTES;
}

static void count_block(struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	struct run run = { 0 };

	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t addr = qemu_plugin_insn_vaddr(insn);
		struct insn_info info = decode(insn);
		cell_t cell;

		if (i == n - 1 && may_be_dropped(addr))
			run_end(&run);
		if (take_marker(insn, addr, &info)) {
			run_end(&run);
			continue;
		}
		cell = cell_of(insn, addr);
		if (info.tlb_class >= 0)
			cell_add_on_exec(insn, fixed.tlb[info.tlb_class], 1);
		if (info.rep != REP_NONE) {
			run_end(&run);
			count_rep(insn, cell, info.rep);
			continue;
		}
		run_add(&run, insn, cell);
		if (!info.plain)
			run_end(&run);
	}
	run_end(&run);
}

static void on_translate_counting(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	pthread_mutex_lock(&lock);
	count_block(tb);
	pthread_mutex_unlock(&lock);
}

static void on_translate_waiting(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n;

	(void)id;
	if (qemu_plugin_tb_vaddr(tb) >= UPPER_HALF)
		return;
	n = qemu_plugin_tb_n_insns(tb);
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		struct insn_info info = decode(insn);

		take_marker(insn, qemu_plugin_insn_vaddr(insn), &info);
	}
}

static void on_qemu_exit(qemu_plugin_id_t id, void *udata)
{
	(void)id;
	(void)udata;
	pthread_mutex_lock(&lock);
	regions_write(out, target, &fixed);
	if (ferror(out) | fclose(out))
		complain("cannot write out=%s: %s", out_path, strerror(errno));
	pthread_mutex_unlock(&lock);
}

static void register_callbacks(void)
{
	qemu_plugin_register_vcpu_tb_trans_cb(
		plugin_id, armed ? on_translate_counting : on_translate_waiting);
	qemu_plugin_register_atexit_cb(plugin_id, on_qemu_exit, NULL);
}

/* All vCPUs stand still, no translated block is left. */
static void on_reset(qemu_plugin_id_t id)
{
	(void)id;
	pthread_mutex_lock(&lock);
	armed = !armed;
	changing = false;
	pthread_mutex_unlock(&lock);
	register_callbacks();
}

static bool parse_arguments(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "symbols=", 8)) {
			if (!symbols_load(argv[i] + 8))
				return false;
		} else if (!strncmp(argv[i], "out=", 4)) {
			out_path = argv[i] + 4;
		} else {
			complain("argument \"%s\" is unknown; there are symbols=FILE and out=FILE",
				 argv[i]);
			return false;
		}
	}
	if (!out_path)
		complain("no out=FILE to write the counts to");
	return out_path;
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info,
			int argc, char **argv)
{
	plugin_id = id;
	target = target_find(info->target_name);
	if (!target || !info->system_emulation) {
		complain("counts in system emulation of aarch64 and x86_64, not in this one (%s)",
			 info->target_name);
		return -1;
	}
	if (!parse_arguments(argc, argv))
		return -1;
	out = fopen(out_path, "w");
	if (!out) {
		complain("cannot open out=%s: %s", out_path, strerror(errno));
		return -1;
	}
	fixed_cells_init(&fixed);
	register_callbacks();
	return 0;
}
