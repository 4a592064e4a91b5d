// SPDX-License-Identifier: GPL-2.0
/* References of an actor to pages from outside its page tables. */
#include <fcntl.h>
#include <unistd.h>

#include "memory/hold.h"
#include "ops.h"

struct outcome_text verb_hold(struct actor *self, const struct op *op)
{
	struct iovec page = {
		.iov_base = page_addr(op->to_slot, op->to_page),
		.iov_len = PAGE_SIZE,
	};

	if (!self->holding)
		self->hold = hold_start();
	self->holding = true;
	arena->keepers |= 1u << self->id;
	return outcome_of(vmsplice(self->hold.in, &page, 1,
				   SPLICE_F_NONBLOCK) == (ssize_t)PAGE_SIZE);
}

void drop_holds(struct actor *self)
{
	if (self->holding)
		hold_end(&self->hold);
	self->holding = false;
}

struct outcome_text verb_drop(struct actor *self,
			      const struct op *op __attribute__((unused)))
{
	drop_holds(self);
	drop_pin();
	arena->keepers &= ~(1u << self->id);
	return outcome_ok();
}
