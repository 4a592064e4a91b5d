/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two processes that take turns: this one and a child forked from it. Each
 * waits for the other's word before its next step, so that a case fully
 * decides what happens in which order.
 */
#ifndef QUIRE_PEER_H
#define QUIRE_PEER_H

#include <stdbool.h>
#include <sys/types.h>

struct peer {
	pid_t pid;	/* 0 in the child */
	int hear;	/* pipes from and to the other side */
	int tell;
};

/* fork(); returns true in the parent, false in the child. Dies on error. */
bool peer_fork(struct peer *peer);
/* Let the other side run on; wait for its word. Both die if it is gone. */
void peer_go(struct peer *peer);
void peer_wait(struct peer *peer);
/* peer_go(), then peer_wait(): the other side takes one turn. */
void peer_turn(struct peer *peer);
/* In the child: its last word, and a successful end. */
void peer_end(struct peer *peer) __attribute__((noreturn));
/* In the parent: wait for the end of the child; dies when it failed. */
void peer_join(struct peer *peer, const char *what);

#endif
