// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "memory/hold.h"
#include "memory/range.h"
#include "report/die.h"

struct hold hold_start(void)
{
	struct hold hold = { .held = 0 };
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		die_errno("cannot make a pipe to hold pages");
	if (HOLD_MAX > HOLD_USUAL &&
	    fcntl(ends[1], F_SETPIPE_SZ, HOLD_MAX * PAGE_SIZE) < 0)
		die_errno("cannot make a pipe for %zu pages", HOLD_MAX);
	hold.out = ends[0];
	hold.in = ends[1];
	return hold;
}

void hold_page(struct hold *hold, const void *addr)
{
	struct iovec page = { .iov_base = (void *)addr, .iov_len = PAGE_SIZE };

	if (hold->held++ == HOLD_MAX)
		die("a pipe cannot hold more than %zu pages", HOLD_MAX);
	if (vmsplice(hold->in, &page, 1, SPLICE_F_NONBLOCK) !=
	    (ssize_t)PAGE_SIZE)
		die_errno("vmsplice() of the page at %p", addr);
}

struct hold hold_folios(char *addr, size_t pages, unsigned long kib,
			size_t index)
{
	struct hold hold = hold_start();
	size_t n;

	for (n = 0; n < pages && hold.held < HOLD_MAX; n += folio_pages(kib))
		hold_page(&hold, page_at(addr, n + index));
	return hold;
}

void hold_read(struct hold *hold, void *page)
{
	if (read(hold->out, page, PAGE_SIZE) != (ssize_t)PAGE_SIZE)
		die_errno("cannot read a page that is held");
	hold->held--;
}

void hold_end(struct hold *hold)
{
	close(hold->in);
	close(hold->out);
}
