/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A guest whose instructions can be counted by hand: no operating system, code
 * at low addresses in place of a user's and at high ones (.high) in place of a
 * kernel's.
 *
 * Each "expect:" line is a line of the plugin's output. Of a region that has
 * one, all are given but those of TLB classes, events and spans that are zero.
 * Each "stop:" line is one of the stream; "watch=" is a function that it
 * watches, "locks=" a lock function. Each "span=" is an argument of the plugin;
 * a name's "__" and all behind it are not in the symbols file.
 *
 * Started by QEMU's virt machine (GICv2) at EL1 with the MMU off.
 */

	.arch	armv8.7-a

#define GICD		0x08000000
#define GICC		0x08010000
#define BLOCK		0x701		/* a valid 1 GiB block of normal memory */
#define DEVICE		0x405		/* the same of device memory */
#define PLACE		0x40300000	/* memory that nothing else uses */
#define VTIMER_IRQ	27

	.macro	mark op, id
	movz	xzr, #((\op << 12) | \id), lsl #48
	.endm
	.macro	start id
	mark	1, \id
	.endm
	.macro	stop id
	mark	2, \id
	.endm

	.macro	table address		/* names it a page table */
	mark	5, (((\address) >> 12) & 0xfff)
	mark	5, (((\address) >> 24) & 0xfff)
	mark	5, (((\address) >> 36) & 0xfff)
	.endm

	.macro	mmu_on			/* on the CPU that executes it */
	mov	x0, #0xff		/* attribute 0: normal, 1: device */
	msr	mair_el1, x0
	ldr	x0, =(2 << 32) | (2 << 30) | (25 << 16) | 25	/* 39 bits */
	msr	tcr_el1, x0
	ldr	x0, =table
	msr	ttbr0_el1, x0
	msr	ttbr1_el1, x0
	ldr	x0, =vectors
	msr	vbar_el1, x0
	isb
	mrs	x0, sctlr_el1
	orr	x0, x0, #1		/* MMU on */
	msr	sctlr_el1, x0
	isb
	.endm

	.macro	call function		/* two instructions */
	ldr	x9, =\function
	blr	x9
	.endm

	.text
	.globl	_start
_start:
	mov	x0, #(3 << 20)		/* floating point */
	msr	cpacr_el1, x0
	mmu_on
	ldr	x6, =data		/* for loads that succeed */
	mov	x7, #0x80000000		/* and for those that do not */

#ifdef NOT_ARMED
	start	1
	stop	1
#endif
	mark	3, 0
	mov	x0, #10			/* takes effect at the next block */
1:	subs	x0, x0, #1
	b.ne	1b
#ifdef STARTED_TWICE
	start	1
	start	1
#endif
#ifdef NEVER_STARTED
	stop	1
#endif

#ifdef LINES
/*
 * A guest of its own, for lines=on ("lines:" instead of "expect:"). Lines that
 * the kernel touches for the first time in a run: by one address or another,
 * with accesses that cross into the next line; not those of a device, and not
 * the user's. Words stored into page tables that are named before or after.
 * lines: region 30 runs 2 insns 82 user 20 kernel 62 other 4
 * lines: event 30 atomic 4
 * lines: event 30 lines_read 12
 * lines: event 30 lines_written 22
 * lines: event 30 table_words 12
 * lines: sym 30 k_lines_a 26 2 atomic=2 lines_read=8 lines_written=10
 * lines: sym 30 k_lines_b 14 2 lines_read=2 lines_written=4 table_words=2
 * lines: sym 30 k_tables 18 2 atomic=2 lines_read=2 lines_written=6 table_words=10
 */
	ldr	x22, =PLACE
	ldr	x21, =0xffffff8000000000 | PLACE
	add	x25, x21, #0x1000
	add	x26, x21, #0x2000
	add	x27, x21, #0x3000
	add	x28, x25, #0x400000
	ldr	x14, =GICC
	table	PLACE + 0x3000
	mov	x19, #2
