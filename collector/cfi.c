/*
 * Call frame information: code address -> row of register rules.
 *
 * Reads .eh_frame through the binary search table of .eh_frame_hdr where there is
 * one, else entry by entry.  Format: Linux Standard Base Core, "Exception Frames",
 * and DWARF 5, section 6.4.  Only what a linker wrote into a mapped module is read,
 * and never past the end of an entry.
 */
#include "config.h"

#include "collector/cursor.h"
#include "collector/nc.h"

#define HDR_SORTED_ENCODING 0x3b /* relative to the table's section, 4 bytes, signed */

struct cie {
	const uint8_t *code, *code_end;
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_reg;
	uint8_t pointer_encoding;
	bool is_signal, has_augmentation;
};

struct fde {
	struct cie cie;
	const uint8_t *code, *code_end;
	struct nc_code_range function;
};

/* ---- entries ------------------------------------------------------------------ */

static bool cie_read(const uint8_t *entry, struct cie *cie)
{
	struct nc_cursor c = nc_cursor_entry(entry);
	if (!c.p || nc_read_u32(&c) != 0)
		return false;
	*cie = (struct cie){.code_end = c.end};
	nc_read_u8(&c); /* version */
	const uint8_t *augmentation = c.p;
	while (nc_read_u8(&c))
		;
	cie->code_align = nc_read_uleb(&c);
	cie->data_align = nc_read_sleb(&c);
	cie->return_reg = nc_read_uleb(&c);
	if (*augmentation == 'z') {
		cie->has_augmentation = true;
		uint64_t bytes = nc_read_uleb(&c);
		const uint8_t *after = c.p + bytes;
		for (const uint8_t *a = augmentation + 1; *a; a++) {
			if (*a == 'R')
				cie->pointer_encoding = nc_read_u8(&c);
			else if (*a == 'P')
				nc_read_encoded(&c, nc_read_u8(&c));
			else if (*a == 'L')
				nc_read_u8(&c);
			else if (*a == 'S')
				cie->is_signal = true;
		}
		c.p = after;
	}
	cie->code = c.p;
	return !c.has_failed && c.p <= c.end && cie->return_reg == 16;
}

static bool fde_read(const uint8_t *entry, uint64_t va, struct fde *fde)
{
	struct nc_cursor c = nc_cursor_entry(entry);
	if (!c.p)
		return false;
	const uint8_t *id_field = c.p;
	uint32_t cie_back = nc_read_u32(&c);
	if (cie_back == 0 || !cie_read(id_field - cie_back, &fde->cie))
		return false;
	uint8_t encoding = fde->cie.pointer_encoding;
	fde->function.start = nc_read_encoded(&c, encoding);
	fde->function.end = fde->function.start + nc_read_encoded(&c, encoding & 15);
	if (fde->cie.has_augmentation) {
		uint64_t bytes = nc_read_uleb(&c);
		c.p += bytes;
	}
	fde->code = c.p;
	fde->code_end = c.end;
	return !c.has_failed && c.p <= c.end && va >= fde->function.start && va < fde->function.end;
}

