// SPDX-License-Identifier: GPL-2.0
/*
 * x86-64 instructions, 64-bit mode only. Encodings: Intel 64 and IA-32
 * Software Developer's Manual, volume 2, appendix A (opcode maps).
 */
#include <string.h>

#include "decode.h"

enum { INVLPG, INVPCID, CR3 };
enum { ATOMIC, MFENCE, LFENCE, SFENCE };

#define MARKER_UPPER	0x5155

struct opcode {
	bool opsize;		/* 66 */
	bool repz, repnz;	/* f3, f2 */
	bool lock;
	bool has_modrm;
	bool two;		/* after 0f */
	uint8_t byte;
	uint8_t modrm;
	const uint8_t *rest;	/* what follows the opcode byte */
	size_t rest_len;
};

static unsigned int mod(const struct opcode *op)
{
	return op->modrm >> 6;
}

static unsigned int reg(const struct opcode *op)
{
	return op->modrm >> 3 & 7;
}

/* Reads prefixes and opcode byte; false when the bytes end too early. */
static bool split(const uint8_t *code, size_t len, struct opcode *op)
{
	const uint8_t *end = code + len;

	memset(op, 0, sizeof(*op));
	for (; code < end; code++) {
		uint8_t b = *code;

		if (b == 0x66)
			op->opsize = true;
		else if (b == 0xf2)
			op->repnz = true;
		else if (b == 0xf3)
			op->repz = true;
		else if (b == 0xf0)
			op->lock = true;
		else if (b != 0x67 && (b & 0xe7) != 0x26 && (b & 0xfe) != 0x64 &&
			 (b & 0xf0) != 0x40)	/* size, segments, REX */
			break;
	}
	if (code < end && *code == 0x0f) {
		op->two = true;
		code++;
	}
	if (code == end)
		return false;
	op->byte = *code++;
	op->rest = code;
	op->rest_len = end - code;
	op->has_modrm = code < end;	/* the opcode says if it is one */
	op->modrm = code < end ? *code : 0;
	return true;
}

static bool one_byte_plain(const struct opcode *op)
{
	uint8_t b = op->byte;
	bool registers = op->has_modrm && mod(op) == 3;

	if (b < 0x40 && (b & 7) < 4)		/* add ... cmp, r/m and r */
		return registers;
	if (b < 0x40 && (b & 7) < 6)		/* add ... cmp, rAX and imm */
		return true;
	switch (b) {
	case 0x63: case 0x69: case 0x6b:	/* movsxd, imul */
	case 0x80: case 0x81: case 0x83:	/* add ... cmp with imm */
	case 0x84 ... 0x8b:			/* test, xchg, mov */
	case 0xc0: case 0xc1: case 0xd0 ... 0xd3:	/* shifts */
		return registers;
	case 0x8d:				/* lea */
		return op->has_modrm && !registers;
	case 0x90 ... 0x99:			/* xchg with rAX, cbw, cwd */
	case 0xa8: case 0xa9:			/* test rAX, imm */
	case 0xb0 ... 0xbf:			/* mov r, imm */
		return true;
	case 0xc6: case 0xc7:			/* mov r, imm */
		return registers && reg(op) == 0;
	case 0xf6: case 0xf7:			/* test ... imul, but not div */
		return registers && reg(op) < 6;
	case 0xfe: case 0xff:			/* inc, dec */
		return registers && reg(op) < 2;
	}
	return false;
}

static bool two_byte_plain(const struct opcode *op)
{
	bool registers = op->has_modrm && mod(op) == 3;

	switch (op->byte) {
	case 0x1f:				/* nop; touches no memory */
	case 0xc8 ... 0xcf:			/* bswap */
		return true;
	case 0x40 ... 0x4f:			/* cmov */
	case 0x90 ... 0x9f:			/* set */
	case 0xa3: case 0xab: case 0xb3: case 0xbb:	/* bt ... btc */
	case 0xa4: case 0xa5: case 0xac: case 0xad:	/* shld, shrd */
	case 0xaf:				/* imul */
	case 0xb6: case 0xb7: case 0xbe: case 0xbf:	/* movzx, movsx */
	case 0xbc: case 0xbd:			/* bsf, bsr */
		return registers;
	case 0xba:				/* bt ... btc with imm */
		return registers && reg(op) >= 4;
	}
	return false;
}

