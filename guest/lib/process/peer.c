// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "process/child.h"
#include "process/peer.h"
#include "report/die.h"

bool peer_fork(struct peer *peer)
{
	int down[2], up[2];

	if (pipe2(down, O_CLOEXEC) || pipe2(up, O_CLOEXEC))
		die_errno("cannot make the pipes to a child");
	peer->pid = fork_child();
	peer->hear = peer->pid ? up[0] : down[0];
	peer->tell = peer->pid ? down[1] : up[1];
	close(peer->pid ? up[1] : down[1]);
	close(peer->pid ? down[0] : up[0]);
	return peer->pid;
}

void peer_go(struct peer *peer)
{
	if (write(peer->tell, "", 1) != 1)
		die_errno("%s is gone", peer->pid ? "the child" : "the parent");
}

void peer_wait(struct peer *peer)
{
	char word;

	if (read(peer->hear, &word, 1) != 1)
		die("%s ended early", peer->pid ? "the child" : "the parent");
}

void peer_turn(struct peer *peer)
{
	peer_go(peer);
	peer_wait(peer);
}

void peer_end(struct peer *peer)
{
	peer_go(peer);
	exit(STATUS_OK);
}

void peer_join(struct peer *peer, const char *what)
{
	close(peer->tell);
	close(peer->hear);
	wait_child(peer->pid, what);
}
