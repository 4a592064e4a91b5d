/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The differences between architectures, one file for each. Only the marker
 * instruction is elsewhere, in include/quire.h, which has to stand by itself.
 */
#ifndef QUIRE_ARCH_H
#define QUIRE_ARCH_H

#if defined(__aarch64__)
#include "arch/arm64.h"
#elif defined(__riscv)
#include "arch/riscv64.h"
#elif defined(__x86_64__)
#include "arch/x86_64.h"
#else
#error "there is no file in guest/arch for this architecture"
#endif

#endif
