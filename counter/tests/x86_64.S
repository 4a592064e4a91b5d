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
 * Started by QEMU's microvm machine through the PVH entry point, in 32-bit
 * mode with paging off.
 */

#define LAPIC		0xfee00000
#define TABLE_FLAGS	3		/* present, writable */
#define PAGE_FLAGS	0x83		/* the same, a large page */
#define DEVICE_FLAGS	0x93		/* the same, uncached */
#define HOLE		0x600000	/* the one large page that is not mapped */
#define BUFFER		0x400000
#define CODE64		8
#define TIMER_VECTOR	0x40

	.macro	mark op, id
	.byte	0x0f, 0x1f, 0x80
	.long	0x51550000 | (\op << 12) | \id
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

	.macro	call_high function	/* two instructions */
	mov	$\function, %rbx
	call	*%rbx
	.endm

	.macro	gate vector, handler
	mov	$\handler, %rax
	mov	$idt + 16 * \vector, %edi
	call	set_gate
	.endm

	.section .note, "a"
	.long	4, 4, 18		/* PHYS32_ENTRY */
	.asciz	"Xen"
	.long	_start

	.text
	.code32
	.globl	_start
_start:
	lgdt	gdt_pointer
	mov	$0x6a0, %eax		/* OSXMMEXCPT, OSFXSR, PGE, PAE */
	mov	%eax, %cr4
	mov	$pml4, %eax
	mov	%eax, %cr3
	mov	$0xc0000080, %ecx	/* EFER */
	mov	$0x101, %eax		/* long mode, syscall */
	xor	%edx, %edx
	wrmsr
	mov	$0x80000013, %eax	/* paging, protection */
	mov	%eax, %cr0
	ljmp	$CODE64, $1f
	.code64
1:	xor	%eax, %eax
	mov	%eax, %ss
	mov	$stack, %esp
	gate	14, k_page_fault
	gate	TIMER_VECTOR, k_timer
	lidt	idt_pointer
	mov	$BUFFER, %esi

#ifdef NOT_ARMED
	start	1
	stop	1
#endif
	mark	3, 0
	mov	$10, %ecx		/* takes effect at the next block */
1:	dec	%ecx
	jnz	1b
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
 * lines: region 30 runs 2 insns 78 user 20 kernel 58 other 4
 * lines: event 30 atomic 4
 * lines: event 30 lines_read 14
 * lines: event 30 lines_written 20
 * lines: event 30 table_words 12
 * lines: sym 30 k_lines_a 26 2 atomic=2 lines_read=10 lines_written=10
 * lines: sym 30 k_lines_b 12 2 lines_read=2 lines_written=4 table_words=2
 * lines: sym 30 k_tables 16 2 atomic=2 lines_read=2 lines_written=4 table_words=10
 */
	mov	$0xffffffff80000000 | BUFFER, %rdi
	mov	$LAPIC, %r14d
	table	BUFFER + 0x3000
	mov	$2, %r12d
1:	start	30
	call_high k_lines_a
	mov	960(%rsi), %rax
	call_high k_lines_b
	mov	%rax, 0x1000(%rsi)
	call_high k_tables
	call_high k_unnamed_lines
	stop	30
	dec	%r12d
	jnz	1b
	call_high k_tables
	table	BUFFER + 0x1000
	table	BUFFER + 0x1000
	table	0xabcdef123000
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
	jmp	finish
#endif

/*
 * Nothing at all, twenty times.
 * expect: region 1 runs 20 insns 0 user 0 kernel 0 other 0
 */
	mov	$20, %ecx
1:	start	1
	stop	1
	dec	%ecx
	jnz	1b

/*
 * A straight line; markers in the middle of a block.
 * expect: region 2 runs 1 insns 9 user 9 kernel 0 other 0
 */
	add	$1, %eax
	start	2
	add	$1, %eax
	lea	(%rax,%rax), %edx
	mov	(%rsi), %rdx
	nop
	imul	%edx, %eax
	movd	%eax, %xmm0
	push	%rax
	pop	%rax
	add	$1, %rax
	stop	2
	add	$1, %eax

