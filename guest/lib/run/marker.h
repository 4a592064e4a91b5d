/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Marker instructions: how the guest tells the counting plugin where a region
 * starts and stops. Each marker is one instruction that every CPU executes as
 * a no-op, so a guest behaves the same with and without the plugin.
 *
 * Payload: (operation << 12) | region id, 16 bits.
 *   arm64   movz xzr, #payload, lsl #48   (a write to the zero register)
 *   x86-64  nopl disp32(%rax) with displacement 0x51550000 | payload
 */
#ifndef QUIRE_MARKER_H
#define QUIRE_MARKER_H

#define QUIRE_OP_START	1u
#define QUIRE_OP_STOP	2u
#define QUIRE_OP_ARM	3u
#define QUIRE_OP_DISARM	4u

#define QUIRE_REGION_MAX 4095u

#define QUIRE_PAYLOAD(op, id) (((op) << 12) | (id))

#if defined(__aarch64__)
#define QUIRE_MARK(op, id)						\
	asm volatile(".inst %c0"					\
		     : : "i"(0xd2e0001fu | (QUIRE_PAYLOAD(op, id) << 5))	\
		     : "memory")
#elif defined(__x86_64__)
#define QUIRE_MARK(op, id)						\
	asm volatile(".byte 0x0f, 0x1f, 0x80\n\t.long %c0"		\
		     : : "i"(0x51550000u | QUIRE_PAYLOAD(op, id))	\
		     : "memory")
#else
#error "no marker instruction defined for this architecture"
#endif

/* The region id must be a compile-time constant, 0..QUIRE_REGION_MAX. */
#define quire_start(id)	QUIRE_MARK(QUIRE_OP_START, id)
#define quire_stop(id)	QUIRE_MARK(QUIRE_OP_STOP, id)

/* Switch the plugin's instrumentation on and off; counts nothing by itself. */
#define quire_arm()	QUIRE_MARK(QUIRE_OP_ARM, 0u)
#define quire_disarm()	QUIRE_MARK(QUIRE_OP_DISARM, 0u)

#endif
