// SPDX-License-Identifier: GPL-2.0
#include "fuzz.h"

struct arena *arena;
int program_file = -1;