/*
 * Loops; one region inside another; both more than once.
 * expect: region 3 runs 5 insns 10070 user 10070 kernel 0 other 0
 * expect: region 4 runs 5 insns 10005 user 10005 kernel 0 other 0
 */
	mov	$5, %edx
2:	start	3
	add	$1, %eax
	mov	$4, %ecx
1:	dec	%ecx
	jnz	1b
	start	4
	mov	$1000, %ecx
1:	dec	%ecx
	jnz	1b
	stop	4
	add	$1, %eax
	add	$1, %eax
	add	$1, %eax
	stop	3
	dec	%edx
	jnz	2b

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
	mov	$7, %edx
	start	5
1:	call_high k_unnamed
	call_high k_first
	call_high k_leaf
	dec	%edx
	jnz	1b
	call_high k_second
	call_high k_second
	mov	$50, %ecx
	call_high k_loop
	add	$1, %eax
	stop	5

/*
 * What invalidates TLB entries, and moves to and from control registers that
 * do not count.
 * expect: region 6 runs 3 insns 33 user 33 kernel 0 other 0
 * expect: tlb 6 invlpg 9
 * expect: tlb 6 cr3 6
 */
	mov	$3, %ecx
1:	start	6
	invlpg	(%rsi)
	invlpg	0x1000(%rsi,%rax)
	invlpg	%gs:0x7ec73680
	mov	%cr3, %rax
	mov	%rax, %cr3
	mov	%cr3, %r9
	mov	%r9, %cr3
	mov	%cr4, %rax
	mov	%rax, %cr4
	mov	%cr0, %rax
	mov	%rax, %cr0
	stop	6
	dec	%ecx
	jnz	1b

/*
 * String instructions with rep are one instruction, whatever the number of
 * iterations; also where a jump leads straight to one.
 * expect: region 7 runs 1 insns 34 user 34 kernel 0 other 0
 */
	xor	%eax, %eax
	start	7
	mov	$BUFFER, %edi
	mov	$4096, %ecx
	rep stosb
	mov	$512, %ecx
	rep stosq
	mov	$BUFFER, %edi
	lea	0x8000(%rdi), %rsi
	mov	$512, %ecx
	rep movsq
	mov	$4095, %ecx
	rep movsb
	mov	$1, %ecx
	rep movsb
	xor	%ecx, %ecx
	rep movsb
	mov	$BUFFER, %esi
	mov	$100, %ecx
	rep lodsl
	mov	$3, %edx
2:	mov	$10, %ecx
	jmp	1f
1:	rep stosl
	dec	%edx
	jnz	2b
	stop	7

/*
 * One that compares counts each iteration: 16 and one more to find the count
 * zero; then the three that lead to the byte.
 * expect: region 8 runs 1 insns 25 user 25 kernel 0 other 0
 */
	xor	%eax, %eax
	movb	$7, BUFFER + 66
	start	8
	mov	$BUFFER, %edi
	mov	$16, %ecx
	repe scasb
	mov	$7, %eax
	mov	$BUFFER + 64, %edi
	mov	$100, %ecx
	repne scasb
	stop	8

/*
 * A block that a page fault leaves in the middle, five times: the load counts
 * for each of its two attempts.
 * expect: region 9 runs 5 insns 45 user 25 kernel 20 other 0
 * expect: sym 9 k_page_fault 20 5
 */
	mov	$5, %ecx
1:	call	unmap_hole
	start	9
	add	$1, %eax
	add	$1, %eax
	mov	HOLE, %edx
	add	$1, %eax
	stop	9
	dec	%ecx
	jnz	1b

