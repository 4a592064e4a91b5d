// SPDX-License-Identifier: GPL-2.0
#include <sched.h>
#include <unistd.h>

#include "process/cpu.h"
#include "report/die.h"

unsigned int cpu_count(void)
{
	long nr = sysconf(_SC_NPROCESSORS_ONLN);

	if (nr < 1)
		die_errno("cannot count the CPUs");
	return nr;
}

void stay_on_cpu(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die_errno("cannot stay on CPU %u", cpu);
}
