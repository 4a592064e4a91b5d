// SPDX-License-Identifier: GPL-2.0
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "arch/arch.h"
#include "process/rootfs.h"
#include "program.h"
#include "report/die.h"

const char *program_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Does it need a dynamic linker? Without a userland, this guest has none. */
static bool is_dynamic(int fd, const Elf64_Ehdr *head)
{
	unsigned int i;

	for (i = 0; i < head->e_phnum; i++) {
		Elf64_Phdr part;
		off_t at = head->e_phoff + i * sizeof(part);

		if (pread(fd, &part, sizeof(part), at) == sizeof(part) &&
		    part.p_type == PT_INTERP)
			return true;
	}
	return false;
}

void program_check(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr head;

	if (fd < 0)
		die_errno("cannot read the program %s", path);
	if (rootfs_here()) {
		close(fd);	/* it may be a script, too */
		return;
	}
	if (read(fd, &head, sizeof(head)) != sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) ||
	    head.e_ident[EI_CLASS] != ELFCLASS64)
		die_usage("%s is no 64-bit ELF program", path);
	if (head.e_machine != ARCH_ELF)
		die_usage("%s is not for %s: compile it for that", path,
			  ARCH_NAME);
	if (is_dynamic(fd, &head))
		die_usage("%s needs shared libraries, which this guest does not "
			  "have: compile it with -static", path);
	close(fd);
}
