/*
 * Cache of unwind rules: return address -> how to step to the caller.
 *
 * A direct-mapped table of 16-byte entries, shared by all threads without locks.
 * An entry is two words, each read and written atomically; the first is stored
 * xor'ed with the second, so that a mixture of two writes cannot be taken for
 * either (Hyatt and Mann, "A lockless transposition table", 2002).
 *
 *   word 1: bits 0..23 CFA offset, 24..47 rbp offset, 48..50 step, 51..52 where rbp is
 *   word 0: (pc << 15 | module) ^ word 1
 */
#include "config.h"

#include "collector/nc.h"
#include "collector/sys.h"

#define RULES_LG    17
#define MODULE_BITS 15
#define OFFSET_BITS 24
#define OFFSET_MASK ((1u << OFFSET_BITS) - 1)

#define DW_OP_BREG_RBP 0x76
#define DW_OP_DEREF    0x06
#define DW_RBP         6
#define DW_RSP         7

/* Set once at start; entries are written by any thread. */
struct nc_rule_entry *nc_rule_table;

bool nc_rules_init(void)
{
	if (!nc_rule_table)
		nc_rule_table = nc_map(sizeof *nc_rule_table << NC_RULES_LG);
	return nc_rule_table != NULL;
}

static bool fits(int64_t offset)
{
	return offset >= -(1 << (NC_RULE_OFFSET_BITS - 1)) &&
	       offset < 1 << (NC_RULE_OFFSET_BITS - 1);
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

struct nc_rule nc_rule_make(struct nc_ctx *t, uint64_t pc)
{
	struct nc_rule rule = {.step = NC_STEP_NONE};
	const void *hdr = NULL;
	rule.module = (uint16_t)nc_module_at(t, pc - 1, &hdr);
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

struct nc_rule nc_rule_add(struct nc_ctx *t, uint64_t pc)
{
	struct nc_rule rule = nc_rule_make(t, pc);
	uint64_t word1 = ((uint64_t)(uint32_t)rule.cfa_offset & OFFSET_MASK) |
			 ((uint64_t)(uint32_t)rule.rbp_offset & OFFSET_MASK)
				 << NC_RULE_OFFSET_BITS |
			 (uint64_t)rule.step << 48 | (uint64_t)rule.rbp_at << 51;
	struct nc_rule_entry *e =
		&nc_rule_table[(pc * 0x9e3779b97f4a7c15ull) >> (64 - NC_RULES_LG)];
	__atomic_store_n(&e->word1, word1, __ATOMIC_RELAXED);
	__atomic_store_n(&e->word0, (pc << NC_RULE_MODULE_BITS | rule.module) ^ word1,
			 __ATOMIC_RELAXED);
	return rule;
}

void nc_rules_purge(uint64_t start_va, uint64_t end_va)
{
	for (size_t i = 0; i < (size_t)1 << NC_RULES_LG; i++) {
		struct nc_rule_entry *e = &nc_rule_table[i];
		uint64_t pc = (e->word0 ^ e->word1) >> NC_RULE_MODULE_BITS;
		if (pc < start_va || pc > end_va)
			continue;
		__atomic_store_n(&e->word0, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&e->word1, 0, __ATOMIC_RELAXED);
	}
}
