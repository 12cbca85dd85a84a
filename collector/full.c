/*
 * Unwinding with every callee-saved register, by rows of any kind.
 *
 * For stacks with a frame that the memoised walk cannot step over: a CFA in a
 * register other than rsp and rbp (ld.so's lazy binding uses rbx), DWARF
 * expressions, registers saved in registers.  Starts in this very function, whose
 * own CFI leads out of the collector to the hook's caller.
 */
#include "config.h"

#include "collector/cursor.h"
#include "collector/nc.h"

#define OWN_FRAMES_MAX 16u

struct regs {
	uint64_t v[NC_REGS];
	uint32_t follow_count; /* how often the way led to another stack */
};

static bool read_stack(const struct nc_ctx *t, uint64_t addr, uint64_t *out)
{
	if (addr - t->range_start >= t->range_bytes || (addr & 7))
		return false;
	*out = *(const volatile uint64_t *)addr;
	return true;
}

static bool reg_value(const struct regs *r, uint64_t dwarf_reg, uint64_t *out)
{
	int reg = nc_reg_of(dwarf_reg);
	if (reg < 0)
		return false;
	*out = r->v[reg];
	return true;
}

struct expr {
	const struct nc_ctx *t;
	const struct regs *regs;
	struct nc_cursor c;
	uint64_t *stack;
	uint32_t depth;
	bool has_failed;
};

static void push(struct expr *e, uint64_t v)
{
	if (e->depth == 64)
		e->has_failed = true;
	else
		e->stack[e->depth++] = v;
}

static uint64_t pop(struct expr *e)
{
	if (e->depth)
		return e->stack[--e->depth];
	e->has_failed = true;
	return 0;
}

static void run_constant(struct expr *e, uint8_t op)
{
	switch (op) {
	case 0x08:
		push(e, nc_read_u8(&e->c));
		break;
	case 0x09:
		push(e, (uint64_t)(int64_t)(int8_t)nc_read_u8(&e->c));
		break;
	case 0x0a:
		push(e, nc_read_u16(&e->c));
		break;
	case 0x0b:
		push(e, (uint64_t)(int64_t)(int16_t)nc_read_u16(&e->c));
		break;
	case 0x0c:
		push(e, nc_read_u32(&e->c));
		break;
	case 0x0d:
		push(e, (uint64_t)(int64_t)(int32_t)nc_read_u32(&e->c));
		break;
	case 0x10:
		push(e, nc_read_uleb(&e->c));
		break;
	case 0x11:
		push(e, (uint64_t)nc_read_sleb(&e->c));
		break;
	default: /* 0x03 addr, 0x0e and 0x0f const8 */
		push(e, nc_read_u64(&e->c));
		break;
	}
}

static uint64_t binary(uint8_t op, uint64_t a, uint64_t b, bool *has_failed)
{
	switch (op) {
	case 0x1a:
		return a & b;
	case 0x1c:
		return a - b;
	case 0x1e:
		return a * b;
	case 0x21:
		return a | b;
	case 0x22:
		return a + b;
	case 0x24:
		return b < 64 ? a << b : 0;
	case 0x25:
		return b < 64 ? a >> b : 0;
	case 0x26:
		return (uint64_t)((int64_t)a >> (b < 63 ? b : 63));
	case 0x27:
		return a ^ b;
	case 0x29:
		return a == b;
	case 0x2a:
		return (int64_t)a >= (int64_t)b;
	case 0x2b:
		return (int64_t)a > (int64_t)b;
	case 0x2c:
		return (int64_t)a <= (int64_t)b;
	case 0x2d:
		return (int64_t)a < (int64_t)b;
	case 0x2e:
		return a != b;
	default:
		*has_failed = true;
		return 0;
	}
}

static void run_other(struct expr *e, uint8_t op)
{
	uint64_t a, b;
	switch (op) {
	case 0x06: /* deref */
		if (read_stack(e->t, pop(e), &a))
			push(e, a);
		else
			e->has_failed = true;
		break;
	case 0x12: /* dup */
		a = pop(e);
		push(e, a);
		push(e, a);
		break;
	case 0x13: /* drop */
		pop(e);
		break;
	case 0x16: /* swap */
		a = pop(e);
		b = pop(e);
		push(e, a);
		push(e, b);
		break;
	case 0x1f: /* neg */
		push(e, -pop(e));
		break;
	case 0x20: /* not */
		push(e, ~pop(e));
		break;
	case 0x23: /* plus_uconst */
		a = pop(e);
		push(e, a + nc_read_uleb(&e->c));
		break;
	default:
		b = pop(e);
		a = pop(e);
		push(e, binary(op, a, b, &e->has_failed));
	}
}

