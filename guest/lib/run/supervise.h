/* SPDX-License-Identifier: GPL-2.0 */
/* One test case in a process of its own, and the verdict on it. */
#ifndef QUIRE_SUPERVISE_H
#define QUIRE_SUPERVISE_H

#include "run/ktap.h"

enum verdict { PASS, FAIL, SKIPPED, TIMEOUT };

struct outcome {
	enum verdict verdict;
	char skip_reason[160];
};

/*
 * Run the case with folios of kib from a clean system state, at most for its
 * time limit. Diagnostics go to the results port while it runs; afterwards no
 * process of the case is left.
 */
struct outcome supervise(const struct ktap_case *test, unsigned long kib);

/*
 * How long something that takes at most timeout_ms may take here: longer if
 * the command line says that this kernel is slow.
 */
unsigned int patience(unsigned int timeout_ms);

#endif
