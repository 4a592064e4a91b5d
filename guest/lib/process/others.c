// SPDX-License-Identifier: GPL-2.0
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/units.h"
#include "process/cpu.h"
#include "process/others.h"
#include "report/die.h"

#define LOOP	64u	/* between two turns */
#define TURNS	100u	/* for what is pending elsewhere */
#define MAX_CPUS	8u

/*
 * Not mapped by pthread_create(): a bench's VMAs must fit into one node.
 * PTHREAD_STACK_MIN is 128 KiB on arm64.
 */
static char stacks[MAX_CPUS][256 * KIB] __attribute__((aligned(4096)));
static bool several, run_on;
static unsigned int started;

/*
 * Where the emulator's CPUs take turns, ARCH_RELAX ends this one's. Otherwise
 * its turn would last until the next timer, and whatever waits for this CPU
 * would take so long.
 */
static void *other(void *cpu)
{
	volatile unsigned int i;

	stay_on_cpu((uintptr_t)cpu);
	__atomic_add_fetch(&started, 1, __ATOMIC_RELEASE);
	while (run_on) {
		for (i = 0; i < LOOP; i++)
			;
		__asm__ volatile(ARCH_RELAX ::: "memory");
	}
	while (true)
		pause();
	return NULL;
}

static void start(unsigned int cpu)
{
	pthread_attr_t attr;
	pthread_t thread;

	if (cpu >= MAX_CPUS)
		die("others= is for at most %u CPUs", MAX_CPUS);
	if (pthread_attr_init(&attr) ||
	    pthread_attr_setstack(&attr, stacks[cpu], sizeof(stacks[cpu])) ||
	    pthread_create(&thread, &attr, other, (void *)(uintptr_t)cpu))
		die("cannot start a thread for CPU %u", cpu);
}

void others_start(const char *how)
{
	unsigned int cpu, cpus = cpu_count();

	several = cpus > 1;
	if (several)
		stay_on_cpu(0);
	if (!strcmp(how, "none"))
		return;
	if (cpus == 1)
		die("others=%s needs a machine with several CPUs", how);
	run_on = !strcmp(how, "running");
	for (cpu = 1; cpu < cpus; cpu++)
		start(cpu);
	while (__atomic_load_n(&started, __ATOMIC_ACQUIRE) < cpus - 1)
		usleep(1000);
}

void others_catch_up(void)
{
	unsigned int i;

	for (i = 0; several && i < TURNS; i++)
		__asm__ volatile(ARCH_RELAX ::: "memory");
}
