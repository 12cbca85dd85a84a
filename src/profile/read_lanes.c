/*
 * Reading a large profile with two threads, each all blocks of its types in their order.
 *
 *   another thread   frames, nodes       the call tree
 *   this thread      everything else     sites, snapshots, symbols, ...
 *
 * They need each other's tables only to check ids: a frame names a module, a site a node.  So each
 * notes the largest id that a block names, and how many records there are after a block, and
 * the two are compared when both are done.
 *
 * This is for files in which all is as it should be.  Whatever is not (damage, an id out of turn)
 * leaves the file to the reader of one block after the other, which knows what can be kept.
 */
#include "config.h"

#include "src/profile/reader_priv.h"

#include "src/base/both.h"

struct lane {
	struct loader loader;
	struct survey *survey; /* shared; a lane writes to its own blocks only */
	bool is_tree;
	enum neap_err err;
	struct err error;
};

static bool is_of_tree(unsigned type)
{
	return type == BLOCK_FRAMES || type == BLOCK_NODES;
}

static void run_lane(void *arg)
{
	struct lane *lane = arg;
	const struct survey *s = lane->survey;
	struct loader *l = &lane->loader;
	for (size_t i = 0; i < s->count && !lane->err; i++) {
		struct surveyed *at = &s->blocks[i];
		if (is_of_tree(at->block.type) != lane->is_tree)
			continue;
		l->most_named = 0;
		lane->err = loader_block(l, &at->block, &lane->error);
		at->most_named = l->most_named;
		at->node_count = l->p->node_count;
		at->module_count = l->p->module_count;
	}
}

/* Did every block name only what came before it? */
static bool are_in_turn(const struct survey *s)
{
	size_t node_count = PROFILE_NODE_FIRST, module_count = 0;
	for (size_t i = 0; i < s->count; i++) {
		const struct surveyed *at = &s->blocks[i];
		if (at->block.type == BLOCK_NODES)
			node_count = at->node_count;
		if (at->block.type == BLOCK_MODULES)
			module_count = at->module_count;
		if (at->block.type == BLOCK_FRAMES && at->most_named > module_count)
			return false;
		if (at->block.type == BLOCK_SITES && at->most_named >= node_count)
			return false;
	}
	return true;
}

/* The call tree goes to the profile that has the rest, which gives what it had instead. */
static void swap_trees(struct profile *a, struct profile *b)
{
	struct profile was = *a;
	a->frames = b->frames;
	a->frame_count = b->frame_count;
	a->node_parents = b->node_parents;
	a->node_frames = b->node_frames;
	a->node_flags = b->node_flags;
	a->node_count = b->node_count;
	b->frames = was.frames;
	b->frame_count = was.frame_count;
	b->node_parents = was.node_parents;
	b->node_frames = was.node_frames;
	b->node_flags = was.node_flags;
	b->node_count = was.node_count;
}

static enum neap_err read_both(struct lane *tree, struct lane *rest, struct err *e)
{
	both_run(run_lane, rest, tree);
	const struct lane *failed = tree->err ? tree : rest;
	if (tree->err == ERR_NOMEM || rest->err == ERR_NOMEM)
		return err_nomem(e, "the profile");
	if (failed->err || !are_in_turn(rest->survey))
		return ERR_FORMAT;
	swap_trees(rest->loader.p, tree->loader.p);
	rest->loader.block_count += tree->loader.block_count;
	rest->loader.p->damage.whole_bytes = rest->loader.p->file_bytes;
	return NEAP_OK;
}

enum neap_err read_in_lanes(struct survey *s, const char *name, uint64_t bytes, struct loader *out,
			    struct err *e)
{
	struct lane tree = {.survey = s, .is_tree = true}, rest = {.survey = s};
	*out = (struct loader){.p = NULL};
	enum neap_err err = loader_init(&rest.loader, name, bytes, e);
	if (!err)
		err = loader_init(&tree.loader, name, bytes, e);
	tree.loader.is_lane = rest.loader.is_lane = true;
	if (!err)
		err = read_both(&tree, &rest, e);
	loader_release(&tree.loader);
	profile_free(tree.loader.p);
	if (!err) {
		*out = rest.loader;
		return NEAP_OK;
	}
	loader_release(&rest.loader);
	profile_free(rest.loader.p);
	return err;
}