/* The entry whose start is the last one not above va, from the sorted table. */
static const uint8_t *table_find(const uint8_t *hdr, const int32_t *table, uint64_t count,
				 uint64_t va)
{
	int64_t wanted = (int64_t)(va - (uint64_t)hdr);
	uint64_t low = 0, high = count;
	while (low < high) {
		uint64_t mid = (low + high) / 2;
		if (table[mid * 2] <= wanted)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? hdr + table[(low - 1) * 2 + 1] : NULL;
}

static bool list_find(const uint8_t *entry, uint64_t va, struct fde *fde)
{
	for (;;) {
		struct nc_cursor c = nc_cursor_entry(entry);
		if (!c.p)
			return false;
		if (fde_read(entry, va, fde))
			return true;
		entry = c.end;
	}
}

static bool fde_find(const uint8_t *hdr, uint64_t va, struct fde *fde)
{
	struct nc_cursor c = {hdr + 4, hdr + 64, false};
	if (hdr[0] != 1)
		return false;
	uint64_t eh_frame = nc_read_encoded(&c, hdr[1]);
	if (hdr[3] != HDR_SORTED_ENCODING)
		return eh_frame && list_find((const uint8_t *)eh_frame, va, fde);
	uint64_t count = nc_read_encoded(&c, hdr[2]);
	const uint8_t *entry = table_find(hdr, (const int32_t *)c.p, count, va);
	return entry && fde_read(entry, va, fde);
}

/* ---- instructions ----------------------------------------------------------------- */

struct machine {
	struct nc_scratch *s;
	const struct cie *cie;
	uint64_t loc, va;
	uint32_t saved_count;
	bool has_initial, is_broken;
};

static void set_rule(struct machine *m, uint64_t reg, enum nc_rule_kind kind, int64_t offset,
		     const uint8_t *expr)
{
	int r = nc_reg_of(reg);
	if (r >= 0)
		m->s->row.regs[r] = (struct nc_reg_rule){kind, 0, offset, expr};
}

static void restore_rule(struct machine *m, uint64_t reg)
{
	int r = nc_reg_of(reg);
	if (r >= 0 && m->has_initial)
		m->s->row.regs[r] = m->s->initial.regs[r];
}

static const uint8_t *skip_block(struct nc_cursor *c)
{
	const uint8_t *block = c->p;
	uint64_t bytes = nc_read_uleb(c);
	if (bytes > (uint64_t)(c->end - c->p))
		c->has_failed = true;
	else
		c->p += bytes;
	return block;
}

static void set_register(struct machine *m, uint64_t reg, uint64_t from)
{
	int r = nc_reg_of(reg);
	if (r >= 0)
		m->s->row.regs[r] = (struct nc_reg_rule){NC_RULE_REGISTER, (uint8_t)from, 0, NULL};
}

static void save_row(struct machine *m)
{
	if (m->saved_count == NC_ROW_STACK)
		m->is_broken = true;
	else
		m->s->saved[m->saved_count++] = m->s->row;
}

static void load_row(struct machine *m)
{
	if (m->saved_count)
		m->s->row = m->s->saved[--m->saved_count];
	else
		m->is_broken = true;
}

static void define_cfa(struct machine *m, uint64_t reg, int64_t offset)
{
	m->s->row.cfa_is_expr = false;
	m->s->row.cfa_reg = (uint8_t)reg;
	m->s->row.cfa_offset = offset;
}

/* Instructions with operands of their own; false if the opcode is not known. */
static bool run_extended(struct machine *m, struct nc_cursor *c, uint8_t op)
{
	int64_t align = m->cie->data_align;
	struct nc_row *row = &m->s->row;
	uint64_t reg = 0;
	if ((op >= 0x05 && op <= 0x09) || op == 0x10 || op == 0x11 || (op >= 0x14 && op <= 0x16) ||
	    op == 0x2f)
		reg = nc_read_uleb(c);
	switch (op) {
	case 0x00: /* nop */
		return true;
	case 0x05: /* offset_extended */
		set_rule(m, reg, NC_RULE_OFFSET, (int64_t)nc_read_uleb(c) * align, NULL);
		return true;
	case 0x06: /* restore_extended */
		restore_rule(m, reg);
		return true;
	case 0x07: /* undefined */
		set_rule(m, reg, NC_RULE_UNDEFINED, 0, NULL);
		return true;
	case 0x08: /* same_value */
		set_rule(m, reg, NC_RULE_SAME, 0, NULL);
		return true;
	case 0x09: /* register */
		set_register(m, reg, nc_read_uleb(c));
		return true;
	case 0x0a: /* remember_state */
		save_row(m);
		return true;
	case 0x0b: /* restore_state */
		load_row(m);
		return true;
	case 0x0c: /* def_cfa */
		reg = nc_read_uleb(c);
		define_cfa(m, reg, (int64_t)nc_read_uleb(c));
		return true;
	case 0x0d: /* def_cfa_register */
		define_cfa(m, nc_read_uleb(c), row->cfa_offset);
		return true;
	case 0x0e: /* def_cfa_offset */
		row->cfa_offset = (int64_t)nc_read_uleb(c);
		return true;
	case 0x0f: /* def_cfa_expression */
		row->cfa_is_expr = true;
		row->cfa_expr = skip_block(c);
		return true;
	case 0x10: /* expression */
		set_rule(m, reg, NC_RULE_EXPR, 0, skip_block(c));
		return true;
	case 0x11: /* offset_extended_sf */
		set_rule(m, reg, NC_RULE_OFFSET, nc_read_sleb(c) * align, NULL);
		return true;
	case 0x12: /* def_cfa_sf */
		reg = nc_read_uleb(c);
		define_cfa(m, reg, nc_read_sleb(c) * align);
		return true;
	case 0x13: /* def_cfa_offset_sf */
		row->cfa_offset = nc_read_sleb(c) * align;
		return true;
	case 0x14: /* val_offset */
		set_rule(m, reg, NC_RULE_VALUE, (int64_t)nc_read_uleb(c) * align, NULL);
		return true;
	case 0x15: /* val_offset_sf */
		set_rule(m, reg, NC_RULE_VALUE, nc_read_sleb(c) * align, NULL);
		return true;
	case 0x16: /* val_expression */
		set_rule(m, reg, NC_RULE_VALUE_EXPR, 0, skip_block(c));
		return true;
	case 0x2e: /* GNU_args_size */
		nc_read_uleb(c);
		return true;
	case 0x2f: /* GNU_negative_offset_extended */
		set_rule(m, reg, NC_RULE_OFFSET, -(int64_t)nc_read_uleb(c) * align, NULL);
		return true;
	default:
		return false;
	}
}

/* If the instruction advances the location, do so. */
static bool run_advance(struct machine *m, struct nc_cursor *c, uint8_t op)
{
	uint64_t delta;
	if (op >> 6 == 1)
		delta = op & 63;
	else if (op == 0x02)
		delta = nc_read_u8(c);
	else if (op == 0x03)
		delta = nc_read_u16(c);
	else if (op == 0x04)
		delta = nc_read_u32(c);
	else if (op == 0x01) {
		m->loc = nc_read_encoded(c, m->cie->pointer_encoding);
		return true;
	} else
		return false;
	m->loc += delta * m->cie->code_align;
	return true;
}

static void run(struct machine *m, const uint8_t *code, const uint8_t *code_end)
{
	struct nc_cursor c = {code, code_end, false};
	while (c.p < c.end && !m->is_broken) {
		uint8_t op = nc_read_u8(&c);
		if (run_advance(m, &c, op)) {
			if (m->loc > m->va)
				break;
		} else if (op >> 6 == 2) {
			set_rule(m, op & 63, NC_RULE_OFFSET,
				 (int64_t)nc_read_uleb(&c) * m->cie->data_align, NULL);
		} else if (op >> 6 == 3) {
			restore_rule(m, op & 63);
		} else if (!run_extended(m, &c, op)) {
			m->is_broken = true;
		}
		m->is_broken |= c.has_failed;
	}
}

enum nc_cfi_result nc_cfi_row(struct nc_scratch *s, const void *eh_frame_hdr, uint64_t va,
			      struct nc_code_range *function_out)
{
	struct fde fde;
	if (!fde_find(eh_frame_hdr, va, &fde))
		return NC_CFI_ABSENT;
	if (function_out)
		*function_out = fde.function;
	if (fde.cie.is_signal)
		return NC_CFI_SIGNAL;
	__builtin_memset(&s->row, 0, sizeof s->row);
	struct machine m = {.s = s, .cie = &fde.cie, .va = UINT64_MAX};
	run(&m, fde.cie.code, fde.cie.code_end);
	s->initial = s->row;
	m.has_initial = true;
	m.loc = fde.function.start;
	m.va = va;
	run(&m, fde.code, fde.code_end);
	return m.is_broken ? NC_CFI_ABSENT : NC_CFI_FOUND;
}
