/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages to the counting plugin that only the lab's own program sends; the
 * others are in quire.h.
 */
#ifndef QUIRE_RUN_MARKER_H
#define QUIRE_RUN_MARKER_H

#include "quire.h"

/* The region every workload measures: that of quire_start(). */
#define REGION 0u

#define QUIRE_OP_ARM	3
#define QUIRE_OP_DISARM	4
#define QUIRE_OP_TABLE	5	/* see run/frames.h */

/* Enable and disable the plugin's instrumentation; this counts nothing. */
#define quire_arm()	QUIRE_MARK(QUIRE_OP_ARM)
#define quire_disarm()	QUIRE_MARK(QUIRE_OP_DISARM)

#endif
