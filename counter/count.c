// SPDX-License-Identifier: GPL-2.0
/*
 * libquire-count.so: counts the instructions that the guest executes between
 * markers.
 *
 * QEMU calls the plugin for every block that it translates. Until the guest
 * executes the arm marker, the plugin only looks for markers in user code,
 * which costs very little. Arming resets the plugin: QEMU discards all
 * translated blocks before the next one is entered and translates again, and
 * then the plugin inserts counting code.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "caches.h"
#include "decode.h"
#include "lines.h"
#include "locks.h"
#include "qemu_plugin_api.h"
#include "regions.h"
#include "spans.h"
#include "stream.h"
#include "symbols.h"
#include "tables.h"
#include "util.h"

QUIRE_EXPORT int qemu_plugin_version = QUIRE_PLUGIN_API;

static qemu_plugin_id_t plugin_id;
static FILE *out;
static struct block_plan plan;
static struct report report;

/* The arguments NAME=VALUE. */
static const char *out_path, *symbols_path, *stream_path, *watch_path, *detail,
	*locks_path, *lines, *caches_path, *cold, *cpus;
static const struct {
	const char *name;
	const char **value;
} words[] = {
	{ "out", &out_path },
	{ "symbols", &symbols_path },
	{ "stream", &stream_path },
	{ "watch", &watch_path },
	{ "detail", &detail },
	{ "locks", &locks_path },
	{ "lines", &lines },
	{ "caches", &caches_path },
	{ "cold", &cold },
	{ "cpus", &cpus },
};

/* Taken by each callback: several vCPUs may translate and run at once. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool armed;		/* blocks are translated with counting code */
static bool changing;		/* a reset that changes `armed` is pending */

static void on_reset(qemu_plugin_id_t id);

static void switch_arming(bool on)
{
	bool reset;

	pthread_mutex_lock(&lock);
	reset = armed != on && !changing;
	changing |= reset;
	pthread_mutex_unlock(&lock);
	/*
	 * Without our lock: it takes QEMU's, with which QEMU calls on_reset().
	 */
	if (reset)
		qemu_plugin_reset(plugin_id, on_reset);
}

/*
 * QEMU 7.2 may keep a pointer to an instruction's memory callbacks when it
 * leaves the block behind it. It would use that at the next interrupt, also
 * after a reset has freed the callbacks.
 */
static bool stays_armed(void)
{
	return QUIRE_PLUGIN_API == 1 && (report.lines || report.caches);
}

static void on_marker(unsigned int vcpu, void *udata)
{
	unsigned int payload = (uintptr_t)udata;
	unsigned int op = payload >> 12, id = payload & 0xfff;

	if (op == MARKER_TABLE) {
		if (report.lines)
			tables_spell(id);
		return;
	}
	if (op == MARKER_ARM || op == MARKER_DISARM) {
		if (op == MARKER_ARM || !stays_armed())
			switch_arming(op == MARKER_ARM);
		return;
	}
	pthread_mutex_lock(&lock);
	if (!armed || changing)
		regions_spoil("marker of region %u while not armed", id);
	else if (op == MARKER_START)
		region_start(id, vcpu);
	else
		region_stop(id, vcpu);
	pthread_mutex_unlock(&lock);
}

/* The first thing that a block does, with cpus=on. */
static void on_block(unsigned int vcpu, void *udata)
{
	static unsigned int running;
	static pthread_t thread;

	(void)udata;
	if (vcpu == running)
		return;
	pthread_mutex_lock(&lock);
	if (thread && !pthread_equal(thread, pthread_self()))
		regions_spoil("cpus=on needs -icount: the CPUs run at the same time");
	thread = pthread_self();
	regions_switch(running, vcpu);
	running = vcpu;
	pthread_mutex_unlock(&lock);
}

static void on_symbol(unsigned int vcpu, void *udata)
{
	(void)vcpu;
	pthread_mutex_lock(&lock);
	regions_enter_symbol(udata);
	pthread_mutex_unlock(&lock);
}

static void on_translate_counting(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	pthread_mutex_lock(&lock);
	block_count(&plan, tb);
	pthread_mutex_unlock(&lock);
}

