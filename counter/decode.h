/* SPDX-License-Identifier: GPL-2.0 */
/* The properties of a guest instruction that the counter needs. */
#ifndef QUIRE_DECODE_H
#define QUIRE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INSN_MAX_BYTES	15	/* the longest, on x86 */
#define TLB_CLASSES	4
#define EVENT_KINDS	6	/* that the target's instructions cause */

/*
 * Kinds of events that the instruction alone does not tell: lines.h, tables.h,
 * caches.h.
 */
enum {
	KIND_LINES_READ = EVENT_KINDS,
	KIND_LINES_WRITTEN,
	KIND_TABLE_WORDS,
	KIND_L2_HITS,
	KIND_LLC_HITS,
	KIND_MEMORY,
	KIND_STREAMED,
	ALL_KINDS,
};

/* Marker operations: the upper four bits of a marker's payload. */
enum marker_op {
	MARKER_START = 1,
	MARKER_STOP = 2,
	MARKER_ARM = 3,
	MARKER_DISARM = 4,
	MARKER_TABLE = 5,
};

enum string_rep {
	REP_NONE,
	REP_ACCESS,	/* one access per iteration: rep stos, rep lods */
	REP_COPY,	/* a load, then a store: rep movs */
};

struct insn_info {
	/*
	 * Cannot fault, trap or leave the block: once it has begun to execute,
	 * the next one of the block will, too. False if in doubt, which costs
	 * speed but not exactness.
	 */
	bool plain;
	bool marker;
	uint16_t payload;	/* of a marker: op << 12 | region */
	int tlb_class;		/* index into target->tlb_class, or -1 */
	int event;		/* index into target->event, or -1 */
	enum string_rep rep;
	bool branch;		/* a direct call or jump, not a conditional one */
	int64_t distance;	/* of a branch: from its address to its target */
	bool clears_line;	/* zeroes a line, without a memory callback */
	bool spin_lock;		/* what takes a spin lock where that is inlined */
};

struct target {
	const char *name;	/* as QEMU calls it */
	const char *tlb_class[TLB_CLASSES];	/* NULL after the last */
	const char *event[EVENT_KINDS];		/* the same */
	struct insn_info (*decode)(const uint8_t *code, size_t len);
};

/* The target of that name, or NULL. */
const struct target *target_find(const char *name);

extern const struct target target_aarch64;
extern const struct target target_riscv64;
extern const struct target target_x86_64;

#endif