static bool is_plain(const struct opcode *op)
{
	/* With these prefixes some opcodes are other instructions. */
	if (op->lock || op->repz || op->repnz)
		return false;
	return op->two ? two_byte_plain(op) : one_byte_plain(op);
}

static int tlb_class(const struct opcode *op)
{
	if (!op->two || !op->has_modrm)
		return -1;
	switch (op->byte) {
	case 0x01:
		return reg(op) == 7 && mod(op) != 3 ? INVLPG : -1;
	case 0x22:		/* mov to a control register */
		return reg(op) == 3 ? CR3 : -1;
	case 0x38:
		return op->opsize && op->rest[0] == 0x82 ? INVPCID : -1;
	}
	return -1;
}

/*
 * With a register in place of memory, xchg does not lock, and a lock prefix
 * raises an exception.
 */
static bool is_atomic(const struct opcode *op)
{
	bool xchg = !op->two && (op->byte == 0x86 || op->byte == 0x87);

	return (op->lock || xchg) && op->has_modrm && mod(op) != 3;
}

static int event(const struct opcode *op)
{
	if (is_atomic(op))
		return ATOMIC;
	if (!op->two || op->byte != 0xae || !op->has_modrm || mod(op) != 3 ||
	    op->lock || op->opsize || op->repz || op->repnz)
		return -1;
	switch (reg(op)) {
	case 5:
		return LFENCE;
	case 6:
		return MFENCE;
	case 7:
		return SFENCE;
	}
	return -1;
}

static enum string_rep string_rep(const struct opcode *op)
{
	if (op->two || (!op->repz && !op->repnz))
		return REP_NONE;
	switch (op->byte) {
	case 0xa4: case 0xa5:	/* movs */
		return REP_COPY;
	case 0xaa: case 0xab:	/* stos */
	case 0xac: case 0xad:	/* lods */
		return REP_ACCESS;
	}
	return REP_NONE;
}

/* call and jmp; @code is where the instruction begins. */
static void decode_branch(const uint8_t *code, const struct opcode *op,
			  struct insn_info *info)
{
	int64_t before = op->rest - code;

	if (op->two)
		return;
	if ((op->byte == 0xe8 || op->byte == 0xe9) && op->rest_len >= 4) {
		const uint8_t *r = op->rest;
		uint32_t rel = r[0] | r[1] << 8 | r[2] << 16 |
			       (uint32_t)r[3] << 24;

		info->distance = before + 4 + (int32_t)rel;
		info->branch = true;
	} else if (op->byte == 0xeb && op->rest_len >= 1) {
		info->distance = before + 1 + (int8_t)op->rest[0];
		info->branch = true;
	}
}

/* nopl disp32(%rax) with the marker's number as displacement */
static bool is_marker(const uint8_t *code, size_t len)
{
	return len == 7 && code[0] == 0x0f && code[1] == 0x1f &&
	       code[2] == 0x80 && (code[6] << 8 | code[5]) == MARKER_UPPER;
}

static struct insn_info decode(const uint8_t *code, size_t len)
{
	struct insn_info info = { .tlb_class = -1, .event = -1 };
	struct opcode op;

	if (is_marker(code, len)) {
		info.marker = true;
		info.payload = code[4] << 8 | code[3];
		return info;
	}
	if (!split(code, len, &op))
		return info;
	info.plain = is_plain(&op);
	info.tlb_class = tlb_class(&op);
	info.event = event(&op);
	info.rep = string_rep(&op);
	decode_branch(code, &op, &info);
	return info;
}

const struct target target_x86_64 = {
	.name = "x86_64",
	.tlb_class = {
		[INVLPG] = "invlpg",
		[INVPCID] = "invpcid",
		[CR3] = "cr3",
	},
	.event = {
		[ATOMIC] = "atomic",
		[MFENCE] = "mfence",
		[LFENCE] = "lfence",
		[SFENCE] = "sfence",
	},
	.decode = decode,
};
