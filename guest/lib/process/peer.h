/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two processes that take turns: this one and a child forked from it. Each
 * waits for the other before its next step, so that a case decides the order of
 * all steps.
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
/*
 * Lets the other side run; waits for it. Both die if the other side has ended.
 */
void peer_go(struct peer *peer);
void peer_wait(struct peer *peer);
/* peer_go(), then peer_wait(): the other side takes one turn. */
void peer_turn(struct peer *peer);
/* In the child: lets the parent run and ends with success. */
void peer_end(struct peer *peer) __attribute__((noreturn));
/* In the parent: waits for the end of the child; dies if it failed. */
void peer_join(struct peer *peer, const char *what);

#endif
