// SPDX-License-Identifier: GPL-2.0
/* Run the self-test of x86-64's DEBUG_TLB_HAZARD on the host. */
#include "x86.h"
#include "tlb_hazard.c"

int main(void)
{
	early();
	late();
	return warnings != 0;
}
