/* SPDX-License-Identifier: GPL-2.0 */
/* What the lab's own program says to the counting plugin besides quire.h. */
#ifndef QUIRE_RUN_MARKER_H
#define QUIRE_RUN_MARKER_H

#include "quire.h"

/* The region every workload measures: that of quire_start(). */
#define REGION 0u

#define QUIRE_OP_ARM	3
#define QUIRE_OP_DISARM	4

/* Switch the plugin's instrumentation on and off; counts nothing by itself. */
#define quire_arm()	QUIRE_MARK(QUIRE_OP_ARM)
#define quire_disarm()	QUIRE_MARK(QUIRE_OP_DISARM)

#endif
