/*
 * Cache of unwind rules: return address -> how to step to the caller.
 *
 * Steps miss the processor's caches here more than anywhere else, so an entry is one
 * word, and nearly all rules fit into it:
 *
 *   bits 33..63 tag, 18..32 module, 15..17 step, 12..14 where rbp is saved: how many words
 *   below the CFA (0 = it is not), 0..11 offset of the CFA in words, signed
 *
 * Addresses are multiplied by an odd number modulo 2^47, which loses nothing: the top
 * 16 bits of the product name a pair of entries, the others are the tag, so an entry that
 * matches is the address's own.  It may be either of the pair; the tag's top bit says where
 * to look first.
 *
 * Rules that do not fit (realigned stacks, very large frames) have a table of their own of
 * two words an entry, each read and written atomically; the first is stored xor'ed with
 * the second, so that a mixture of two writes cannot be taken for either (Hyatt and Mann,
 * "A lockless transposition table", 2002).
 *
 *   word 1: bits 0..23 CFA offset, 24..47 rbp offset, 48..50 step, 51..52 where rbp is
 *   word 0: (pc << 15 | module) ^ word 1
 */
#include "config.h"

#include "collector/nc.h"
#include "collector/sys.h"

#define WIDE_LG          12
#define WIDE_OFFSET_BITS 24
#define WIDE_OFFSET_MASK ((1u << WIDE_OFFSET_BITS) - 1)

#define DW_OP_BREG_RBP 0x76
#define DW_OP_DEREF    0x06
#define DW_RBP         6
#define DW_RSP         7

struct wide_entry {
	uint64_t word0, word1;
};

/* Set once at start; entries are written by any thread. */
uint64_t *nc_rule_table;
static struct wide_entry *wide_table;

bool nc_rules_init(void)
{
	if (!nc_rule_table)
		nc_rule_table = nc_map(sizeof *nc_rule_table << NC_RULES_LG);
	if (!wide_table)
		wide_table = nc_map(sizeof *wide_table << WIDE_LG);
	return nc_rule_table && wide_table;
}

void nc_rules_each(nc_own_fn *fn, void *arg)
{
	fn(nc_rule_table, sizeof *nc_rule_table << NC_RULES_LG, arg);
	fn(wide_table, sizeof *wide_table << WIDE_LG, arg);
}

static bool fits(int64_t offset)
{
	return offset >= -(1 << (WIDE_OFFSET_BITS - 1)) && offset < 1 << (WIDE_OFFSET_BITS - 1);
}

/* If the expression is "breg rbp, offset" followed by `tail` (0 = by nothing), its offset. */
static bool is_rbp_expr(const uint8_t *expr, uint8_t tail, int64_t *offset)
{
	if (!expr || expr[0] > 8 || expr[0] < 2 || expr[1] != DW_OP_BREG_RBP)
		return false;
	const uint8_t *p = expr + 2, *end = expr + 1 + expr[0];
	uint64_t v = 0;
	uint32_t shift = 0;
	uint8_t byte;
	do {
		if (p == end)
			return false;
		byte = *p++;
		v |= (uint64_t)(byte & 127) << shift;
		shift += 7;
	} while (byte & 128);
	if (byte & 64)
		v |= -(1ull << shift);
	*offset = (int64_t)v;
	return tail ? p + 1 == end && *p == tail : p == end;
}

static bool simple_cfa(const struct nc_row *row, struct nc_rule *rule)
{
	int64_t offset = row->cfa_offset;
	if (row->cfa_is_expr) {
		if (!is_rbp_expr(row->cfa_expr, DW_OP_DEREF, &offset))
			return false;
		rule->step = NC_STEP_DEREF;
	} else if (row->cfa_reg == DW_RSP) {
		rule->step = NC_STEP_RSP;
	} else if (row->cfa_reg == DW_RBP) {
		rule->step = NC_STEP_RBP;
	} else {
		return false;
	}
	rule->cfa_offset = (int32_t)offset;
	return fits(offset);
}

static bool simple_rbp(const struct nc_reg_rule *rbp, struct nc_rule *rule)
{
	int64_t offset = rbp->offset;
	switch (rbp->kind) {
	case NC_RULE_SAME:
	case NC_RULE_UNDEFINED:
		rule->rbp_at = NC_RBP_SAME;
		return true;
	case NC_RULE_OFFSET:
		rule->rbp_at = NC_RBP_CFA;
		break;
	case NC_RULE_EXPR:
		if (!is_rbp_expr(rbp->expr, 0, &offset))
			return false;
		rule->rbp_at = NC_RBP_RBP;
		break;
	default:
		return false;
	}
	rule->rbp_offset = (int32_t)offset;
	return fits(offset);
}

