// SPDX-License-Identifier: GPL-2.0
/* Mappings: created, moved, changed, split. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/uapi.h"
#include "base/units.h"
#include "ops.h"
#include "report/die.h"

struct outcome_text verb_map(struct actor *self __attribute__((unused)),
			     const struct op *op)
{
	const struct {
		const char *word;
		int flags;
		off_t offset;	/* offset of page 0 in the file */
	} kinds[] = {
		{ "anon", MAP_PRIVATE | MAP_ANONYMOUS, 0 },
		{ "shared", MAP_SHARED | MAP_ANONYMOUS, 0 },
		{ "file", MAP_PRIVATE, 0 },
		{ "shfile", MAP_SHARED, 0 },
		{ "far", MAP_PRIVATE, FAR_OFFSET },
		{ "droppable", MAP_DROPPABLE | MAP_ANONYMOUS, 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		bool file = !(kinds[i].flags & MAP_ANONYMOUS);
		off_t offset = kinds[i].offset + op->page * PAGE_SIZE;

		if (strcmp(kinds[i].word, op->word))
			continue;
		return outcome_of(mmap(op_range(op), op_length(op),
				       PROT_READ | PROT_WRITE,
				       kinds[i].flags | MAP_FIXED,
				       file ? program_file : -1,
				       file ? offset : 0) != MAP_FAILED);
	}
	die_usage("there is no mapping \"%s\"", op->word);
}

struct outcome_text verb_unmap(struct actor *self __attribute__((unused)),
			       const struct op *op)
{
	return outcome_of(!munmap(op_range(op), op_length(op)));
}

struct outcome_text verb_protect(struct actor *self __attribute__((unused)),
				 const struct op *op)
{
	int prot = !strcmp(op->word, "rw") ? PROT_READ | PROT_WRITE :
		   !strcmp(op->word, "r") ? PROT_READ : PROT_NONE;

	return outcome_of(!mprotect(op_range(op), op_length(op), prot));
}

struct outcome_text verb_move(struct actor *self __attribute__((unused)),
			      const struct op *op)
{
	int flags = MREMAP_MAYMOVE | MREMAP_FIXED;

	if (!strcmp(op->word, "keep"))
		flags |= MREMAP_DONTUNMAP;
	return outcome_of(mremap(op_range(op), op_length(op), op_length(op),
				 flags, page_addr(op->to_slot, op->to_page)) !=
			  MAP_FAILED);
}

struct outcome_text verb_resize(struct actor *self __attribute__((unused)),
				const struct op *op)
{
	return outcome_of(mremap(op_range(op), op_length(op),
				 op->number * PAGE_SIZE, 0) != MAP_FAILED);
}

struct outcome_text verb_advise(struct actor *self __attribute__((unused)),
				const struct op *op)
{
	static const struct {
		const char *word;
		int advice;
	} advices[] = {
		{ "free", MADV_FREE },
		{ "pageout", MADV_PAGEOUT },
		{ "cold", MADV_COLD },
		{ "dontneed", MADV_DONTNEED },
		{ "willneed", MADV_WILLNEED },
		{ "remove", MADV_REMOVE },
		{ "dontfork", MADV_DONTFORK },
		{ "dofork", MADV_DOFORK },
		{ "wipeonfork", MADV_WIPEONFORK },
		{ "keeponfork", MADV_KEEPONFORK },
		{ "mergeable", MADV_MERGEABLE },
		{ "unmergeable", MADV_UNMERGEABLE },
		{ "hugepage", MADV_HUGEPAGE },
		{ "nohugepage", MADV_NOHUGEPAGE },
		{ "collapse", MADV_COLLAPSE },
		{ "populate-read", MADV_POPULATE_READ },
		{ "populate-write", MADV_POPULATE_WRITE },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(advices); i++) {
		if (!strcmp(advices[i].word, op->word))
			return outcome_of(!madvise(op_range(op), op_length(op),
						   advices[i].advice));
	}
	die_usage("there is no advice \"%s\"", op->word);
}

struct outcome_text verb_lock(struct actor *self __attribute__((unused)),
			      const struct op *op)
{
	return outcome_of(!mlock(op_range(op), op_length(op)));
}

struct outcome_text verb_unlock(struct actor *self __attribute__((unused)),
				const struct op *op)
{
	return outcome_of(!munlock(op_range(op), op_length(op)));
}

struct outcome_text verb_split(struct actor *self __attribute__((unused)),
			       const struct op *op)
{
	char text[80];

	snprintf(text, sizeof(text), "%d,0x%lx,0x%lx", (int)getpid(),
		 (unsigned long)op_range(op), (unsigned long)op_range(op) +
		 op_length(op));
	return outcome_of(try_write_file("/sys/kernel/debug/split_huge_pages",
					 text));
}
