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
 * Started by QEMU's virt machine in M-mode without firmware. All that is
 * counted runs in S-mode. The assembler compresses what it can.
 */

	.option	norelax

#define FINISHER	0x100000
#define FINISHED	0x5555
#define GIGA_PAGE	0xcf		/* V, R, W, X, A, D */
#define STIMECMP	0x14d
#define PLACE		0x80300000	/* memory that nothing else uses */

	.macro	mark op, id		/* a hint with the register x(16 + op) */
	.insn	i 0x13, 2, x0, x\op, \id
	.endm
	.macro	start id
	mark	17, \id
	.endm
	.macro	stop id
	mark	18, \id
	.endm
	.macro	frame_bits bits		/* as a signed immediate */
	.if	(\bits) < 2048
	mark	21, (\bits)
	.else
	mark	21, ((\bits) - 4096)
	.endif
	.endm
	.macro	table address		/* names it a page table */
	frame_bits (((\address) >> 12) & 0xfff)
	frame_bits (((\address) >> 24) & 0xfff)
	frame_bits (((\address) >> 36) & 0xfff)
	.endm

	.macro	call_high function	/* two instructions */
	lui	t2, %hi(\function)
	jalr	ra, %lo(\function)(t2)
	.endm

	.text
	.globl	_start
_start:
	li	t0, -1
	csrw	pmpaddr0, t0
	li	t0, 0x1f		/* all memory, for everyone */
	csrw	pmpcfg0, t0
	li	t0, -1
	csrw	medeleg, t0
	csrw	mideleg, t0
	csrw	mcounteren, t0
	li	t0, 1
	slli	t0, t0, 63		/* stimecmp */
	csrw	0x30a, t0		/* menvcfg */
	csrw	STIMECMP, t0
	lla	t0, root
	srli	t0, t0, 12
	li	t1, 8
	slli	t1, t1, 60		/* 39 bits */
	or	t0, t0, t1
	csrw	satp, t0
	sfence.vma
	lui	t0, %hi(k_fault)
	addi	t0, t0, %lo(k_fault)
	csrw	stvec, t0
	li	t0, 3 << 11
	csrc	mstatus, t0
	li	t0, 1 << 11 | 1 << 13	/* return to S-mode; floating point */
	csrs	mstatus, t0
	lla	t0, 1f
	csrw	mepc, t0
	mret
	.balign	4
1:	lla	s2, data		/* for loads that succeed */
	li	s3, 0xc0000000		/* and for those that do not */

#ifdef NOT_ARMED
	start	1
	stop	1
#endif
	mark	19, 0
	li	t0, 10			/* takes effect at the next block */
1:	addi	t0, t0, -1
	bnez	t0, 1b
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
 * lines: region 30 runs 2 insns 60 user 20 kernel 40 other 4
 * lines: event 30 atomic 4
 * lines: event 30 lines_read 8
 * lines: event 30 lines_written 16
 * lines: event 30 table_words 8
 * lines: sym 30 k_lines_a 18 2 atomic=2 lines_read=6 lines_written=6
 * lines: sym 30 k_lines_b 6 2 lines_written=4 table_words=2
 * lines: sym 30 k_tables 12 2 atomic=2 lines_read=2 lines_written=4 table_words=6
 */
	li	s4, PLACE
	lui	s5, %hi(PLACE)		/* the same memory, higher up */
	lui	t0, 1
	add	s6, s5, t0
	add	s7, s6, t0
	add	s8, s7, t0
	li	s9, 0x10000000		/* the UART */
	table	PLACE + 0x3000
	li	s10, 2
1:	start	30
	call_high k_lines_a
	ld	t0, 512(s4)
	call_high k_lines_b
	sd	t0, 1024(s4)
	call_high k_tables
	call_high k_unnamed_lines
	stop	30
	addi	s10, s10, -1
	bnez	s10, 1b
	call_high k_tables
	table	PLACE + 0x1000
	table	PLACE + 0x1000
	table	0xabcdef123000
#ifdef NESTED
	start	31
	start	30
	stop	30
	stop	31
#endif
#ifdef HALF_SPELT
	mark	21, 1
	mark	21, 1
#endif
	j	finish
#endif

/*
 * Nothing at all, twenty times.
 * expect: region 1 runs 20 insns 0 user 0 kernel 0 other 0
 */
	li	t0, 20
1:	start	1
	stop	1
	addi	t0, t0, -1
	bnez	t0, 1b