/*
 * Page faults after a hundred iterations of a string instruction, at the store
 * and at the load: one for the attempt, one when it comes to its end.
 * expect: region 10 runs 1 insns 15 user 11 kernel 4 other 0
 * expect: sym 10 k_page_fault 4 1
 * expect: region 11 runs 1 insns 8 user 4 kernel 4 other 0
 * expect: sym 11 k_page_fault 4 1
 * expect: region 12 runs 1 insns 9 user 5 kernel 4 other 0
 * expect: sym 12 k_page_fault 4 1
 */
	call	unmap_hole
	start	10
	mov	$HOLE - 100, %edi
	mov	$200, %ecx
	rep stosb			/* two */
	mov	$BUFFER, %edi
	mov	$200, %ecx
	rep stosb
	mov	$BUFFER, %edi
	mov	$200, %ecx
	mov	$BUFFER, %esi
	rep movsb
	stop	10
	call	unmap_hole
	start	11
	mov	$HOLE - 100, %edi
	mov	$200, %ecx
	rep movsb			/* two */
	stop	11
	call	unmap_hole
	start	12
	mov	$BUFFER, %edi
	mov	$HOLE - 100, %esi
	mov	$200, %ecx
	rep movsb			/* two */
	stop	12

/*
 * Blocks that end at a page: with an instruction that crosses into the next,
 * and with one that just does not.
 * expect: region 13 runs 1 insns 4 user 4 kernel 0 other 0
 * expect: region 14 runs 1 insns 5 user 5 kernel 0 other 0
 */
	jmp	1f
	.balign	4096
	.skip	4096 - 16
1:	start	13			/* seven bytes */
	add	$1, %eax		/* three */
	add	$1, %eax
	movabs	$0x123456789a, %rax	/* three on this page, seven on the next */
	add	$1, %eax
	stop	13
	jmp	1f
	.balign	4096
	.skip	4096 - 16
1:	start	14
	add	$1, %eax
	add	$1, %eax
	add	$1, %eax		/* to the end of the page */
	add	$1, %eax
	add	$1, %eax
	stop	14

/*
 * Interrupts, a thousand: 100,000 rounds of ten instructions, plus k_timer's
 * two for each interrupt. The test knows, for no line can say it.
 */
	mov	$LAPIC, %r14d
	movl	$0x1ff, 0xf0(%r14)		/* enable */
	movl	$0x10000, 0x350(%r14)		/* no LINT0 */
	movl	$0xb, 0x3e0(%r14)		/* every tick, of 1 ns */
	movl	$0x20000 | TIMER_VECTOR, 0x320(%r14)	/* periodic */
	movl	$1000, 0x380(%r14)
	mov	$BUFFER, %esi
	mov	$100000, %ecx
	sti
	start	15
1:	add	$1, %eax
	mov	(%rsi), %rdx
	add	$1, %eax
	mov	%edx, %ebx
	push	%rbx
	pop	%rbx
	xor	%ebx, %edx
	mov	%rdx, (%rsi)
	dec	%ecx
	jnz	1b
	stop	15
	cli

/*
 * Disarmed and armed again.
 * expect: region 16 runs 1 insns 3 user 3 kernel 0 other 0
 */
	.irp	op, 4, 3
	mark	\op, 0
	mov	$10, %ecx
1:	dec	%ecx
	jnz	1b
	.endr
	start	16
	add	$1, %eax
	mov	(%rsi), %rdx
	nop
	stop	16

/*
 * Spans, three runs: an end without a begin, though the run before was stopped
 * in a span; a begin within a span; k_lock by its second name.
 * span=held:k_lock:k_unlock
 * span=free:k_unlock:k_lock_alias
 * expect: region 17 runs 3 insns 81 user 42 kernel 39 other 0
 * expect: sym 17 k_lock 27 9
 * expect: sym 17 k_unlock 12 6
 * expect: span 17 held 6 45
 * expect: span 17 free 6 30
 */
	mov	$3, %ecx
