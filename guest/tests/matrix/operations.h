/* SPDX-License-Identifier: GPL-2.0 */
/* The operations of the matrix, each defined among the other cases of its suite. */
#ifndef QUIRE_TESTS_OPERATIONS_H
#define QUIRE_TESTS_OPERATIONS_H

#include "tests/matrix/matrix.h"

/* By move_pages(); split_huge_pages; a NUMA hint and the fault by it. */
extern const struct operation migration, splitting, hinting;
/* To PROT_READ, to PROT_NONE and back; only to PROT_NONE and back. */
extern const struct operation protecting, withdrawing;
/* mremap(), with a userfaultfd that follows and with one that does not. */
extern const struct operation moving, moving_unwatched;
extern const struct operation swapping_out;
/* Reclaim of lazyfree folios that fails, since each has an extra reference. */
extern const struct operation failing;
/* UFFDIO_MOVE. */
extern const struct operation uffd_moving;

#endif
