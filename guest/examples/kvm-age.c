// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * A guest of KVM reads one page of every second folio: the others are idle, and
 * those are not. The host does not touch them. The CPU sets accessed bits, and
 * its TLB forgets them when the guest stops, as QEMU's do.
 *
 *	quire test --program guest/examples/kvm-age.c ARCH=riscv64
 */
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#if !defined(__riscv) || __riscv_xlen != 64
int main(void)
{
	printf("KTAP version 1\n1..0 # SKIP the guest's program is for riscv64\n");
	return 4;
}
#else

#define THP		"/sys/kernel/mm/transparent_hugepage/hugepages-%lukB/enabled"
#define PAGE		4096ul
#define MEMORY		(4ul << 20)
/* Physical addresses of the guest. There is nothing at DEVICE. */
#define CODE_AT		0x80000000ul
#define MEMORY_AT	0x90000000ul
#define DEVICE		0x10000000ul
/* Of a folio, the page that the guest reads. */
#define READ_PAGE	5

/* a0: where, a1: how often, a2: how far apart, a3: DEVICE, which ends a run. */
extern const char code[], code_end[];
__asm__("	.option push\n"
	"	.option norvc\n"
	"code:	lb t0, 0(a0)\n"
	"	add a0, a0, a2\n"
	"	addi a1, a1, -1\n"
	"	bnez a1, code\n"
	"	sw zero, 0(a3)\n"
	"	j code\n"
	"code_end:\n"
	"	.option pop\n");

static int vm, vcpu, bitmap;
static struct kvm_run *run;

static void fail(const char *what)
{
	printf("Bail out! %s: %m\n", what);
	exit(1);
}

static void set_folios(unsigned long kib, const char *value)
{
	char path[128];
	int file;

	snprintf(path, sizeof(path), THP, kib);
	file = open(path, O_WRONLY);
	if (file < 0 || write(file, value, strlen(value)) < 0)
		fail(path);
	close(file);
}

static void set_register(unsigned long number, unsigned long value)
{
	struct kvm_one_reg reg = {
		.id = KVM_REG_RISCV | KVM_REG_SIZE_U64 | KVM_REG_RISCV_CORE | number,
		.addr = (uintptr_t)&value,
	};

	if (ioctl(vcpu, KVM_SET_ONE_REG, &reg))
		fail("KVM_SET_ONE_REG");
}

#define REGISTER(name) (offsetof(struct kvm_riscv_core, regs.name) / sizeof(unsigned long))

static void guest_reads(size_t first, size_t times, size_t apart)
{
	set_register(REGISTER(a0), MEMORY_AT + first * PAGE);
	set_register(REGISTER(a1), times);
	set_register(REGISTER(a2), apart * PAGE);
	set_register(REGISTER(a3), DEVICE);
	if (ioctl(vcpu, KVM_RUN, 0))
		fail("KVM_RUN");
	if (run->exit_reason != KVM_EXIT_MMIO || run->mmio.phys_addr != DEVICE) {
		printf("# exit %u\n", run->exit_reason);
		fail("the guest has not come to its end");
	}
}

static void add_memory(unsigned int slot, unsigned long at, void *from, size_t size)
{
	struct kvm_userspace_memory_region region = {
		.slot = slot,
		.guest_phys_addr = at,
		.memory_size = size,
		.userspace_addr = (uintptr_t)from,
	};

	if (ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region))
		fail("KVM_SET_USER_MEMORY_REGION");
}

static void *map(size_t size, size_t align)
{
	char *at = mmap(NULL, size + align, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		fail("mmap");
	return (void *)(((uintptr_t)at + align - 1) & -align);
}

static void start_guest(void)
{
	int kvm = open("/dev/kvm", O_RDWR);
	char *page = map(PAGE, PAGE);

	if (kvm < 0)
		fail("/dev/kvm");
	vm = ioctl(kvm, KVM_CREATE_VM, 0);
	if (vm < 0)
		fail("KVM_CREATE_VM");
	memcpy(page, code, code_end - code);
	add_memory(0, CODE_AT, page, PAGE);
	vcpu = ioctl(vm, KVM_CREATE_VCPU, 0);
	if (vcpu < 0)
		fail("KVM_CREATE_VCPU");
	run = mmap(NULL, ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0), PROT_READ | PROT_WRITE,
		   MAP_SHARED, vcpu, 0);
	if (run == MAP_FAILED)
		fail("the vcpu's state");
	set_register(REGISTER(pc), CODE_AT);
}

static unsigned long pfn_of(const char *at)
{
	int file = open("/proc/self/pagemap", O_RDONLY);
	uint64_t entry = 0;

	if (file < 0 || pread(file, &entry, sizeof(entry),
			      (uintptr_t)at / PAGE * sizeof(entry)) != sizeof(entry))
		fail("pagemap");
	close(file);
	return entry & ((1ull << 55) - 1);
}

static void mark_idle(unsigned long pfn)
{
	uint64_t word = 1ull << pfn % 64;

	if (pwrite(bitmap, &word, sizeof(word), pfn / 64 * sizeof(word)) < 0)
		fail("page_idle/bitmap");
}

static bool is_idle(unsigned long pfn)
{
	uint64_t word;

	if (pread(bitmap, &word, sizeof(word), pfn / 64 * sizeof(word)) < 0)
		fail("page_idle/bitmap");
	return word >> pfn % 64 & 1;
}

static bool test(unsigned long kib)
{
	size_t nr = kib * 1024 / PAGE, folios = MEMORY / PAGE / nr, n;
	char *memory = map(MEMORY, 2ul << 20);
	bool ok = true;

	set_folios(kib, "always");
	memset(memory, 1, MEMORY);
	set_folios(kib, "never");
	for (n = 0; n < folios; n++) {
		const char *folio = memory + n * nr * PAGE;

		if (pfn_of(folio) % nr ||
		    pfn_of(folio + (nr - 1) * PAGE) != pfn_of(folio) + nr - 1) {
			printf("# folio %zu is not of %lu KiB\n", n, kib);
			return false;
		}
	}
	add_memory(1, MEMORY_AT, memory, MEMORY);
	guest_reads(0, MEMORY / PAGE, 1);
	for (n = 0; n < folios; n++)
		mark_idle(pfn_of(memory + n * nr * PAGE));
	guest_reads(READ_PAGE % nr, folios / 2, 2 * nr);
	for (n = 0; n < folios; n++) {
		bool idle = is_idle(pfn_of(memory + n * nr * PAGE));

		if (idle != (n % 2 == 1)) {
			printf("# folio %zu of %lu KiB is %sidle\n", n, kib, idle ? "" : "not ");
			ok = false;
		}
	}
	add_memory(1, MEMORY_AT, memory, 0);
	munmap(memory, MEMORY);
	return ok;
}

int main(void)
{
	static const unsigned long sizes[] = { 16, 64, 256, 2048 };
	bool all = true;

	printf("KTAP version 1\n1..4\n");
	bitmap = open("/sys/kernel/mm/page_idle/bitmap", O_RDWR);
	if (bitmap < 0)
		fail("page_idle/bitmap");
	start_guest();
	for (unsigned int i = 0; i < 4; i++) {
		bool ok = test(sizes[i]);

		printf("%sok %u read_by_guest-%luk\n", ok ? "" : "not ", i + 1, sizes[i]);
		all &= ok;
	}
	return !all;
}
#endif