/* Squeeze a row into a rule; NC_STEP_COMPLEX if it does not fit. */
static void rule_of_row(const struct nc_row *row, struct nc_rule *rule)
{
	const struct nc_reg_rule *ra = &row->regs[NC_RIP];
	if (ra->kind == NC_RULE_UNDEFINED) {
		rule->step = NC_STEP_END;
		return;
	}
	if (ra->kind != NC_RULE_OFFSET || ra->offset != -8 ||
	    row->regs[NC_RSP].kind != NC_RULE_SAME || !simple_cfa(row, rule) ||
	    !simple_rbp(&row->regs[NC_RBP], rule))
		*rule = (struct nc_rule){.step = NC_STEP_COMPLEX, .module = rule->module};
}

/*
 * No rule for the byte before pc, because pc is the first of its function: an address that
 * was not pushed by a call.  Such are the trampolines of signal handlers and of functions
 * started by makecontext, whose own rules lead nowhere.  The stack ends there.
 */
static void rule_of_first_byte(struct nc_ctx *t, const void *hdr, uint64_t pc, struct nc_rule *rule)
{
	struct nc_code_range function;
	enum nc_cfi_result result = nc_cfi_row(t->scratch, hdr, pc, &function);
	if (result == NC_CFI_SIGNAL)
		rule->step = NC_STEP_SIGNAL;
	else if (result == NC_CFI_FOUND && function.start == pc)
		rule->step = NC_STEP_END;
}

/* Whether there ever was a rule for an address in no module.  Atomic. */
static bool has_strange_rules;

struct nc_rule nc_rule_make(struct nc_ctx *t, uint64_t pc)
{
	struct nc_rule rule = {.step = NC_STEP_NONE};
	const void *hdr = NULL;
	rule.module = (uint16_t)nc_module_at(t, pc - 1, &hdr);
	if (!rule.module)
		__atomic_store_n(&has_strange_rules, true, __ATOMIC_RELAXED);
	if (!hdr) {
		if (!rule.module && !nc_is_executable(t, pc - 1))
			rule.step = NC_STEP_LOST;
		return rule;
	}
	switch (nc_cfi_row(t->scratch, hdr, pc - 1, NULL)) {
	case NC_CFI_FOUND:
		rule_of_row(&t->scratch->row, &rule);
		break;
	case NC_CFI_SIGNAL:
		rule.step = NC_STEP_SIGNAL;
		break;
	case NC_CFI_ABSENT:
		rule_of_first_byte(t, hdr, pc, &rule);
		break;
	}
	return rule;
}

/* ---- rules of one word ------------------------------------------------------------------- */

/* The word for a rule, without its tag; false if it does not fit. */
static bool narrow_word(const struct nc_rule *rule, uint64_t *word)
{
	const int32_t most = 1 << (NC_RULE_CFA_BITS - 1);
	int32_t cfa = rule->cfa_offset / 8, rbp = 0;
	if (rule->cfa_offset % 8 || cfa < -most || cfa >= most || rule->rbp_at == NC_RBP_RBP)
		return false;
	if (rule->rbp_at == NC_RBP_CFA) {
		rbp = -rule->rbp_offset / 8;
		if (rule->rbp_offset % 8 || rbp <= 0 || rbp >= 1 << NC_RULE_RBP_BITS)
			return false;
	}
	*word = (uint64_t)rule->module << NC_RULE_MODULE_AT |
		(uint64_t)rule->step << NC_RULE_STEP_AT | (uint64_t)rbp << NC_RULE_RBP_AT |
		((uint64_t)cfa & ((1u << NC_RULE_CFA_BITS) - 1));
	return true;
}

/* ---- wide rules ------------------------------------------------------------------------------ */

static int32_t wide_offset(uint64_t word)
{
	const int unused_bits = 32 - WIDE_OFFSET_BITS;
	return (int32_t)((uint32_t)word << unused_bits) >> unused_bits;
}

static struct wide_entry *wide_entry(uint64_t pc)
{
	return &wide_table[(pc * 0x9e3779b97f4a7c15ull) >> (64 - WIDE_LG)];
}

