/* SPDX-License-Identifier: GPL-2.0 */
/* What a kernel has on all architectures, for the host: one CPU, no locks. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define CONFIG_DEBUG_TLB_HAZARD 1
#define __init
#define noinline
#define __always_inline inline
#define _RET_IP_ 0
#define current_stack_pointer 0
#define __page_aligned_bss __attribute__((aligned(4096)))
#define EXPORT_SYMBOL_GPL(name)
#define unlikely(x) (x)
#define READ_ONCE(x) (x)
#define WRITE_ONCE(x, value) ((x) = (value))
#define BIT(n) (1UL << (n))
#define BIT_ULL(n) (1ULL << (n))
#define UL(n) n##UL
#define ARRAY_SIZE(a) (sizeof(a) / sizeof(*(a)))

typedef uint64_t u64;
typedef uint32_t u32;
typedef uint16_t u16;

/* Entries. */
#define PAGE_SHIFT 12
#define PAGE_SIZE (1UL << PAGE_SHIFT)
#define PMD_SIZE (1UL << 21)
#define PMD_MASK (~(PMD_SIZE - 1))
#define PTRS_PER_PTE 512
#define PTRS_PER_PMD 512
typedef struct { u64 val; } pte_t;
typedef pte_t pmd_t;
#define __pmd(v) ((pmd_t){ v })
#define __pte(v) ((pte_t){ v })
#define pte_val(pte) ((pte).val)
#define pmd_val(pmd) ((pmd).val)

/* No walk is made: the self-test's tables are always reached. */
typedef pte_t pgd_t, p4d_t, pud_t;
#define pgd_offset(mm, addr) ((pgd_t *)NULL)
#define pgd_none(pgd) true
#define p4d_offset_lockless(pgdp, pgd, addr) (pgdp)
#define p4d_none(p4d) true
#define pud_offset_lockless(p4dp, p4d, addr) (p4dp)
#define pud_present(pud) false
#define pud_leaf(pud) false
#define pmd_offset_lockless(pudp, pud, addr) (pudp)

/* Lists. */
struct list_head { struct list_head *next, *prev; };
struct hlist_node { struct hlist_node *next, **pprev; };
struct hlist_head { struct hlist_node *first; };
#define LIST_HEAD(name) struct list_head name = { &(name), &(name) }
#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))
#define list_empty(head) ((head)->next == (head))
#define list_first_entry_or_null(head, type, member) \
	(list_empty(head) ? NULL : container_of((head)->next, type, member))
#define list_for_each_entry_safe(p, n, head, member)			\
	for (p = container_of((head)->next, typeof(*p), member);	\
	     n = container_of(p->member.next, typeof(*p), member),	\
	     &p->member != (head); p = n)
#define list_for_each_entry(p, head, member)				\
	for (p = container_of((head)->next, typeof(*p), member);	\
	     &p->member != (head); p = container_of(p->member.next, typeof(*p), member))
#define hlist_for_each_entry(p, head, member)				\
	for (struct hlist_node *at = (head)->first;			\
	     at && ((p = container_of(at, typeof(*p), member)), true); at = at->next)

static inline void list_del(struct list_head *entry)
{
	entry->next->prev = entry->prev;
	entry->prev->next = entry->next;
}

static inline void list_add(struct list_head *entry, struct list_head *head)
{
	*entry = (struct list_head){ head->next, head };
	head->next->prev = entry;
	head->next = entry;
}

static inline void list_move(struct list_head *entry, struct list_head *head)
{
	list_del(entry);
	list_add(entry, head);
}

static inline void hlist_del(struct hlist_node *node)
{
	*node->pprev = node->next;
	if (node->next)
		node->next->pprev = node->pprev;
}

static inline void hlist_add_head(struct hlist_node *node, struct hlist_head *head)
{
	*node = (struct hlist_node){ head->first, &head->first };
	if (node->next)
		node->next->pprev = &node->next;
	head->first = node;
}

/* What else it calls. */
#define DEFINE_RAW_SPINLOCK(name) int name
#define raw_spin_lock_irqsave(lock, flags) ((void)(lock), (flags) = 0)
#define raw_spin_unlock_irqrestore(lock, flags) ((void)(lock), (void)(flags))
#define hash_64(value, bits) ((value) * 0x61C8864680B583EBull >> (64 - (bits)))
#define jhash(key, length, initial) ((u32)(length) + (initial))
#define cmpxchg(p, old, new) ({ typeof(*(p)) was = *(p); if (was == (old)) *(p) = (new); was; })
#define stack_trace_save(store, size, skip) ((void)(store))
#define pr_info(...) printf(__VA_ARGS__)
#define pr_warn_once(...) printf(__VA_ARGS__)
#define pr_info_once(...) printf(__VA_ARGS__)
#define printk_deferred_once(...) printf(__VA_ARGS__)
#define KERN_INFO
#define WARN(condition, ...) (warnings++, printf(__VA_ARGS__))
#define vzalloc(size) calloc(1, size)
#define array_size(a, b) ((a) * (size_t)(b))
#define ENOMEM 12
#define early_initcall(function) static int (*const early)(void) = function
#define late_initcall(function) static int (*const late)(void) = function

static int warnings;
static struct task_struct { pid_t pid; } task, *current = &task;
