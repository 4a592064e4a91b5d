// SPDX-License-Identifier: GPL-2.0
/* Which operation is tried on which state: see matrix.h. */
#include "operations.h"

#define CELL_CASE(suite_, name_, op_, state_, ...)			\
	QUIRE_CASE_SIZES(suite_, name_, __VA_ARGS__)			\
	{								\
		matrix_run(&op_, &state_, kib);				\
	}

/* An operation and the names of its cases; the last parameters are folio sizes. */
#define ROW_CASES(suite_, op_, wp_, soft_, young_, dirty_, own_, across_, ...)	\
	CELL_CASE(suite_, wp_, op_, wp, __VA_ARGS__)			\
	CELL_CASE(suite_, soft_, op_, soft_dirty, __VA_ARGS__)		\
	CELL_CASE(suite_, young_, op_, young, __VA_ARGS__)		\
	CELL_CASE(suite_, dirty_, op_, dirty, __VA_ARGS__)		\
	CELL_CASE(suite_, own_, op_, exclusive, __VA_ARGS__)		\
	CELL_CASE(suite_, across_, op_, across, LARGE_SIZES)

ROW_CASES(migrate, migration, wp_kept, soft_dirty_kept, young_kept,
	  lazyfree_written_kept, exclusive_kept, across_pmd, ALL_SIZES)
CELL_CASE(migrate, shmem, migration, wp_shmem, ALL_SIZES)
CELL_CASE(migrate, part, migration, part, LARGE_SIZES)
CELL_CASE(migrate, tags_kept, migration, tags, 4, 64, 2048)

ROW_CASES(migrate, splitting, split_wp, split_soft_dirty, split_young,
	  split_lazyfree_written, split_shared, split_two_tables, LARGE_SIZES)

CELL_CASE(migrate, hint_wp, hinting, wp, ALL_SIZES)
CELL_CASE(migrate, hint_soft_dirty, hinting, soft_dirty, ALL_SIZES)

ROW_CASES(mprotect, protecting, wp_kept, soft_dirty, young_kept, dirty_kept,
	  shared_read_only, across_pmd, ALL_SIZES)
CELL_CASE(mprotect, shared_no_access, withdrawing, exclusive, ALL_SIZES)

ROW_CASES(mremap, moving, wp_kept, soft_dirty, accessed, lazyfree_written_again,
	  cow_parent_writes, moved_across_pmd, ALL_SIZES)
CELL_CASE(mremap, wp_kept_after_fork, moving, wp_read_only, ALL_SIZES)
CELL_CASE(mremap, cow_child_writes, moving, exclusive_child_first, ALL_SIZES)
CELL_CASE(mremap, cow_swapped, moving, exclusive_swapped, ALL_SIZES)
CELL_CASE(mremap, mixed_states, moving, mixed, ALL_SIZES)
CELL_CASE(mremap, wp_kept_mixed_states, moving, wp_mixed, ALL_SIZES)
CELL_CASE(mremap, soft_dirty_mixed_states, moving, soft_dirty_mixed, ALL_SIZES)
CELL_CASE(mremap, tags_kept, moving, tags, 4, 64, 2048)
CELL_CASE(mremap, wp_dropped, moving_unwatched, wp, ALL_SIZES)
CELL_CASE(mremap, wp_dropped_mixed_states, moving_unwatched, wp_mixed, ALL_SIZES)

CELL_CASE(swapout, wp_kept, swapping_out, wp, ALL_SIZES)
CELL_CASE(swapout, wp_kept_read_only, swapping_out, wp_read_only, ALL_SIZES)
CELL_CASE(swapout, soft_dirty_kept, swapping_out, soft_dirty, ALL_SIZES)
CELL_CASE(swapout, shared_parent_first, swapping_out, exclusive_writable, ALL_SIZES)
CELL_CASE(swapout, shared_child_first, swapping_out, exclusive_child_first, ALL_SIZES)
CELL_CASE(swapout, shared_read_only, swapping_out, exclusive_read_only, ALL_SIZES)
CELL_CASE(swapout, part, swapping_out, part, LARGE_SIZES)
CELL_CASE(swapout, across_pmd, swapping_out, across, LARGE_SIZES)
CELL_CASE(swapout, tags_kept, swapping_out, tags, 4, 64, 2048)

CELL_CASE(lazyfree, wp_same, failing, wp, ALL_SIZES)
CELL_CASE(lazyfree, wp_same_read_only, failing, wp_read_only, ALL_SIZES)
CELL_CASE(lazyfree, across_pmd_held, failing, across, LARGE_SIZES)
CELL_CASE(lazyfree, writable_not_gained, failing, exclusive, LARGE_SIZES)
CELL_CASE(lazyfree, writable_not_gained_dirty, failing, exclusive_written, LARGE_SIZES)

CELL_CASE(uffd, moved_unprotected, uffd_moving, wp, ALL_SIZES)
CELL_CASE(uffd, moved_soft_dirty, uffd_moving, soft_dirty, ALL_SIZES)
CELL_CASE(uffd, moved_lazyfree_written_kept, uffd_moving, dirty, ALL_SIZES)
CELL_CASE(uffd, moved_across_pmd, uffd_moving, across, LARGE_SIZES)