static bool wide_find(uint64_t pc, struct nc_rule *rule)
{
	const struct wide_entry *e = wide_entry(pc);
	uint64_t word1 = __atomic_load_n(&e->word1, __ATOMIC_RELAXED);
	uint64_t word0 = __atomic_load_n(&e->word0, __ATOMIC_RELAXED) ^ word1;
	*rule = (struct nc_rule){
		.step = (word1 >> 48) & 7,
		.rbp_at = (word1 >> 51) & 3,
		.module = word0 & ((1u << NC_RULE_MODULE_BITS) - 1),
		.cfa_offset = wide_offset(word1),
		.rbp_offset = wide_offset(word1 >> WIDE_OFFSET_BITS),
	};
	return word0 >> NC_RULE_MODULE_BITS == pc;
}

static void wide_store(uint64_t pc, const struct nc_rule *rule)
{
	uint64_t word1 = ((uint64_t)(uint32_t)rule->cfa_offset & WIDE_OFFSET_MASK) |
			 ((uint64_t)(uint32_t)rule->rbp_offset & WIDE_OFFSET_MASK)
				 << WIDE_OFFSET_BITS |
			 (uint64_t)rule->step << 48 | (uint64_t)rule->rbp_at << 51;
	struct wide_entry *e = wide_entry(pc);
	__atomic_store_n(&e->word1, word1, __ATOMIC_RELAXED);
	__atomic_store_n(&e->word0, (pc << NC_RULE_MODULE_BITS | rule->module) ^ word1,
			 __ATOMIC_RELAXED);
}

/* ---- the cache --------------------------------------------------------------------------------- */

struct nc_rule nc_rule_find(struct nc_ctx *t, uint64_t pc)
{
	uint64_t hash = nc_rule_hash(pc), tag = hash & NC_RULE_TAG_MASK;
	uint64_t *first = &nc_rule_table[nc_rule_first(hash)];
	uint64_t *second = &nc_rule_table[nc_rule_first(hash) ^ 1];
	uint64_t word = __atomic_load_n(second, __ATOMIC_RELAXED);
	struct nc_rule rule;
	if (word >> NC_RULE_TAG_AT == tag)
		return nc_rule_of_word(word);
	if (wide_find(pc, &rule))
		return rule;
	rule = nc_rule_make(t, pc);
	if (!narrow_word(&rule, &word))
		wide_store(pc, &rule);
	else
		__atomic_store_n(__atomic_load_n(first, __ATOMIC_RELAXED) ? second : first,
				 tag << NC_RULE_TAG_AT | word, __ATOMIC_RELAXED);
	return rule;
}

/* The address an entry is for. */
static uint64_t narrow_pc(uint64_t word, size_t index)
{
	uint64_t pair = index / 2;
	return nc_rule_unhash(pair << NC_RULE_TAG_BITS | word >> NC_RULE_TAG_AT);
}

void nc_rules_purge(uint64_t start_va, uint64_t end_va)
{
	for (size_t i = 0; i < (size_t)1 << NC_RULES_LG; i++) {
		uint64_t word = __atomic_load_n(&nc_rule_table[i], __ATOMIC_RELAXED);
		if (!word)
			continue;
		uint64_t pc = narrow_pc(word, i);
		if (pc >= start_va && pc <= end_va)
			__atomic_store_n(&nc_rule_table[i], 0, __ATOMIC_RELAXED);
	}
	for (size_t i = 0; i < (size_t)1 << WIDE_LG; i++) {
		struct wide_entry *e = &wide_table[i];
		uint64_t pc = (e->word0 ^ e->word1) >> NC_RULE_MODULE_BITS;
		if (pc < start_va || pc > end_va)
			continue;
		__atomic_store_n(&e->word0, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&e->word1, 0, __ATOMIC_RELAXED);
	}
}

void nc_rules_purge_modules(bool (*is_kept)(uint32_t module))
{
	for (size_t i = 0; i < (size_t)1 << NC_RULES_LG; i++) {
		uint64_t word = __atomic_load_n(&nc_rule_table[i], __ATOMIC_RELAXED);
		if (word && !is_kept(nc_rule_of_word(word).module))
			__atomic_store_n(&nc_rule_table[i], 0, __ATOMIC_RELAXED);
	}
	for (size_t i = 0; i < (size_t)1 << WIDE_LG; i++) {
		struct wide_entry *e = &wide_table[i];
		if (is_kept((e->word0 ^ e->word1) & ((1u << NC_RULE_MODULE_BITS) - 1)))
			continue;
		__atomic_store_n(&e->word0, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&e->word1, 0, __ATOMIC_RELAXED);
	}
}

void nc_rules_purge_strange(uint64_t start_va, uint64_t end_va)
{
	if (!__atomic_load_n(&has_strange_rules, __ATOMIC_RELAXED))
		return;
	nc_rules_purge(start_va, end_va);
	__atomic_fetch_add(&nc.unload_count, 1, __ATOMIC_RELEASE);
}
