// SPDX-License-Identifier: GPL-2.0
/* Run the self-test of DEBUG_TLB_HAZARD on the host, without and with BBML3. */
#include "kernel.h"
#include "tlb_hazard.c"

int main(void)
{
	early();
	late();
	bbml3 = true;
	late();
	return warnings != 0;
}
