// SPDX-License-Identifier: GPL-2.0
/*
 * RV64 instructions, also compressed ones. Encodings: The RISC-V Instruction
 * Set Manual, volume I (RV32/64G listings, chapters "A", "C" and "Zifencei")
 * and volume II (supervisor instructions, "Svinval").
 */
#include "decode.h"

enum { SFENCE_VA, SFENCE_ASID, SFENCE_ALL };
enum { ATOMIC, FENCE, FENCE_I };

#define OPCODE(insn)	((insn) & 0x7f)
#define FUNCT3(insn)	((insn) >> 12 & 7)
#define RD(insn)	((insn) >> 7 & 31)
#define RS1(insn)	((insn) >> 15 & 31)
#define RS2(insn)	((insn) >> 20 & 31)

enum opcode {
	OP_IMM = 0x13,
	AUIPC = 0x17,
	OP_IMM_32 = 0x1b,
	MISC_MEM = 0x0f,
	AMO = 0x2f,
	OP = 0x33,
	LUI = 0x37,
	OP_32 = 0x3b,
	JAL = 0x6f,
};

#define LR		2	/* funct5 of load-reserved */
#define PAUSE		0x0100000fu	/* a hint among the fences */
#define MARKER_BASE	16	/* the register of op 0 */

/* slti zero, x(16 + op), region: a hint for custom use */
static bool take_marker(uint32_t insn, struct insn_info *info)
{
	if (OPCODE(insn) != OP_IMM || FUNCT3(insn) != 2 || RD(insn) ||
	    RS1(insn) < MARKER_BASE)
		return false;
	info->marker = true;
	info->payload = (RS1(insn) - MARKER_BASE) << 12 | insn >> 20;
	return true;
}

/* SFENCE.VMA and SINVAL.VMA */
static int tlb_class(uint32_t insn)
{
	if ((insn & 0xfa007fff) != 0x12000073)
		return -1;
	if (RS1(insn))
		return SFENCE_VA;
	return RS2(insn) ? SFENCE_ASID : SFENCE_ALL;
}

/*
 * A pair of load-reserved and store-conditional counts at its store, also if
 * that fails.
 */
static int event(uint32_t insn)
{
	if (OPCODE(insn) == AMO && (FUNCT3(insn) == 2 || FUNCT3(insn) == 3))
		return insn >> 27 == LR ? -1 : ATOMIC;
	if (OPCODE(insn) != MISC_MEM || insn == PAUSE)
		return -1;
	if (FUNCT3(insn) == 0)
		return FENCE;
	return FUNCT3(insn) == 1 ? FENCE_I : -1;
}

/*
 * Integer computation does not trap. These opcodes also contain encodings that
 * are illegal, but the translator ends the block there.
 */
static bool is_plain(uint32_t insn)
{
	switch (OPCODE(insn)) {
	case OP_IMM: case OP_IMM_32: case OP: case OP_32: case LUI: case AUIPC:
		return true;
	}
	return false;
}

/* The compressed ones: quadrant and funct3. */
static bool is_plain_compressed(unsigned int insn)
{
	switch ((insn & 3) << 3 | insn >> 13) {
	case 0 << 3 | 0:	/* addi4spn */
	case 1 << 3 | 0: case 1 << 3 | 1:	/* addi, addiw */
	case 1 << 3 | 2: case 1 << 3 | 3:	/* li, lui, addi16sp */
	case 1 << 3 | 4:	/* srli ... addw */
	case 2 << 3 | 0:	/* slli */
		return true;
	case 2 << 3 | 4:	/* mv, add; with rs2 = 0 jr, jalr, ebreak */
		return insn >> 2 & 31;
	}
	return false;
}

static int64_t jal_distance(uint32_t insn)
{
	uint32_t at = (insn >> 21 & 0x3ff) << 1 | (insn >> 20 & 1) << 11 |
		      (insn >> 12 & 0xff) << 12 | (insn >> 31) << 20;

	return (int32_t)(at << 11) >> 11;
}

static int64_t compressed_distance(unsigned int insn)
{
	uint32_t at = (insn >> 3 & 7) << 1 | (insn >> 11 & 1) << 4 |
		      (insn >> 2 & 1) << 5 | (insn >> 7 & 1) << 6 |
		      (insn >> 6 & 1) << 7 | (insn >> 9 & 3) << 8 |
		      (insn >> 8 & 1) << 10 | (insn >> 12 & 1) << 11;

	return (int32_t)(at << 20) >> 20;
}

static void decode_compressed(unsigned int insn, struct insn_info *info)
{
	info->plain = is_plain_compressed(insn);
	if ((insn & 0xe003) == 0xa001) {	/* j */
		info->branch = true;
		info->distance = compressed_distance(insn);
	}
}

static void decode_full(uint32_t insn, struct insn_info *info)
{
	if (take_marker(insn, info))
		return;
	info->plain = is_plain(insn);
	info->tlb_class = tlb_class(insn);
	info->event = event(insn);
	if (OPCODE(insn) == JAL) {
		info->branch = true;
		info->distance = jal_distance(insn);
	}
}

static struct insn_info decode(const uint8_t *code, size_t len)
{
	struct insn_info info = { .tlb_class = -1, .event = -1 };

	if (len == 2)
		decode_compressed(code[0] | code[1] << 8, &info);
	else if (len == 4)
		decode_full(code[0] | code[1] << 8 | code[2] << 16 |
			    (uint32_t)code[3] << 24, &info);
	return info;
}

const struct target target_riscv64 = {
	.name = "riscv64",
	.tlb_class = {
		[SFENCE_VA] = "sfence_va",
		[SFENCE_ASID] = "sfence_asid",
		[SFENCE_ALL] = "sfence_all",
	},
	.event = {
		[ATOMIC] = "atomic",
		[FENCE] = "fence",
		[FENCE_I] = "fence_i",
	},
	.decode = decode,
};
