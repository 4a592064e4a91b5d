// SPDX-License-Identifier: GPL-2.0
/* Run the self-test of DEBUG_TLB_HAZARD on the host, without and with LPA2, ranges and BBML3. */
#include "kernel.h"
#include "tlb_hazard.c"

int main(void)
{
	early();
	late();
	lpa2 = true;
	late();
	ranges = true;
	late();
	bbml3 = true;
	late();
	return warnings != 0;
}
