// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <time.h>

#include "base/clock.h"

void sleep_ms(unsigned int ms)
{
	struct timespec left = { ms / 1000, (ms % 1000) * 1000000l };

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}