/*
 * A straight line; markers in the middle of a block.
 * expect: region 2 runs 1 insns 10 user 10 kernel 0 other 0
 */
	addi	t1, t1, 1
	start	2
	addi	t1, t1, 1
	slti	zero, x15, 1		/* a hint that is no marker */
	ld	t2, 0(s2)
	nop
	lui	t3, 3
	fcvt.d.l fa0, t3
	mul	t1, t3, t3
	sd	t1, 0(s2)
	mv	t3, t1
	add	t1, t1, t3
	stop	2
	addi	t1, t1, 1

/*
 * Loops; one region inside another; both more than once.
 * expect: region 3 runs 5 insns 10070 user 10070 kernel 0 other 0
 * expect: region 4 runs 5 insns 10005 user 10005 kernel 0 other 0
 */
	li	s4, 5
2:	start	3
	addi	t1, t1, 1
	li	t0, 4
1:	addi	t0, t0, -1
	bnez	t0, 1b
	start	4
	li	t0, 1000
1:	addi	t0, t0, -1
	bnez	t0, 1b
	stop	4
	addi	t1, t1, 1
	addi	t1, t1, 1
	addi	t1, t1, 1
	stop	3
	addi	s4, s4, -1
	bnez	s4, 2b

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
	li	s4, 7
	start	5
1:	call_high k_unnamed
	call_high k_first
	call_high k_leaf
	addi	s4, s4, -1
	bnez	s4, 1b
	call_high k_second
	call_high k_second
	li	t0, 50
	call_high k_loop
	addi	t0, t0, 1
	stop	5

/*
 * Every kind of sfence.vma and sinval.vma, and what belongs to the latter.
 * expect: region 6 runs 3 insns 36 user 36 kernel 0 other 0
 * expect: tlb 6 sfence_va 12
 * expect: tlb 6 sfence_asid 6
 * expect: tlb 6 sfence_all 6
 */
	li	t0, 3
	lla	s5, data
1:	start	6
	sfence.vma
	sfence.vma s5
	sfence.vma zero, t1
	sfence.vma s5, t1
	.insn	r 0x73, 0, 0x0b, x0, x0, x0	/* sinval.vma */
	.insn	r 0x73, 0, 0x0b, x0, s5, x0
	.insn	r 0x73, 0, 0x0b, x0, x0, t1
	.insn	r 0x73, 0, 0x0b, x0, s5, t1
	.insn	r 0x73, 0, 0x0c, x0, x0, x0	/* sfence.w.inval */
	.insn	r 0x73, 0, 0x0c, x0, x0, x1	/* sfence.inval.ir */
	csrr	t2, satp
	csrw	satp, t2
	stop	6
	addi	t0, t0, -1
	bnez	t0, 1b

/*
 * A block that a page fault leaves in the middle, five times; the handler
 * steps over the instruction, of four bytes.
 * expect: region 7 runs 1 insns 50 user 30 kernel 20 other 0
 * expect: sym 7 k_fault 20 5
 */
	li	t0, 5
	start	7
1:	addi	t1, t1, 1
	addi	t1, t1, 1
	lw	t5, 4(s3)
	addi	t1, t1, 1
	addi	t0, t0, -1
	bnez	t0, 1b
	stop	7

/*
 * Interrupts, hundreds: 100,000 rounds of ten instructions, plus k_timer's four
 * for each interrupt. The test knows, for no line can say it.
 */
	lui	t0, %hi(k_timer)
	addi	t0, t0, %lo(k_timer)
	csrw	stvec, t0
	li	t0, 1 << 5
	csrs	sie, t0
	csrr	t3, time
	csrw	STIMECMP, t3
	li	t0, 100000
	csrsi	sstatus, 2
	start	9
1:	addi	t1, t1, 1
	ld	t2, 0(s2)
	addi	t1, t1, 1
	xor	t4, t2, t1
	fcvt.d.l fa0, t4
	addi	t1, t1, 1
	sd	t2, 0(s2)
	addi	t1, t1, 1
	addi	t0, t0, -1
	bnez	t0, 1b
	stop	9
	csrci	sstatus, 2

/*
 * Interrupts as in region 9, all of them in the span "held", which leaves out
 * five instructions of the region. The test knows.
 */
	li	t0, 100000
	start	15
	call_high k_lock
	csrsi	sstatus, 2
