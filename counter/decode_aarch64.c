// SPDX-License-Identifier: GPL-2.0
/*
 * A64 instructions. Encodings: Arm Architecture Reference Manual for A-profile
 * (DDI 0487), chapters C4 (A64 encoding index) and C5 (system instructions).
 */
#include "decode.h"

enum { TLBI_VA, TLBI_RANGE, TLBI_ASID, TLBI_ALL };
enum { ATOMIC, DMB, DSB, DSB_ST, ISB, TLBI_LOCAL };

/* movz xzr, #payload, lsl #48 */
#define MARKER_MASK	0xffe0001fu
#define MARKER_BITS	0xd2e0001fu

/* SYS with op0 = 1, op1 = 0 (EL1), CRn = 8, or 9 for the nXS forms. */
#define EL1_TLBI_MASK	0xffffe000u
#define EL1_TLBI_BITS	0xd5088000u

static int tlbi_class(uint32_t insn)
{
	unsigned int crm = insn >> 8 & 15;
	unsigned int op2 = insn >> 5 & 7;

	if ((insn & EL1_TLBI_MASK) != EL1_TLBI_BITS)
		return -1;
	switch (crm) {
	case 1:		/* outer shareable */
	case 3:		/* inner shareable */
	case 7:		/* this PE */
		switch (op2) {
		case 0:			/* VMALLE1 */
			return TLBI_ALL;
		case 2:			/* ASIDE1 */
			return TLBI_ASID;
		case 1: case 3:		/* VAE1, VAAE1 */
		case 5: case 7:		/* VALE1, VAALE1 */
			return TLBI_VA;
		}
		return -1;
	case 2:		/* inner shareable */
	case 5:		/* outer shareable */
	case 6:		/* this PE */
		/* RVAE1, RVAAE1, RVALE1, RVAALE1 */
		return op2 & 1 ? TLBI_RANGE : -1;
	}
	return -1;
}

/* Of a TLBI: is it for this PE alone? The others are broadcast. */
static bool is_local(uint32_t insn)
{
	unsigned int crm = insn >> 8 & 15;

	return crm == 6 || crm == 7;
}

static bool matches(uint32_t insn, uint32_t mask, uint32_t bits)
{
	return (insn & mask) == bits;
}

/*
 * LD<op>, ST<op> and SWP. Their group also has LDAPR and the 64-byte accesses,
 * all with o3 (bit 15) set, as has SWP, whose opc (bits 14 to 12) is zero.
 */
static bool is_atomic_memory(uint32_t insn)
{
	return matches(insn, 0x3f200c00, 0x38200000) &&
	       (!(insn & 1 << 15) || !(insn & 7 << 12));
}

/*
 * An exclusive pair counts at its store: a load that is not followed by one
 * (the comparison failed) does not count.
 */
static bool is_atomic(uint32_t insn)
{
	return is_atomic_memory(insn) ||
	       matches(insn, 0x3fa07c00, 0x08a07c00) ||	/* CAS */
	       matches(insn, 0xbfa07c00, 0x08207c00) ||	/* CASP */
	       matches(insn, 0x3fe00000, 0x08000000) ||	/* STXR, STLXR */
	       matches(insn, 0xbfe00000, 0x88200000);	/* STXP, STLXP */
}

/*
 * CASA with a 32-bit register: queued_spin_lock() and its siblings for trylock
 * and write_lock(). Without preemption, arm64's kernel inlines them.
 */
static bool is_spin_lock(uint32_t insn)
{
	return matches(insn, 0xffe0fc00, 0x88e07c00);
}

/*
 * DSB with option 0 or 4 is SSBB or PSSBB, which order only speculation. Option
 * xx10 waits for stores only, and for no TLBI.
 */
static int barrier(uint32_t insn)
{
	if (matches(insn, 0xfffff0ff, 0xd50330bf))
		return DMB;
	if (matches(insn, 0xfffff0ff, 0xd503309f))
		return !(insn & 11 << 8) ? -1 :
		       matches(insn, 3 << 8, 2 << 8) ? DSB_ST : DSB;
	if (matches(insn, 0xfffff3ff, 0xd503323f))	/* DSB nXS */
		return DSB;
	if (matches(insn, 0xfffff0ff, 0xd50330df))
		return ISB;
	return -1;
}

/* B and BL: 26 bits, signed, in units of four bytes. */
static void decode_branch(uint32_t insn, struct insn_info *info)
{
	info->branch = matches(insn, 0x7c000000, 0x14000000);
	if (info->branch)
		info->distance = (int32_t)(insn << 6) >> 4;
}

/*
 * Data processing on general registers does not trap. These groups also contain
 * unallocated encodings, which raise an exception; but the translator ends the
 * block there, and a block's last instruction has no next one.
 */
static bool is_plain(uint32_t insn)
{
	unsigned int group = insn >> 25 & 15;

	/* Pointer authentication: AUTIA and others fault with FEAT_FPAC. */
	if ((insn & 0xffff0000) == 0xdac10000)
		return false;
	/* 100x: immediates. x101: registers. */
	return (group & 14) == 8 || (group & 7) == 5;
}

static struct insn_info decode(const uint8_t *code, size_t len)
{
	struct insn_info info = { .tlb_class = -1, .event = -1 };
	uint32_t insn;

	if (len != 4)
		return info;
	/* A64 code is little-endian, whatever the endianness of data. */
	insn = code[0] | code[1] << 8 | code[2] << 16 | (uint32_t)code[3] << 24;
	if ((insn & MARKER_MASK) == MARKER_BITS) {
		info.marker = true;
		info.payload = insn >> 5 & 0xffff;
		return info;
	}
	info.plain = is_plain(insn);
	info.tlb_class = tlbi_class(insn);
	info.event = is_atomic(insn) ? ATOMIC : barrier(insn);
	if (info.tlb_class >= 0 && is_local(insn))
		info.event = TLBI_LOCAL;
	info.clears_line = matches(insn, 0xffffffe0, 0xd50b7420);
	info.spin_lock = is_spin_lock(insn);
	decode_branch(insn, &info);
	return info;
}

const struct target target_aarch64 = {
	.name = "aarch64",
	.tlb_class = {
		[TLBI_VA] = "tlbi_va",
		[TLBI_RANGE] = "tlbi_range",
		[TLBI_ASID] = "tlbi_asid",
		[TLBI_ALL] = "tlbi_all",
	},
	.event = {
		[ATOMIC] = "atomic",
		[DMB] = "dmb",
		[DSB] = "dsb",
		[DSB_ST] = "dsb_st",
		[ISB] = "isb",
		[TLBI_LOCAL] = "tlbi_local",
	},
	.decode = decode,
};