/* Evaluate the expression of a rule (length first); `initial` is pushed if has_initial. */
static bool evaluate(struct nc_ctx *t, const struct regs *regs, const uint8_t *block,
		     const uint64_t *initial, uint64_t *out)
{
	struct expr e = {.t = t, .regs = regs, .stack = t->scratch->expr_stack};
	e.c = (struct nc_cursor){block, block + 10, false};
	uint64_t bytes = nc_read_uleb(&e.c);
	e.c.end = e.c.p + bytes;
	if (initial)
		push(&e, *initial);
	while (e.c.p < e.c.end && !e.has_failed) {
		uint8_t op = nc_read_u8(&e.c);
		uint64_t v = 0;
		if (op == 0x03 || (op >= 0x08 && op <= 0x11))
			run_constant(&e, op);
		else if (op >= 0x30 && op <= 0x4f) /* lit */
			push(&e, op - 0x30u);
		else if (op >= 0x70 && op <= 0x8f) { /* breg */
			int64_t offset = nc_read_sleb(&e.c);
			e.has_failed |= !reg_value(regs, op - 0x70u, &v);
			push(&e, v + (uint64_t)offset);
		} else
			run_other(&e, op);
		e.has_failed |= e.c.has_failed;
	}
	*out = pop(&e);
	return !e.has_failed;
}

static bool caller_reg(struct nc_ctx *t, const struct regs *r, const struct nc_reg_rule *rule,
		       enum nc_reg reg, uint64_t cfa, uint64_t *out)
{
	uint64_t addr;
	switch (rule->kind) {
	case NC_RULE_SAME:
		*out = reg == NC_RSP ? cfa : r->v[reg];
		return true;
	case NC_RULE_UNDEFINED:
		*out = 0;
		return true;
	case NC_RULE_OFFSET:
		return read_stack(t, cfa + (uint64_t)rule->offset, out);
	case NC_RULE_VALUE:
		*out = cfa + (uint64_t)rule->offset;
		return true;
	case NC_RULE_REGISTER:
		return reg_value(r, rule->reg, out);
	case NC_RULE_EXPR:
		return evaluate(t, r, rule->expr, &cfa, &addr) && read_stack(t, addr, out);
	case NC_RULE_VALUE_EXPR:
		return evaluate(t, r, rule->expr, &cfa, out);
	default:
		return false;
	}
}

enum step {
	STEPPED,
	LAST,
	LOST,
	SIGNAL
};

static bool is_in_range(const struct nc_ctx *t, uint64_t addr)
{
	return addr - t->range_start < t->range_bytes;
}

/* The caller's stack is another one, or another part of the mapping that this one is in. */
static bool has_followed(struct nc_ctx *t, struct regs *r, uint64_t addr)
{
	return r->follow_count++ < NC_FOLLOW_MAX &&
	       (is_in_range(t, addr) || nc_range_follow(t, addr));
}

/* From the frame in r to its caller. */
static enum step step_row(struct nc_ctx *t, struct regs *r, const struct nc_row *row)
{
	if (row->regs[NC_RIP].kind == NC_RULE_UNDEFINED)
		return LAST;
	uint64_t cfa;
	if (row->cfa_is_expr) {
		if (!evaluate(t, r, row->cfa_expr, NULL, &cfa))
			return LOST;
	} else {
		if (!reg_value(r, row->cfa_reg, &cfa))
			return LOST;
		cfa += (uint64_t)row->cfa_offset;
	}
	bool is_elsewhere = !is_in_range(t, cfa - 8) || cfa <= r->v[NC_RSP];
	if (is_elsewhere && !has_followed(t, r, cfa - 8))
		return LOST;
	struct regs caller = {.follow_count = r->follow_count};
	for (int reg = 0; reg < NC_REGS; reg++)
		if (!caller_reg(t, r, &row->regs[reg], (enum nc_reg)reg, cfa, &caller.v[reg]))
			return LOST;
	if (is_elsewhere ? !nc_is_code(t, caller.v[NC_RIP]) : caller.v[NC_RSP] <= r->v[NC_RSP])
		return LOST;
	*r = caller;
	return caller.v[NC_RIP] >= NC_CODE_MIN_VA ? STEPPED : LAST;
}