static void on_translate_waiting(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	pthread_mutex_lock(&lock);
	block_watch(&plan, tb);
	pthread_mutex_unlock(&lock);
}

static void on_qemu_exit(qemu_plugin_id_t id, void *udata)
{
	(void)id;
	(void)udata;
	pthread_mutex_lock(&lock);
	regions_write(out);
	stream_close();
	if (ferror(out) | fclose(out))
		complain("cannot write out=%s: %s", out_path, strerror(errno));
	pthread_mutex_unlock(&lock);
}

static void register_callbacks(void)
{
	qemu_plugin_register_vcpu_tb_trans_cb(
		plugin_id, armed ? on_translate_counting : on_translate_waiting);
	qemu_plugin_register_atexit_cb(plugin_id, on_qemu_exit, NULL);
}

/* All vCPUs are stopped, and no translated block is left. */
static void on_reset(qemu_plugin_id_t id)
{
	(void)id;
	pthread_mutex_lock(&lock);
	armed = !armed;
	changing = false;
	pthread_mutex_unlock(&lock);
	register_callbacks();
}

/* The value of argument @text, if it begins with @name and "=". */
static const char *value_of(const char *text, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(text, name, len) && text[len] == '=' ? text + len + 1
							      : NULL;
}

static bool parse_argument(const char *text)
{
	const char *value;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		value = value_of(text, words[i].name);
		if (value) {
			*words[i].value = value;
			return true;
		}
	}
	value = value_of(text, "span");
	if (value)
		return span_add(value);
	complain("argument \"%s\" is unknown; there are symbols=FILE, span=NAME:BEGIN:END, stream=FILE, watch=FILE, detail=on, locks=FILE, lines=on, caches=FILE, cold=on, cpus=on and out=FILE",
		 text);
	return false;
}

static bool is_on(const char *name, const char *value)
{
	if (!value || !strcmp(value, "on"))
		return true;
	complain("%s=%s: there is only %s=on", name, value, name);
	return false;
}

static bool check_arguments(void)
{
	if (!out_path)
		complain("no out=FILE to write the counts to");
	else if (!stream_path && watch_path)
		complain("watch=FILE needs stream=FILE");
	else if (!stream_path && detail)
		complain("detail=on needs stream=FILE");
	else if (!caches_path && cold)
		complain("cold=on needs caches=FILE");
	else
		return is_on("detail", detail) && is_on("lines", lines) &&
		       is_on("cold", cold) && is_on("cpus", cpus);
	return false;
}

static bool use_arguments(void)
{
	return (!symbols_path || symbols_load(symbols_path)) &&
	       spans_resolve() &&
	       (!locks_path || locks_load(locks_path)) &&
	       (!watch_path || stream_watch(watch_path));
}

static bool parse_arguments(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		if (!parse_argument(argv[i]))
			return false;
	return check_arguments() && use_arguments();
}

static bool open_files(void)
{
	out = fopen(out_path, "w");
	if (!out)
		complain("cannot open out=%s: %s", out_path, strerror(errno));
	return out && (!stream_path || stream_open(stream_path, detail));
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info,
			int argc, char **argv)
{
	plugin_id = id;
	plan.target = target_find(info->target_name);
	plan.on_marker = on_marker;
	plan.on_symbol = on_symbol;
	if (!plan.target || !info->system_emulation) {
		complain("counts in system emulation of aarch64, riscv64 and x86_64, not in this one (%s)",
			 info->target_name);
		return -1;
	}
	fixed_cells_init(&report.fixed);
	if (!parse_arguments(argc, argv) || !open_files())
		return -1;
	if (lines && info->system.max_vcpus != 1) {
		complain("lines=on needs a machine with one CPU (-smp 1)");
		return -1;
	}
	report.lines = lines;
	if (lines)
		lines_enable(&report.fixed);
	if (caches_path && !caches_load(caches_path, info->system.max_vcpus,
					cold, &report.fixed))
		return -1;
	report.caches = caches_path;
	report.cpus = cpus;
	plan.on_block = cpus ? on_block : NULL;
	report.target = plan.target;
	plan.fixed = report.fixed;
	/* By now the cells of totals exist, and no others. */
	regions_init(&report, stream_path && !detail ? cells_count() : 0);
	register_callbacks();
	return 0;
}