1:	start	17
	call_high k_unlock
	add	$1, %eax
	call_high k_lock
	add	$1, %eax
	call_high k_lock
	call_high k_unlock
	add	$1, %eax
	call_high k_lock
	add	$1, %eax
	stop	17
	dec	%ecx
	jnz	1b

/*
 * Regions that overlap, each with spans of its own, and start within a span.
 * expect: region 18 runs 1 insns 21 user 11 kernel 10 other 0
 * expect: sym 18 k_lock 6 2
 * expect: sym 18 k_unlock 4 2
 * expect: span 18 held 2 10
 * expect: span 18 free 2 8
 * expect: region 19 runs 1 insns 16 user 9 kernel 7 other 0
 * expect: sym 19 k_lock 3 1
 * expect: sym 19 k_unlock 4 2
 * expect: span 19 held 1 7
 * expect: span 19 free 2 6
 */
	call_high k_lock
	start	18
	add	$1, %eax
	call_high k_unlock
	call_high k_lock
	start	19
	add	$1, %eax
	call_high k_unlock
	call_high k_lock
	add	$1, %eax
	stop	18
	add	$1, %eax
	call_high k_unlock
	stop	19

/*
 * A span that begins, and one that ends, where the first instruction is executed
 * twice for its page fault. Functions of one name.
 * span=touch:k_touch:k_end
 * span=until:k_twin:k_touch
 * expect: region 20 runs 1 insns 24 user 11 kernel 13 other 0
 * expect: sym 20 k_end 2 1
 * expect: sym 20 k_page_fault 4 1
 * expect: sym 20 k_touch 3 2
 * expect: sym 20 k_twin 4 2
 * expect: span 20 touch 1 10
 * expect: span 20 until 2 8
 */
	call	unmap_hole
	start	20
	call_high k_twin__1
	add	$1, %eax
	call_high k_touch
	add	$1, %eax
	call_high k_end
	call_high k_twin__2
	add	$1, %eax
	stop	20

/*
 * String instructions inside a span and outside.
 * expect: region 21 runs 1 insns 18 user 10 kernel 8 other 0
 * expect: sym 21 k_lock 6 2
 * expect: sym 21 k_unlock 2 1
 * expect: span 21 held 2 10
 * expect: span 21 free 1 6
 */
	mov	$BUFFER, %edi
	start	21
	call_high k_lock
	mov	$100, %ecx
	rep stosb
	call_high k_unlock
	mov	$50, %ecx
	rep stosb
	call_high k_lock
	stop	21

/*
 * Interrupts as in region 15, all of them in the span "held", which leaves out
 * five instructions of the region. The test knows.
 */
	mov	$100000, %ecx
	start	22
	call_high k_lock
	sti
1:	add	$1, %eax
	mov	(%rsi), %rdx
	mov	%rdx, (%rsi)
	dec	%ecx
	jnz	1b
	cli
	call_high k_unlock
	add	$1, %eax
	stop	22

/*
 * Atomics and barriers of the kernel, but not of the user and not those that
 * fail to be one; two runs that differ.
 * watch=k_fences
 * watch=k_twin
 * watch=k_never
 * expect: region 23 runs 2 insns 65 user 21 kernel 44 other 3
 * expect: event 23 atomic 11
 * expect: event 23 mfence 4
 * expect: event 23 lfence 4
 * expect: event 23 sfence 2
 * expect: sym 23 k_atomic 15 1 atomic=10
 * expect: sym 23 k_fences 20 2 mfence=4 lfence=4 sfence=2
 * expect: sym 23 k_twin 6 3
 * expect: span 23 until 2 8
 * stop: stop 23 insns 27 user 10 kernel 17 atomic=1 mfence=2 lfence=2 sfence=1 k_fences=1 k_twin=2
 * stop: stop 23 insns 38 user 11 kernel 27 atomic=10 mfence=2 lfence=2 sfence=1 k_fences=1 k_twin=1
 */
	mov	$BUFFER, %esi
	start	23
	lock incl (%rsi)
	mfence
	call_high k_unnamed_events
	call_high k_fences
	call_high k_twin__1
	call_high k_twin__2
	stop	23
	start	23
	xchg	%eax, (%rsi)
	lfence
	sfence
	mov	$BUFFER, %edi
	add	$1, %eax
	call_high k_atomic
	call_high k_fences
	call_high k_twin__1
	stop	23

