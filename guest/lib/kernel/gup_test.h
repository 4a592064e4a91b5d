/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's test device for pins (CONFIG_GUP_TEST, mm/gup_test.c). Its ioctl
 * is no stable interface; mm/gup_test.h has it.
 */
#ifndef QUIRE_GUP_TEST_H
#define QUIRE_GUP_TEST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Pins the pages for writing, by pin_user_pages_fast() or pin_user_pages(), and
 * unpins them without a mark. False if the kernel has no such device.
 */
bool gup_test_pin(char *addr, size_t len, bool fast);

#endif