static enum step step_frame_pointer(struct nc_ctx *t, struct regs *r)
{
	uint64_t rbp = r->v[NC_RBP], pc, saved;
	if (rbp == 0)
		return LAST;
	if (rbp < r->v[NC_RSP] || !read_stack(t, rbp + 8, &pc) || !read_stack(t, rbp, &saved))
		return LOST;
	if (!nc_is_code(t, pc))
		return LOST;
	r->v[NC_RSP] = rbp + 16;
	r->v[NC_RBP] = saved;
	r->v[NC_RIP] = pc;
	return STEPPED;
}

static enum step step(struct nc_ctx *t, struct regs *r, uint32_t *module, bool *is_guess)
{
	const void *hdr = NULL;
	uint64_t pc = r->v[NC_RIP];
	*is_guess = false;
	*module = nc_module_at(t, pc - 1, &hdr);
	enum nc_cfi_result found = hdr ? nc_cfi_row(t->scratch, hdr, pc - 1, NULL) : NC_CFI_ABSENT;
	if (found == NC_CFI_SIGNAL)
		return SIGNAL;
	if (found == NC_CFI_FOUND)
		return step_row(t, r, &t->scratch->row);
	*is_guess = true;
	return step_frame_pointer(t, r);
}

/* Step out of the collector's own frames, up to the caller of the hook. */
static bool leave_collector(struct nc_ctx *t, struct regs *r, const struct nc_origin *at)
{
	uint32_t module;
	bool is_guess;
	for (uint32_t i = 0; i < OWN_FRAMES_MAX; i++) {
		if (step(t, r, &module, &is_guess) != STEPPED)
			return false;
		if (r->v[NC_RSP] == nc_origin_sp(at))
			return r->v[NC_RIP] == at->pc;
	}
	return false;
}

static NC_NOINLINE struct nc_unwound unwind_from(struct nc_ctx *t, struct regs *r,
						 const struct nc_origin *at)
{
	struct nc_unwound u = {0, NC_NODE_TRUNCATED};
	bool is_guess = false;
	if (!leave_collector(t, r, at)) {
		nc_drop(NC_DROP_UNWIND);
		return u;
	}
	for (;;) {
		if (u.frame_count == t->frame_cap && !nc_frames_grow(t)) {
			nc_drop(NC_DROP_FRAMES);
			return u;
		}
		uint32_t module;
		uint64_t key = r->v[NC_RIP] | (is_guess ? NC_KEY_GUESSED : 0);
		enum step done = step(t, r, &module, &is_guess);
		if (done == SIGNAL) {
			u.root = NC_NODE_SIGNAL;
			return u;
		}
		t->fresh[u.frame_count++].key = key | (uint64_t)module << NC_KEY_MODULE_SHIFT;
		if (done == LAST)
			u.root = NC_NODE_ROOT;
		else if (done == LOST)
			nc_drop(NC_DROP_UNWIND);
		if (done != STEPPED)
			return u;
	}
}

struct nc_unwound nc_unwind_full(struct nc_ctx *t, const struct nc_origin *at)
{
	struct regs r = {.follow_count = 0};
	__asm__ volatile("movq %%rbx, 0(%0)\n\t"
			 "movq %%rbp, 8(%0)\n\t"
			 "movq %%rsp, 16(%0)\n\t"
			 "movq %%r12, 24(%0)\n\t"
			 "movq %%r13, 32(%0)\n\t"
			 "movq %%r14, 40(%0)\n\t"
			 "movq %%r15, 48(%0)\n\t"
			 "leaq 1f(%%rip), %%rax\n"
			 "1:\tmovq %%rax, 56(%0)"
			 :
			 : "D"(&r)
			 : "rax", "memory");
	/* The CFI of this place: one byte into the instruction, as for a return address. */
	r.v[NC_RIP] += 1;
	return unwind_from(t, &r, at);
}