1:	addi	t1, t1, 1
	ld	t2, 0(s2)
	addi	t0, t0, -1
	bnez	t0, 1b
	csrci	sstatus, 2
	call_high k_unlock
	addi	t1, t1, 1
	stop	15
	li	t0, -1
	csrw	STIMECMP, t0

/*
 * Spans, three runs: an end without a begin, though the run before was stopped
 * in a span; a begin within a span; k_lock by its second name.
 * span=held:k_lock:k_unlock
 * span=free:k_unlock:k_lock_alias
 * expect: region 12 runs 3 insns 81 user 42 kernel 39 other 0
 * expect: sym 12 k_lock 27 9
 * expect: sym 12 k_unlock 12 6
 * expect: span 12 held 6 45
 * expect: span 12 free 6 30
 */
	li	s4, 3
1:	start	12
	call_high k_unlock
	addi	t1, t1, 1
	call_high k_lock
	addi	t1, t1, 1
	call_high k_lock
	call_high k_unlock
	addi	t1, t1, 1
	call_high k_lock
	addi	t1, t1, 1
	stop	12
	addi	s4, s4, -1
	bnez	s4, 1b

/*
 * Atomics and fences of the kernel, but not of the user and not those that fail
 * to be one; two runs that differ. A store-conditional that fails counts, a
 * load-reserved without a store does not.
 * watch=k_reserved
 * watch=k_twin
 * watch=k_never
 * expect: region 16 runs 2 insns 89 user 24 kernel 65 other 3
 * expect: event 16 atomic 20
 * expect: event 16 fence 9
 * expect: event 16 fence_i 2
 * expect: sym 16 k_amo 16 1 atomic=13
 * expect: sym 16 k_fences 16 2 fence=8 fence_i=2
 * expect: sym 16 k_reserved 24 3 atomic=6
 * expect: sym 16 k_twin 6 3
 * stop: stop 16 insns 35 user 12 kernel 23 atomic=3 fence=5 fence_i=1 k_reserved=1 k_twin=2
 * stop: stop 16 insns 54 user 12 kernel 42 atomic=17 fence=4 fence_i=1 k_reserved=2 k_twin=1
 */
	start	16
	amoadd.d t1, t2, (s2)
	fence
	call_high k_unnamed_events
	call_high k_reserved
	call_high k_fences
	call_high k_twin__1
	call_high k_twin__2
	stop	16
	start	16
	amoswap.w t1, t2, (s2)
	fence.i
	call_high k_amo
	call_high k_reserved
	call_high k_reserved
	call_high k_fences
	call_high k_twin__1
	stop	16

/*
 * Calls of lock functions: by jal and by a jump at the end, also a compressed
 * one, by code without a symbol, and a loop; not by a call that is not reached,
 * and not by an indirect one.
 * locks=k_lock_alias
 * locks=k_spin
 * locks=k_twin
 * locks=k_never
 * expect: region 17 runs 2 insns 144 user 20 kernel 124 other 12
 * expect: sym 17 k_caller 20 2
 * expect: sym 17 k_lock 30 10
 * expect: sym 17 k_other 24 2
 * expect: sym 17 k_spin 26 10
 * expect: sym 17 k_twin 8 4
 * expect: sym 17 k_unlock 4 2
 * expect: span 17 held 4 126
 * expect: span 17 free 2 14
 * expect: lock 17 k_caller k_lock_alias 6
 * expect: lock 17 k_other k_twin 4
 * expect: lock 17 k_other k_spin 2
 * expect: lock 17 - k_lock_alias 2
 */
	li	s4, 2
1:	li	t0, 3
	start	17
	call_high k_lock
	call_high k_caller
	call_high k_other
	call_high k_unnamed_caller
	addi	t1, t1, 1
	addi	t1, t1, 1
	stop	17
	addi	s4, s4, -1
	bnez	s4, 1b

#ifdef LEFT_OPEN
	start	99
#endif
#ifdef DISARMED
	mark	20, 0
	j	1f
1:	start	99
	stop	99
#endif

finish:
	li	t0, FINISHED
	li	t1, FINISHER
	sw	t0, 0(t1)
1:	j	1b

	.balign	4096
root:	.quad	0 | GIGA_PAGE		/* devices, and memory for both halves */
	.quad	0
	.quad	0x80000000 >> 2 | GIGA_PAGE
	.fill	507, 8, 0
	.quad	0x80000000 >> 2 | GIGA_PAGE
	.quad	0
	.balign	64