1:	start	30
	call	k_lines_a
	ldr	x2, [x22, #512]
	call	k_lines_b
	str	x2, [x22, #0x1000]
	call	k_tables
	call	k_unnamed_lines
	stop	30
	subs	x19, x19, #1
	b.ne	1b
	call	k_tables
	table	PLACE + 0x1000
	table	PLACE + 0x1000
	table	0xabcdef123000

/*
 * The block of DC ZVA is a line; else there would be a third instruction.
 * lines: region 31 runs 1 insns 2 user 2 kernel 0 other 0
 */
	mrs	x0, dczid_el0
	start	31
	cmp	x0, #4
	b.eq	1f
	nop
1:	stop	31
#ifdef NESTED
	start	31
	start	30
	stop	30
	stop	31
#endif
#ifdef HALF_SPELT
	mark	5, 1
	mark	5, 1
#endif
	b	finish
#endif

#ifdef CACHES
/*
 * A guest of its own, for caches=FILE and cold=on ("caches:"). The first level
 * has two sets of one way, the second four sets of two, the last four sets of
 * four. Literals are loaded before the region: they are data, too.
 * caches: region 40 runs 2 insns 54 user 6 kernel 48 other 0
 * caches: event 40 l2_hits 6
 * caches: event 40 llc_hits 2
 * caches: event 40 memory 18
 * caches: event 40 streamed 8
 * caches: sym 40 k_caches 48 2 l2_hits=4 llc_hits=2 memory=18 streamed=8
 * caches: event 41 memory 1
 */
	ldr	x22, =PLACE
	ldr	x21, =0xffffff8000000000 | PLACE
	ldr	x9, =k_caches
	add	x23, x22, #0x2000
	mov	x19, #2
1:	start	40
	blr	x9
	ldr	x2, [x22, #(35 * 64)]	/* in the second level, by its other address */
	nop
	stop	40
	subs	x19, x19, #1
	b.ne	1b
	ldr	x2, [x23]
	start	41
	ldr	x2, [x23]		/* in the first level, if it was not emptied */
	stop	41
	b	finish
#endif

#ifdef CPUS
/*
 * A guest of its own, for cpus=on and two CPUs ("cpus:"). They take turns: each
 * gives up its turn by a yield. What the other one does within region N counts
 * in region N + 4096: work that it finds in memory, then an interrupt.
 * cpus: region 42 runs 1 insns 5 user 5 kernel 0 other 0
 * cpus: region 4138 runs 1 insns 9 user 6 kernel 3 other 0
 * cpus: sym 4138 k_leaf 3 1
 * cpus: region 43 runs 1 insns 2 user 2 kernel 0 other 0
 * cpus: region 4139 runs 1 insns 7 user 3 kernel 4 other 0
 * cpus: sym 4139 el1_irq 4 1
 * cpus: region 44 runs 1 insns 1 user 1 kernel 0 other 0
 * cpus: region 4140 runs 1 insns 0 user 0 kernel 0 other 0
 * cpus: region 45 runs 1 insns 6 user 1 kernel 5 other 0
 * cpus: tlb 45 tlbi_va 2
 * cpus: tlb 45 tlbi_range 1
 * cpus: tlb 45 tlbi_all 1
 * cpus: event 45 tlbi_local 2
 * cpus: sym 45 k_tlbi 5 1 tlbi_local=2
 */
	ldr	x22, =PLACE
	ldr	x14, =GICD
	mov	w4, #1
	str	w4, [x14]		/* GICD_CTLR */
	ldr	x0, =0xc4000003		/* PSCI CPU_ON */
	mov	x1, #1
	ldr	x2, =second
	hvc	#0
1:	yield				/* until it waits for work */
	ldr	w0, [x22, #64]
	cbz	w0, 1b
	start	42
	mov	w0, #1
	str	w0, [x22]		/* work */
1:	yield
	ldr	w0, [x22]
	cbnz	w0, 1b
	stop	42
	mov	w4, #(2 << 16)		/* interrupt 0, to CPU 1 */
	start	43
	str	w4, [x14, #0xf00]	/* GICD_SGIR */
	yield
	stop	43
	start	44
	nop				/* it has no turn */
	stop	44
	ldr	x9, =k_tlbi
	start	45
	blr	x9
	stop	45
	b	finish

second:
	ldr	x22, =PLACE
	ldr	x9, =k_leaf
	ldr	x14, =GICC
	mmu_on
	mov	w0, #0xff
	str	w0, [x14, #4]		/* GICC_PMR */
	mov	w0, #1
	str	w0, [x14]		/* GICC_CTLR */
	msr	daifclr, #2
	str	w0, [x22, #64]		/* it waits for work */
1:	yield
	ldr	w0, [x22]
	cbz	w0, 1b
	blr	x9
	str	wzr, [x22]
	b	1b
#endif

/*
 * Nothing at all, twenty times.
 * expect: region 1 runs 20 insns 0 user 0 kernel 0 other 0
 */
	mov	x0, #20
1:	start	1
	stop	1
	subs	x0, x0, #1
	b.ne	1b

/*
 * A straight line; markers in the middle of a block.
 * expect: region 2 runs 1 insns 9 user 9 kernel 0 other 0
 */
	add	x1, x1, #1
	start	2
	add	x1, x1, #1
	add	x1, x1, #1
	ldr	x2, [x6]
	nop
	mov	x3, #3
	fmov	d0, x3
	madd	x1, x3, x3, x1
	str	x1, [x6]
	add	x1, x1, #1
	stop	2
	add	x1, x1, #1

/*
 * Loops; one region inside another; both more than once.
 * expect: region 3 runs 5 insns 10070 user 10070 kernel 0 other 0
 * expect: region 4 runs 5 insns 10005 user 10005 kernel 0 other 0
 */
	mov	x2, #5
2:	start	3
	add	x1, x1, #1
	mov	x0, #4
1:	subs	x0, x0, #1
	b.ne	1b
	start	4
	mov	x0, #1000
1:	subs	x0, x0, #1
	b.ne	1b
	stop	4
	add	x1, x1, #1
	add	x1, x1, #1
	add	x1, x1, #1
	stop	3
	subs	x2, x2, #1
	b.ne	2b

/*
 * Kernel functions: one that no symbol names, one that runs on into the next,
 * one that loops to its own first instruction. Spans: from and to where a
 * function runs on into another, within one block; some open at the stop.
 * span=into:k_first:k_second
 * span=onward:k_second:k_leaf
 * span=round:k_leaf:k_first
 * span=loop:k_loop:k_leaf
 * expect: region 5 runs 1 insns 239 user 64 kernel 175 other 21
 * expect: sym 5 k_first 14 7
 * expect: sym 5 k_leaf 21 7
 * expect: sym 5 k_loop 101 50
 * expect: sym 5 k_second 18 9
 * expect: span 5 into 7 14
 * expect: span 5 onward 8 139
 * expect: span 5 round 7 190
 * expect: span 5 loop 1 102
 */
	mov	x19, #7
	start	5
1:	call	k_unnamed
	call	k_first
	call	k_leaf
	subs	x19, x19, #1
	b.ne	1b
	call	k_second
	call	k_second
	mov	x0, #50
	call	k_loop
	add	x0, x0, #1
	stop	5

/*
 * Every TLBI of EL1 (but for the nXS forms, which QEMU 7.2 does not know), and
 * a few other maintenance instructions.
 * expect: region 6 runs 3 insns 102 user 102 kernel 0 other 0
 * expect: tlb 6 tlbi_va 36
 * expect: tlb 6 tlbi_range 36
 * expect: tlb 6 tlbi_asid 9
 * expect: tlb 6 tlbi_all 9
 */
	mov	x0, #3
1:	start	6
	.irp	scope, , is, os
	tlbi	vae1\scope, x5
	tlbi	vaae1\scope, x5
	tlbi	vale1\scope, x5
	tlbi	vaale1\scope, x5
	tlbi	rvae1\scope, x5
	tlbi	rvaae1\scope, x5
	tlbi	rvale1\scope, x5
	tlbi	rvaale1\scope, x5
	tlbi	aside1\scope, x5
	tlbi	vmalle1\scope
	.endr
	dsb	ish
	isb
	ic	iallu
	dc	civac, x6
	stop	6
	subs	x0, x0, #1
	b.ne	1b

/*
 * A block that a page fault leaves in the middle, five times; the handler
 * steps over the instruction.
 * expect: region 7 runs 1 insns 55 user 30 kernel 25 other 0
 * expect: sym 7 el1_sync 25 5
 */
	mov	x0, #5
	mov	x11, #0
	start	7
1:	add	x1, x1, #1
	add	x1, x1, #1
	ldr	x2, [x7]
	add	x1, x1, #1
	subs	x0, x0, #1
	b.ne	1b
	stop	7

/*
 * A page fault whose handler maps the page: the load counts for each attempt.
 * expect: region 8 runs 1 insns 10 user 5 kernel 5 other 0
 * expect: event 8 dsb_st 1
 * expect: event 8 isb 1
 * expect: sym 8 el1_sync 5 1 dsb_st=1 isb=1
 */
	mov	x11, #1
	ldr	x12, =0x40000000 | BLOCK
	ldr	x13, =table + 2 * 8
	start	8
	add	x1, x1, #1
	add	x1, x1, #1
	ldr	x2, [x7]
	add	x1, x1, #1
	stop	8

/*
 * Interrupts, hundreds at least (the timer's frequency depends on QEMU's
 * version): 100,000 rounds of ten instructions, plus el1_irq's four for each
 * interrupt. The test knows, for no line can say it.
 */
	ldr	x14, =GICD
	mov	w0, #1
	str	w0, [x14]		/* GICD_CTLR */
	mov	w0, #(1 << VTIMER_IRQ)
	str	w0, [x14, #0x100]	/* GICD_ISENABLER0 */
	ldr	x14, =GICC
	mov	w0, #0xff
	str	w0, [x14, #4]		/* GICC_PMR */
	mov	w0, #1
	str	w0, [x14]		/* GICC_CTLR */
	mov	x15, #100		/* ticks between interrupts */
	msr	cntv_tval_el0, x15
	msr	cntv_ctl_el0, x0
	isb
	ldr	x0, =100000
	msr	daifclr, #2
	start	9
1:	add	x1, x1, #1
	add	x1, x1, #1
	ldr	x2, [x6]
	add	x2, x2, #1
	eor	x3, x2, x1
	str	x2, [x6]
	add	x1, x1, #1
	add	x1, x1, #1
	subs	x0, x0, #1
	b.ne	1b
	stop	9
	msr	daifset, #2

/*
 * Disarmed and armed again.
 * expect: region 10 runs 1 insns 3 user 3 kernel 0 other 0
 */
	.irp	op, 4, 3
	mark	\op, 0
	mov	x0, #10
1:	subs	x0, x0, #1
	b.ne	1b
	.endr
	start	10
	add	x1, x1, #1
	ldr	x2, [x6]
	nop
	stop	10

/*
 * Spans, three runs: an end without a begin, though the run before was stopped
 * in a span; a begin within a span; k_lock by its second name.
 * span=held:k_lock:k_unlock
 * span=free:k_unlock:k_lock_alias
 * expect: region 11 runs 3 insns 81 user 42 kernel 39 other 0
 * expect: sym 11 k_lock 27 9
 * expect: sym 11 k_unlock 12 6
 * expect: span 11 held 6 45
 * expect: span 11 free 6 30
 */
	mov	x19, #3
1:	start	11
	call	k_unlock
	add	x1, x1, #1
	call	k_lock
	add	x1, x1, #1
	call	k_lock
	call	k_unlock
	add	x1, x1, #1
	call	k_lock
	add	x1, x1, #1
	stop	11
	subs	x19, x19, #1
	b.ne	1b

/*
 * Regions that overlap, each with spans of its own, and start within a span.
 * expect: region 12 runs 1 insns 21 user 11 kernel 10 other 0
 * expect: sym 12 k_lock 6 2
 * expect: sym 12 k_unlock 4 2
 * expect: span 12 held 2 10
 * expect: span 12 free 2 8
 * expect: region 13 runs 1 insns 16 user 9 kernel 7 other 0
 * expect: sym 13 k_lock 3 1
 * expect: sym 13 k_unlock 4 2
 * expect: span 13 held 1 7
 * expect: span 13 free 2 6
 */
	call	k_lock
	start	12
	add	x1, x1, #1
	call	k_unlock
	call	k_lock
	start	13
	add	x1, x1, #1
	call	k_unlock
	call	k_lock
	add	x1, x1, #1
	stop	12
	add	x1, x1, #1
	call	k_unlock
	stop	13

/*
 * A span that begins, and one that ends, where the first instruction is executed
 * twice for its page fault. Functions of one name.
 * span=touch:k_touch:k_end
 * span=until:k_twin:k_touch
 * expect: region 14 runs 1 insns 25 user 11 kernel 14 other 0
 * expect: event 14 dsb_st 1
 * expect: event 14 isb 1
 * expect: sym 14 el1_sync 5 1 dsb_st=1 isb=1
 * expect: sym 14 k_end 2 1
 * expect: sym 14 k_touch 3 2
 * expect: event 14 atomic 1
 * expect: sym 14 k_twin 4 2 atomic=1
 * expect: span 14 touch 1 11
 * expect: span 14 until 2 8
 */
	mov	x11, #1
	ldr	x12, =0x40000000 | BLOCK
	ldr	x13, =table + 2 * 8
	str	xzr, [x13]
	dsb	ish
	tlbi	vmalle1
	dsb	ish
	isb
	start	14
	call	k_twin__1
	add	x1, x1, #1
	call	k_touch
	add	x1, x1, #1
	call	k_end
	call	k_twin__2
	add	x1, x1, #1
	stop	14

/*
 * Interrupts as in region 9, all of them in the span "held", which leaves out
 * five instructions of the region. The test knows.
 */
	ldr	x14, =GICC
	ldr	x0, =100000
	start	15
	call	k_lock
	msr	daifclr, #2
1:	add	x1, x1, #1
	ldr	x2, [x6]
	str	x2, [x6]
	subs	x0, x0, #1
	b.ne	1b
	msr	daifset, #2
	call	k_unlock
	add	x1, x1, #1
	stop	15

/*
 * Atomics and barriers of the kernel, but not of the user and not those that
 * fail to be one; two runs that differ. An exclusive store that fails counts,
 * an exclusive load without a store does not.
 * watch=k_exclusive
 * watch=k_twin
 * watch=k_never
 * expect: region 16 runs 2 insns 104 user 25 kernel 79 other 3
 * expect: event 16 atomic 29
 * expect: event 16 dmb 6
 * expect: event 16 dsb 4
 * expect: event 16 dsb_st 3
 * expect: event 16 isb 2
 * expect: sym 16 k_barriers 24 2 dmb=6 dsb=4 dsb_st=2 isb=2
 * expect: sym 16 k_exclusive 24 3 atomic=9
 * expect: sym 16 k_lse 22 1 atomic=18
 * expect: sym 16 k_twin 6 3 atomic=1
 * expect: span 16 until 2 8
 * stop: stop 16 insns 39 user 12 kernel 27 atomic=5 dmb=3 dsb=2 dsb_st=2 isb=1 k_exclusive=1 k_twin=2
 * stop: stop 16 insns 65 user 13 kernel 52 atomic=24 dmb=3 dsb=2 dsb_st=1 isb=1 k_exclusive=2 k_twin=1
 */
	start	16
	ldadd	x1, x2, [x6]
	dmb	ish
	call	k_unnamed_events
	call	k_exclusive
	call	k_barriers
	call	k_twin__1
	call	k_twin__2
	stop	16
	start	16
	swp	x1, x2, [x6]
	dsb	sy
	isb
	call	k_lse
	call	k_exclusive
	call	k_exclusive
	call	k_barriers
	call	k_twin__1
	stop	16

/*
 * Calls of lock functions: by a call and by a jump at the end, by code without
 * a symbol, by one that runs on, and a loop; not by a call that is not reached,
 * and not by an indirect one. Inlined spin locks, but not a lock function's own.
 * locks=k_lock_alias
 * locks=k_spin
 * locks=k_twin
 * locks=k_never
 * expect: region 17 runs 2 insns 138 user 20 kernel 118 other 12
 * expect: event 17 atomic 6
 * expect: sym 17 k_caller 20 2
 * expect: sym 17 k_lock 30 10
 * expect: sym 17 k_other 18 2 atomic=2
 * expect: sym 17 k_spin 26 10
 * expect: sym 17 k_twin 8 4 atomic=2
 * expect: sym 17 k_unlock 4 2
 * expect: span 17 held 4 120
 * expect: span 17 free 2 14
 * expect: span 17 until 2 74
 * expect: lock 17 k_caller k_lock_alias 6
 * expect: lock 17 k_other k_twin 4
 * expect: lock 17 k_other k_spin 2
 * expect: lock 17 k_other inlined_spin_lock 2
 * expect: lock 17 - k_lock_alias 2
 * expect: lock 17 - inlined_spin_lock 2
 */
	mov	x19, #2
1:	mov	x0, #3
	start	17
	call	k_lock
	call	k_caller
	call	k_other
	call	k_unnamed_caller
	add	x1, x1, #1
	add	x1, x1, #1
	stop	17
	subs	x19, x19, #1
	b.ne	1b

#ifdef LEFT_OPEN
	start	99
#endif
#ifdef DISARMED
	mark	4, 0
	b	1f
1:	start	99
	stop	99
#endif

finish:
	ldr	w0, =0x84000008		/* PSCI SYSTEM_OFF */
	hvc	#0
	b	.
	.ltorg

	.align	12
table:					/* for both halves, 1 GiB an entry */
	.quad	DEVICE
	.quad	0x40000000 | BLOCK
	.fill	510, 8, 0
data:
	.quad	1, 0

	.section .high, "ax"
k_unnamed:
	add	x1, x1, #1
	add	x1, x1, #1
	ret

k_unnamed_lines:
	str	x2, [x21, #576]		/* writes a line */
	ret

k_unnamed_caller:
	mov	x20, x30
	bl	k_lock
	add	x1, x1, #1
	cbz	xzr, 1f
	bl	k_lock
1:	casa	w2, wzr, [x6]		/* another */
	ret	x20

k_unnamed_events:
	ldadd	x1, x2, [x6]
	dsb	ishst
	ret

k_leaf:
	mov	x1, #1
	add	x1, x1, #1
	ret

k_first:
	add	x1, x1, #1
	add	x1, x1, #1
k_second:
	add	x1, x1, #1
	ret

k_loop:
	subs	x0, x0, #1
	b.ne	k_loop
	ret

k_lock:
k_lock_alias:
	ldr	x2, [x6]
	add	x1, x1, #1
	ret

k_unlock:
	ldr	x2, [x6]
	ret

k_touch:
	ldr	x2, [x7]
	ret

k_end:
	add	x1, x1, #1
	ret

k_twin__1:
	add	x1, x1, #1
	ret

k_twin__2:
	casa	w2, w3, [x6]		/* it is a lock function */
	ret

k_exclusive:
	ldaxr	x2, [x6]		/* not stored */
	clrex
	stxr	w3, x2, [x6]		/* fails */
	ldxp	x2, x4, [x6]
	stlxp	w3, x2, x4, [x6]
	ldxr	x2, [x6]
	stlxr	w3, x2, [x6]
	ret

k_lse:
	cas	x2, x3, [x6]
	casalb	w2, w3, [x6]
	cas	w2, w3, [x6]		/* no spin lock, nor the next three */
	casal	w2, w3, [x6]
	casa	x2, x3, [x6]
	casab	w2, w3, [x6]
	casp	x2, x3, x4, x5, [x6]
	swpal	w2, w3, [x6]
	ldadd	x1, x2, [x6]
	ldclral	x1, x2, [x6]
	ldeorh	w1, w2, [x6]
	ldset	x1, x2, [x6]
	ldsmax	x1, x2, [x6]
	ldumin	x1, x2, [x6]
	stadd	x1, [x6]
	stclr	w1, [x6]
	stset	x1, [x6]
	steor	x1, [x6]
	ldapr	x2, [x6]		/* no atomic, nor the next two */
	ldar	x2, [x6]
	stlr	x2, [x6]
	ret

k_barriers:
	dmb	ish
	dmb	ishld
	dmb	oshst
	dsb	sy
	dsb	nshst
	dsb	ish
	isb
	ssbb				/* no barrier, nor the next three */
	hint	#16			/* esb */
	csdb
	clrex
	ret

k_caller:
	mov	x20, x30
	bl	k_lock
	bl	k_lock_alias
	add	x1, x1, #1
	bl	k_unlock
	cbz	xzr, 1f
	bl	k_twin__1
1:	add	x1, x1, #1
	mov	x30, x20
	nop
	b	k_lock			/* its last call */

k_other:
	mov	x20, x30
	bl	k_twin__1
	bl	k_twin__2
	bl	k_spin
	cbnz	xzr, k_spin
	casa	w2, w3, [x6]		/* an inlined spin lock */
	adr	x9, k_spin
	mov	x30, x20
	br	x9

k_spin:
	cbz	x0, 1f
	sub	x0, x0, #1
	b	k_spin
1:	ret

k_never:
	ret

k_lines_a:
	ldr	x2, [x21]		/* reads line 0 */
	ldr	x2, [x21, #8]
	str	x2, [x21, #16]		/* writes it */
	ldr	x2, [x22, #32]
	ldp	x2, x3, [x21, #64]	/* reads line 1 */
	ldur	x2, [x21, #124]		/* and 2 */
	stp	x2, x3, [x21, #184]	/* writes 2 and 3 */
	add	x23, x21, #256
	ldadd	x1, x2, [x23]		/* reads and writes 4 */
	add	x23, x23, #70
	dc	zva, x23		/* writes 5 */
	ldr	w2, [x14]		/* a device */
	ret

k_lines_b:
	ldr	x2, [x21]
	str	x2, [x21, #40]
	ldr	x2, [x22, #384]		/* reads line 6 */
	ldr	x2, [x21, #392]
	str	x2, [x22, #448]		/* writes 7 */
	str	x2, [x27]		/* writes a line: one word */
	ret

k_caches:
	ldr	x2, [x21]		/* line 0: memory */
	ldr	x2, [x21, #8]		/* the first level */
	ldr	x2, [x21, #(2 * 64)]	/* memory; line 0 leaves the first level */
	ldr	x2, [x21]		/* the second */
	ldr	x2, [x21, #(4 * 64)]	/* a stream: the third that is near */
	ldr	x2, [x21, #(8 * 64)]	/* memory; line 0 leaves the second level */
	ldr	x2, [x21]		/* the last */
	ldr	x2, [x21, #(16 * 64)]	/* memory */
	ldr	x2, [x21, #(17 * 64)]	/* memory */
	ldr	x2, [x21, #(18 * 64)]	/* a stream */
	ldr	x2, [x21, #(19 * 64)]	/* a stream */
	ldr	x2, [x21, #(35 * 64)]	/* memory */
	ldr	x2, [x21, #(34 * 64)]	/* memory */
	ldr	x2, [x21, #(33 * 64)]	/* a stream */
	add	x24, x21, #(40 * 64)
	str	x2, [x24, #56]		/* memory */
	ldr	x2, [x24]		/* the first level: it was written */
	stur	x2, [x24, #60]		/* line 40 in the first level, 41: memory */
	add	x24, x24, #0x400
	mov	w2, #0
	str	x2, [x21, #(33 * 64)]	/* line 41 took its place: the second level */
	str	x2, [x21, #(33 * 64)]
	nop
	ret

k_tlbi:
	tlbi	vale1, x5		/* local */
	tlbi	vale1is, x5
	tlbi	rvale1os, x5
	tlbi	vmalle1			/* local */
	ret

k_tables:
	str	x2, [x25]		/* writes a line: one word */
	str	x2, [x25, #8]		/* another */
	str	w2, [x25, #16]
	stp	x2, x3, [x25, #32]	/* two */
	stur	x2, [x25, #52]
	str	x2, [x28]		/* writes a line, 1024 pages further */
	swp	x2, x3, [x25]		/* reads the line; one word */
	str	x2, [x26]		/* writes a line; in no table */
	ret

	.align	11
vectors:
	.fill	0x200, 1, 0
el1_sync:
	cbnz	x11, 1f
	mrs	x10, elr_el1
	add	x10, x10, #4
	msr	elr_el1, x10
	eret
1:	str	x12, [x13]
	dsb	ishst
	isb
	eret
	.org	vectors + 0x280
el1_irq:
	ldr	w10, [x14, #0xc]	/* GICC_IAR */
	msr	cntv_tval_el0, x15
	str	w10, [x14, #0x10]	/* GICC_EOIR */
	eret