/*
 * Calls of lock functions: by a call and by a jump at the end, by code without
 * a symbol, and a loop; not by a call that is not reached, and not by an
 * indirect one.
 * locks=k_lock_alias
 * locks=k_spin
 * locks=k_twin
 * locks=k_never
 * expect: region 24 runs 2 insns 136 user 20 kernel 116 other 10
 * expect: sym 24 k_caller 14 2
 * expect: sym 24 k_lock 30 10
 * expect: sym 24 k_other 14 2
 * expect: sym 24 k_spin 36 10
 * expect: sym 24 k_twin 8 4
 * expect: sym 24 k_unlock 4 2
 * expect: span 24 held 4 122
 * expect: span 24 free 2 10
 * expect: span 24 until 2 80
 * expect: lock 24 k_caller k_lock_alias 6
 * expect: lock 24 k_other k_twin 4
 * expect: lock 24 k_other k_spin 2
 * expect: lock 24 - k_lock_alias 2
 */
	mov	$2, %r12d
1:	mov	$3, %ecx
	start	24
	call_high k_lock
	call_high k_caller
	call_high k_other
	call_high k_unnamed_caller
	add	$1, %eax
	add	$1, %eax
	stop	24
	dec	%r12d
	jnz	1b

#ifdef LEFT_OPEN
	start	99
#endif
#ifdef DISARMED
	mark	4, 0
	jmp	1f
1:	start	99
	stop	99
#endif

finish:
	lidt	nothing			/* a triple fault ends QEMU */
	ud2

unmap_hole:
	movq	$0, pd + 3 * 8
	invlpg	HOLE
	ret

/* %rax: the handler, %rdi: the gate */
set_gate:
	mov	%ax, (%rdi)
	movl	$0x8e000000 | CODE64, 2(%rdi)
	shr	$16, %rax
	mov	%ax, 6(%rdi)
	shr	$16, %rax
	mov	%eax, 8(%rdi)
	ret

	.balign	4096
pml4:	.quad	pdpt + TABLE_FLAGS
	.fill	510, 8, 0
	.quad	pdpt + TABLE_FLAGS
pdpt:	.quad	pd + TABLE_FLAGS	/* for both halves */
	.quad	0, 0
	.quad	0xc0000000 + DEVICE_FLAGS
	.fill	506, 8, 0
	.quad	pd + TABLE_FLAGS
	.quad	0
pd:	.quad	0x000000 + PAGE_FLAGS
	.quad	0x200000 + PAGE_FLAGS
	.quad	0x400000 + PAGE_FLAGS
	.fill	509, 8, 0
gdt:	.quad	0
	.quad	0x00209b0000000000	/* CODE64 */
gdt_pointer:
	.word	. - gdt - 1
	.long	gdt
idt:	.fill	(TIMER_VECTOR + 1) * 16, 1, 0
idt_pointer:
	.word	. - idt - 1
	.quad	idt
nothing:
	.fill	10, 1, 0
	.skip	4096
stack:

	.section .high, "ax"
k_unnamed:
	add	$1, %eax
	add	$1, %eax
	ret

k_unnamed_lines:
	mov	%rax, 704(%rdi)		/* writes a line */
	ret

k_unnamed_caller:
	call	k_lock
	add	$1, %eax
	jmp	1f
	call	k_lock
1:	add	$1, %eax
	ret

k_unnamed_events:
	lock incl (%rsi)
	add	$1, %eax
	ret