data:
	.quad	1, 0

	.section .high, "ax"
k_unnamed:
	addi	t1, t1, 1
	addi	t1, t1, 1
	ret

k_unnamed_lines:
	sd	t0, 576(s5)		/* writes a line */
	ret

k_unnamed_caller:
	mv	t6, ra
	jal	k_lock
	addi	t1, t1, 1
	beqz	zero, 1f
	jal	k_lock
1:	addi	t1, t1, 1
	jr	t6

k_unnamed_events:
	amoadd.d t1, t2, (s2)
	fence	w, w
	ret

k_leaf:
	li	t1, 1
	addi	t1, t1, 1
	ret

k_first:
	addi	t1, t1, 1
	addi	t1, t1, 1
k_second:
	addi	t1, t1, 1
	ret

k_loop:
	addi	t0, t0, -1
	bnez	t0, k_loop
	ret

k_lock:
k_lock_alias:
	ld	t2, 0(s2)
	addi	t1, t1, 1
	ret

k_unlock:
	ld	t2, 0(s2)
	ret

k_twin__1:
	addi	t1, t1, 1
	ret

k_twin__2:
	addi	t1, t1, 1
	ret

k_reserved:
	lr.d	t1, (s2)		/* not stored */
	sd	t1, 0(s2)
	lr.w	t1, (s2)
	sc.w	t1, t2, (s2)
	sc.d	t1, t2, (s2)		/* fails */
	addi	t1, t1, 1
	addi	t1, t1, 1
	ret

k_amo:
	amoswap.w t1, t2, (s2)
	amoadd.w.aqrl t1, t2, (s2)
	amoxor.d t1, t2, (s2)
	amoand.d.rl t1, t2, (s2)
	amoor.w	t1, t2, (s2)
	amomin.d t1, t2, (s2)
	amomax.d t1, t2, (s2)
	amominu.w t1, t2, (s2)
	amomaxu.w t1, t2, (s2)
	amoadd.d zero, t2, (s2)
	amoswap.d.aq t1, zero, (s2)
	amoand.w t1, t2, (s2)
	amoor.d	t1, t2, (s2)
	lr.w.aq	t1, (s2)		/* no atomic */
	sd	t1, 0(s2)
	ret

k_fences:
	fence
	fence	r, rw
	fence	rw, w
	fence.tso
	fence.i
	.insn	0x0100000f		/* pause: no fence */
	addi	t1, t1, 1
	ret

k_caller:
	mv	t6, ra
	jal	k_lock
	jal	k_lock_alias
	addi	t1, t1, 1
	jal	k_unlock
	beqz	zero, 1f
	jal	k_twin__1
1:	addi	t1, t1, 1
	mv	ra, t6
	nop
	j	k_lock

k_other:
	mv	t6, ra
	jal	k_twin__1
	jal	k_twin__2
	mv	ra, t6
	lui	t5, %hi(1f)
	addi	ra, t5, %lo(1f)
	j	k_spin
1:	bnez	zero, k_spin
	lui	t5, %hi(k_spin)
	addi	t5, t5, %lo(k_spin)
	mv	ra, t6
	jr	t5

k_spin:
	beqz	t0, 1f
	addi	t0, t0, -1
	j	k_spin
1:	ret

k_never:
	ret

k_lines_a:
	ld	t0, 0(s5)		/* reads line 0 */
	sd	t0, 16(s5)		/* writes it */
	ld	t0, 32(s4)
	ld	t0, 124(s5)		/* reads lines 1 and 2 */
	sd	t0, 188(s5)		/* writes 2 and 3 */
	amoadd.d t1, t0, (s5)
	lbu	t0, 5(s9)		/* a device */
	nop
	ret

k_lines_b:
	sd	t0, 448(s4)		/* writes line 7 */
	sd	t0, 0(s8)		/* writes a line: one word */
	ret

k_tables:
	sd	t0, 0(s6)		/* writes a line: one word */
	sd	t0, 8(s6)		/* another */
	sw	t0, 16(s6)
	amoswap.d t1, t0, (s6)		/* reads the line; one word */
	sd	t0, 0(s7)		/* writes a line; in no table */
	ret

	.balign	4
k_fault:
	csrr	t4, sepc
	addi	t4, t4, 4
	csrw	sepc, t4
	sret

	.balign	4
k_timer:
	csrr	t3, time
	addi	t3, t3, 10
	csrw	STIMECMP, t3
	sret
