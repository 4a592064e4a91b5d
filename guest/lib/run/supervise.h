/* SPDX-License-Identifier: GPL-2.0 */
/* Runs one test case in its own process and judges it. */
#ifndef QUIRE_SUPERVISE_H
#define QUIRE_SUPERVISE_H

#include "run/ktap.h"

enum verdict { PASS, FAIL, SKIPPED, TIMEOUT };

struct outcome {
	enum verdict verdict;
	char skip_reason[160];
};

/*
 * Runs the case with folios of kib from a clean system state, at most for its
 * time limit. Diagnostics go to the results port while it runs. Afterwards no
 * process of the case is left.
 */
struct outcome supervise(const struct ktap_case *test, unsigned long kib);

/*
 * The time limit here for something that takes at most timeout_ms: longer if
 * the command line says that this kernel is slow.
 */
unsigned int patience(unsigned int timeout_ms);

#endif