k_leaf:
	mov	$1, %eax
	add	$1, %eax
	ret

k_first:
	add	$1, %eax
	add	$1, %eax
k_second:
	add	$1, %eax
	ret

k_loop:
	dec	%ecx
	jnz	k_loop
	ret

k_lock:
k_lock_alias:
	mov	(%rsi), %rdx
	add	$1, %eax
	ret

k_unlock:
	mov	(%rsi), %rdx
	ret

k_touch:
	mov	HOLE, %edx
	ret

k_end:
	add	$1, %eax
	ret

k_twin__1:
	add	$1, %eax
	ret

k_twin__2:
	add	$1, %eax
	ret

k_atomic:
	lock incl (%rsi)
	lock xaddq %rax, 8(%rsi)
	lock cmpxchg %edx, (%rsi)
	lock cmpxchg16b (%rsi)
	lock btsq $5, (%rsi)
	lock orb $1, %gs:BUFFER
	lock addl $0, -4(%rsp)
	xchg	%eax, (%rsi)
	xchg	%r8, 8(%rsi)
	xchg	%al, 16(%rsi)
	xchg	%al, %dl		/* no atomic, nor the next three */
	xchg	%rax, %rdx
	incl	(%rsi)
	cmpxchg	%edx, (%rsi)
	ret

k_fences:
	mfence
	lfence
	sfence
	mfence
	lfence
	clflush	(%rsi)			/* no fence, nor the next three */
	fxsave	(%rsi)
	stmxcsr	512(%rsi)
	nop
	ret

k_caller:
	call	k_lock
	call	k_lock_alias
	add	$1, %eax
	call	k_unlock
	jmp	1f
	call	k_twin__1
1:	add	$1, %eax
	jmp.d32	k_lock

k_other:
	call	k_twin__1
	call	k_twin__2
	call	k_spin
	xor	%edx, %edx
	jnz	k_spin
	mov	$k_spin, %rdx
	jmp	*%rdx

k_spin:
	test	%ecx, %ecx
	jz	1f
	dec	%ecx
	jmp	k_spin
1:	ret

k_never:
	ret

k_lines_a:
	mov	(%rdi), %rax		/* reads line 0 */
	mov	8(%rdi), %rax
	mov	%rax, 16(%rdi)		/* writes it */
	mov	32(%rsi), %rax
	movdqu	60(%rdi), %xmm0		/* reads line 1 */
	lock xadd %rax, 128(%rdi)	/* reads and writes 2 */
	lea	512(%rdi), %rdi
	mov	$16, %ecx
	rep stosq			/* writes 8 and 9 */
	lea	-640(%rdi), %rdi
	incl	192(%rdi)		/* reads and writes 3 */
	mov	0x20(%r14), %edx	/* a device */
	ret				/* reads a line of the stack */

k_lines_b:
	mov	(%rdi), %rax
	mov	384(%rsi), %rax		/* reads line 6 */
	mov	392(%rdi), %rax
	mov	%rax, 448(%rsi)		/* writes 7 */
	mov	%rax, 0x3000(%rdi)	/* writes a line: one word */
	ret

k_tables:
	mov	%rax, 0x1000(%rdi)	/* writes a line: one word */
	mov	%rax, 0x1008(%rdi)	/* another */
	mov	%eax, 0x1010(%rdi)
	movups	%xmm0, 0x1020(%rdi)	/* two */
	mov	%rax, 0x1034(%rdi)
	xchg	%rax, 0x1000(%rdi)	/* reads the line; one word */
	mov	%rax, 0x2000(%rdi)	/* writes a line; in no table */
	ret

k_page_fault:
	movq	$HOLE + PAGE_FLAGS, pd + 3 * 8
	nop
	add	$8, %rsp		/* the error code */
	iretq

k_timer:
	movl	$0, 0xb0(%r14)		/* end of interrupt */
	iretq
