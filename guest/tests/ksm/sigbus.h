/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory failure of a merged page, injected by software, and the SIGBUS that
 * each process of a case gets for it.
 */
#ifndef QUIRE_TESTS_KSM_SIGBUS_H
#define QUIRE_TESTS_KSM_SIGBUS_H

#include "ksm.h"

/*
 * An act: count SIGBUS from now on. If arg is set, ask for an early signal
 * about poisoned pages (PR_MCE_KILL_EARLY).
 */
act act_watch;

/* Poisons the merged page; returns its pfn. */
uint64_t poison(const struct mappings *all);

/* The process got one SIGBUS, "action optional", for the page at addr. */
void expect_told(struct worker *who, char *addr);
/* The process got one SIGBUS, of any kind. */
void expect_told_once(struct worker *who);
void expect_not_told(struct worker *who);

/* No process can read the page any more. Then unpoisons it. Ends act_watch. */
void expect_out_of_reach(const struct mappings *all, uint64_t pfn);

#endif
