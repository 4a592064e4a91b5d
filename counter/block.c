// SPDX-License-Identifier: GPL-2.0
#include "block.h"
#include "caches.h"
#include "lines.h"
#include "locks.h"
#include "qemu_plugin_api.h"
#include "symbols.h"

#define UPPER_HALF	(1ULL << 63)	/* kernel addresses, on both targets */
#define GUEST_PAGE	4096

static struct insn_info decode(const struct target *target,
			       const struct qemu_plugin_insn *insn)
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

/* Markers themselves are not counted. */
static bool take_marker(const struct block_plan *plan,
			struct qemu_plugin_insn *insn, uint64_t addr,
			const struct insn_info *info)
{
	unsigned int op = info->payload >> 12;

	if (!info->marker || addr >= UPPER_HALF ||
	    op < MARKER_START || op > MARKER_TABLE)
		return false;
	qemu_plugin_register_vcpu_insn_exec_cb(insn, plan->on_marker,
					       QEMU_PLUGIN_CB_NO_REGS,
					       (void *)(uintptr_t)info->payload);
	return true;
}

/*
 * A run of instructions of one cell. One add at the last of them counts them
 * all.
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

/*
 * Counts the call of @sym, whose first instruction is @insn. When the spans'
 * callback runs, all earlier instructions must be counted, and @insn must not
 * be. The former holds because no run of another cell extends past @insn. The
 * latter holds in QEMU 7.2 because callbacks run before adds, and in 10.0
 * because this callback is registered before them.
 */
static void enter_symbol(const struct block_plan *plan,
			 struct qemu_plugin_insn *insn, struct symbol *sym)
{
	if (sym->begins | sym->ends)
		qemu_plugin_register_vcpu_insn_exec_cb(
			insn, plan->on_symbol, QEMU_PLUGIN_CB_NO_REGS, sym);
	cell_add_on_exec(insn, sym->calls, 1);
}

/* Counts the event that @insn is. Its symbol may be NULL. */
static void count_event(const struct fixed_cells *fixed,
			struct qemu_plugin_insn *insn, struct symbol *sym,
			int event)
{
	cell_add_on_exec(insn, fixed->events[event], 1);
	if (sym)
		cell_add_on_exec(insn, symbol_event(sym, event), 1);
}

/* Where to count the instruction at @addr; counts the call, if it is one. */
static cell_t cell_of(const struct block_plan *plan,
		      struct qemu_plugin_insn *insn, uint64_t addr,
		      const struct insn_info *info)
{
	struct symbol *sym;

	if (addr < UPPER_HALF) {
		caches_watch(insn, NULL);
		return plan->fixed.user;
	}
	sym = symbol_at(addr);
	if (sym && addr == sym->start)
		enter_symbol(plan, insn, sym);
	if (info->event >= 0)
		count_event(&plan->fixed, insn, sym, info->event);
	if (info->branch)
		locks_count(insn, sym, addr + info->distance);
	lines_watch(insn, sym);
	caches_watch(insn, sym);
	if (info->clears_line)
		lines_count_write(insn, sym);
	if (info->spin_lock)
		locks_count_inlined(insn, sym);
	return sym ? sym->insns : plan->fixed.other;
}

/*
 * QEMU 7.2 confuses the kinds of access: callbacks for loads run after stores,
 * and those for stores after both (op_rw() in its plugin-gen.c).
 */
#if QUIRE_PLUGIN_API == 1
#define AFTER_STORES	QEMU_PLUGIN_MEM_R
#else
#define AFTER_STORES	QEMU_PLUGIN_MEM_W
#endif

/*
 * QEMU executes "rep stosb" once for each iteration, then once more to find
 * that the count is zero (with -icount, always). So the executions minus the
 * iterations are the completed instructions, and each iteration is visible as
 * an access.
 */
static void count_rep(const struct fixed_cells *fixed,
		      struct qemu_plugin_insn *insn, cell_t cell,
		      enum string_rep rep)
{
	enum qemu_plugin_mem_rw rw = rep == REP_COPY ? AFTER_STORES
						     : QEMU_PLUGIN_MEM_RW;

	cell_add_on_exec(insn, cell, 1);
	cell_add_on_mem(insn, rw, cell, -1);
	cell_add_on_exec(insn, fixed->rep, 1);
	cell_add_on_mem(insn, rw, fixed->rep, -1);
}

/*
 * QEMU 7.2 passes an x86 block's last instruction to the plugin even if it then
 * moves it to the next block because it crosses a page. Only this instruction
 * itself may be counted at it.
 */
static bool may_be_dropped(uint64_t addr)
{
	return addr % GUEST_PAGE > GUEST_PAGE - INSN_MAX_BYTES;
}

void block_watch(const struct block_plan *plan, struct qemu_plugin_tb *tb)
{
	size_t n;

	if (qemu_plugin_tb_vaddr(tb) >= UPPER_HALF)
		return;
	n = qemu_plugin_tb_n_insns(tb);
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		struct insn_info info = decode(plan->target, insn);

		take_marker(plan, insn, qemu_plugin_insn_vaddr(insn), &info);
	}
}

/*
 * QEMU 7.2 runs the callbacks for accesses of an instruction that crosses a page
 * at accesses of others, too. So such a rep counts each of its iterations.
 */
static bool accesses_are_known(struct qemu_plugin_insn *insn, uint64_t addr)
{
	return QUIRE_PLUGIN_API > 1 ||
	       addr % GUEST_PAGE + qemu_plugin_insn_size(insn) <= GUEST_PAGE;
}

/* Counts one instruction that is no marker, in @run if possible. */
static void count_insn(const struct block_plan *plan, struct run *run,
		       struct qemu_plugin_insn *insn, uint64_t addr,
		       const struct insn_info *info)
{
	const struct fixed_cells *fixed = &plan->fixed;
	cell_t cell = cell_of(plan, insn, addr, info);

	if (info->tlb_class >= 0)
		cell_add_on_exec(insn, fixed->tlb[info->tlb_class], 1);
	if (info->rep != REP_NONE && accesses_are_known(insn, addr)) {
		run_end(run);
		count_rep(fixed, insn, cell, info->rep);
		return;
	}
	run_add(run, insn, cell);
	if (!info->plain)
		run_end(run);
}

void block_count(const struct block_plan *plan, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	struct run run = { 0 };

	if (plan->on_block)
		qemu_plugin_register_vcpu_tb_exec_cb(
			tb, plan->on_block, QEMU_PLUGIN_CB_NO_REGS, NULL);
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t addr = qemu_plugin_insn_vaddr(insn);
		struct insn_info info = decode(plan->target, insn);

		if (i == n - 1 && may_be_dropped(addr))
			run_end(&run);
		if (take_marker(plan, insn, addr, &info))
			run_end(&run);
		else
			count_insn(plan, &run, insn, addr, &info);
	}
	run_end(&run);
}
