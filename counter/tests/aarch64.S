/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A guest whose instructions can be counted by hand: no operating system, code
 * at low addresses in place of a user's and at high ones (.high) in place of a
 * kernel's.
 *
 * Each "expect:" line is a line of the plugin's output. Of a region that has
 * one, all are given but those of TLB classes that are zero.
 *
 * Started by QEMU's virt machine (GICv2) at EL1 with the MMU off.
 */

	.arch	armv8.7-a

#define GICD		0x08000000
#define GICC		0x08010000
#define BLOCK		0x701		/* a valid 1 GiB block of normal memory */
#define DEVICE		0x405		/* the same of device memory */
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

	.macro	call function		/* two instructions */
	ldr	x9, =\function
	blr	x9
	.endm

	.text
	.globl	_start
_start:
	mov	x0, #(3 << 20)		/* floating point */
	msr	cpacr_el1, x0
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
 * one that loops to its own first instruction.
 * expect: region 5 runs 1 insns 239 user 64 kernel 175 other 21
 * expect: sym 5 k_first 14 7
 * expect: sym 5 k_leaf 21 7
 * expect: sym 5 k_loop 101 50
 * expect: sym 5 k_second 18 9
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
 * expect: sym 8 el1_sync 5 1
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

#ifdef LEFT_OPEN
	start	99
#endif
#ifdef DISARMED
	mark	4, 0
	b	1f
1:	start	99
	stop	99
#endif

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
	.quad	1

	.section .high, "ax"
k_unnamed:
	add	x1, x1, #1
	add	x1, x1, #1
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
