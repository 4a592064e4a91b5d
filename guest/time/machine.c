// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "arch/arch.h"
#include "base/file.h"
#include "base/units.h"
#include "process/cpu.h"
#include "time/json.h"
#include "time/machine.h"

#define CPU		"/sys/devices/system/cpu"
#define MIDR		CPU "/cpu0/regs/identification/midr_el1"
#define COMPATIBLE	"/proc/device-tree/compatible"
#define VENDOR		"/sys/class/dmi/id/sys_vendor"
#define HYPERVISOR_LEAF	0x40000000u
#define INITRD		"initrd="

/* Files that describe a machine; one that is not there is left out. */
static const struct {
	const char *key, *path;
} files[] = {
	{ "kernel_arch", "/proc/sys/kernel/arch" },
	{ "command_line", "/proc/cmdline" },
	{ "clocksource", "/sys/devices/system/clocksource/clocksource0/"
			 "current_clocksource" },
	{ "governor", CPU "/cpu0/cpufreq/scaling_governor" },
	{ "frequency_khz_max", CPU "/cpu0/cpufreq/scaling_max_freq" },
	{ "no_turbo", CPU "/intel_pstate/no_turbo" },
	{ "boost", CPU "/cpufreq/boost" },
	{ "smt", CPU "/smt/control" },
	{ "isolated", CPU "/isolated" },
	{ "midr", MIDR },
	{ "microcode", CPU "/cpu0/microcode/version" },
	{ "vendor", VENDOR },
	{ "product", "/sys/class/dmi/id/product_name" },
	{ "model", "/proc/device-tree/model" },
	{ "numa_nodes", "/sys/devices/system/node/online" },
	{ "lru_gen", "/sys/kernel/mm/lru_gen/enabled" },
	{ "perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid" },
};

static bool word_of(const char *path, char *text, size_t size)
{
	if (read_file(path, text, size) < 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	return true;
}

/* The value of the first line that begins with a name, as in /proc/cpuinfo. */
static bool value_in(const char *path, const char *name, char *value,
		     size_t size)
{
	FILE *file = fopen(path, "re");
	char line[512];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		const char *colon = strchr(line, ':');

		found = colon && !strncmp(line, name, strlen(name));
		if (!found)
			continue;
		snprintf(value, size, "%s",
			 colon + 1 + strspn(colon + 1, " \t"));
		value[strcspn(value, "\n")] = '\0';
	}
	if (file)
		fclose(file);
	return found;
}

/* The hypervisor's signature on x86; empty without one. */
static void signature(char text[13])
{
	memset(text, 0, 13);
#ifdef __x86_64__
	unsigned int a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & 1u << 31))
		return;
	__cpuid(HYPERVISOR_LEAF, a, b, c, d);
	memcpy(text, &b, 4);
	memcpy(text + 4, &c, 4);
	memcpy(text + 8, &d, 4);
#endif
}

/*
 * arm64 has no such leaf. QEMU's `max` has no implementer, which no CPU that
 * was made lacks. For any other model in a machine of QEMU's, the kernel's log
 * tells: KVM introduces itself to its guests.
 */
static bool kvm_in_log(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	bool found = false;
	char line[1024];
	ssize_t got;

	if (fd < 0)
		return false;
	while (!found && (got = read(fd, line, sizeof(line) - 1)) > 0) {
		line[got] = '\0';
		found = strstr(line, "KVM: hypervisor services");
	}
	close(fd);
	return found;
}

/* User-mode Linux has a path of its host's there; a document may be published. */
static void without_initrd(char *command_line)
{
	char *word = strstr(command_line, INITRD), *end;

	if (!word)
		return;
	end = word + strcspn(word, " ");
	end += strspn(end, " ");
	memmove(word, end, strlen(end) + 1);
}

static enum clock_kind clock_by_files(const char **why)
{
	char text[256] = "";
	unsigned long long midr = 1ull << 24;

	if (word_of(MIDR, text, sizeof(text)))
		sscanf(text, "%llx", &midr);
	if (!(midr >> 24 & 0xff)) {
		*why = "the CPU is QEMU's model \"max\", which KVM does not offer";
		return CLOCK_EMULATED;
	}
	if ((word_of(COMPATIBLE, text, sizeof(text)) &&
	     !strcmp(text, "linux,dummy-virt")) ||
	    (word_of(VENDOR, text, sizeof(text)) && !strcmp(text, "QEMU"))) {
		if (kvm_in_log()) {
			*why = "the kernel's log names KVM";
			return CLOCK_REAL;
		}
		*why = "a machine of QEMU's, and the kernel's log does not name "
		       "KVM";
		return CLOCK_UNKNOWN;
	}
	*why = "no sign of an emulator";
	return CLOCK_REAL;
}

enum clock_kind machine_clock(const char **why)
{
	char text[64], hypervisor[13];
	struct utsname name;

	/*
	 * A user-mode emulator answers uname(), but not this file. User-mode
	 * Linux runs on the CPU.
	 */
	if (!uname(&name) && word_of("/proc/sys/kernel/arch", text, sizeof(text)) &&
	    strcmp(text, name.machine) && strcmp(text, "um")) {
		*why = "the kernel is another architecture's: a user-mode emulator";
		return CLOCK_EMULATED;
	}
	signature(hypervisor);
	if (!strcmp(hypervisor, "TCGTCGTCGTCG")) {
		*why = "CPUID names QEMU's TCG";
		return CLOCK_EMULATED;
	}
	if (hypervisor[0]) {
		*why = "CPUID names a hypervisor, not an emulator";
		return CLOCK_REAL;
	}
	return clock_by_files(why);
}

const char *machine_clock_name(enum clock_kind kind)
{
	static const char *const names[] = { "real", "emulated", "unknown" };

	return names[kind];
}

void machine_describe(int cpu)
{
	char text[4096], hypervisor[13];
	struct utsname name;
	size_t i;

	if (!uname(&name)) {
		json_text("release", name.release);
		json_text("version", name.version);
		json_text("machine", name.machine);
	}
	json_text("architecture", ARCH_NAME);
	if (value_in("/proc/cpuinfo", "model name", text, sizeof(text)))
		json_text("cpu", text);
	if (value_in("/proc/cpuinfo", "host\t", text, sizeof(text)))
		json_text("host", text);
	if (value_in("/proc/meminfo", "MemTotal", text, sizeof(text)))
		json_text("memory", text);
	json_number("cpus", cpu_count());
	json_number("pinned_to", cpu);
	signature(hypervisor);
	if (hypervisor[0])
		json_text("hypervisor", hypervisor);
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		if (!word_of(files[i].path, text, sizeof(text)))
			continue;
		without_initrd(text);
		json_text(files[i].key, text);
	}
}
