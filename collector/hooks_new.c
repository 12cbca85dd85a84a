/*
 * operator new and delete.
 *
 * Those of libstdc++ and libc++ call malloc, which is hooked already: they are only
 * passed through, by a tail call that leaves no frame.  Those of an allocator library
 * (tcmalloc, jemalloc, mimalloc) allocate by themselves and are counted here.  What
 * tells them apart is the module: does it also provide malloc?
 *
 * A plugin loaded with local scope may use an operator that cannot be found from here
 * (RTLD_NEXT sees the global scope only).  Then malloc and free stand in, which is what
 * the standard's own operators do; a failed one is left to the plugin's operator, found
 * through the caller's module, so that it throws as ever.
 */
#include "config.h"

#include "collector/nc.h"

#include <dlfcn.h>
#include <string.h>

#define NC_EXPORT __attribute__((visibility("default"), noinline))

void *malloc(size_t bytes);
void *memalign(size_t align_bytes, size_t bytes);
void free(void *block);

enum mode {
	UNRESOLVED,
	PASS,
	COUNT,
	STAND_IN
};

/* An operator: its real function and what to do with it.  Set once, by whoever is first. */
struct op {
	const char *name;
	uint32_t mode; /* enum mode; atomic, set after `real` */
	void *real;
	bool calls_no_malloc; /* atomic; known after a call */
};

static bool is_same_module(const void *a, const void *b)
{
	struct dl_find_object in_a, in_b;
	return _dl_find_object((void *)a, &in_a) == 0 && _dl_find_object((void *)b, &in_b) == 0 &&
	       in_a.dlfo_link_map == in_b.dlfo_link_map;
}

static NC_NOINLINE enum mode resolve(struct op *op)
{
	nc_real_resolve();
	if (!nc_real.malloc)
		return STAND_IN; /* for now */
	void *real = dlsym(RTLD_NEXT, op->name);
	enum mode mode = !real                                                ? STAND_IN
			 : is_same_module(real, (const void *)nc_real.malloc) ? COUNT
									      : PASS;
	op->real = real;
	__atomic_store_n(&op->mode, mode, __ATOMIC_RELEASE);
	return mode;
}

NC_INLINE enum mode mode_of(struct op *op)
{
	uint32_t mode = __atomic_load_n(&op->mode, __ATOMIC_ACQUIRE);
	return NC_LIKELY(mode != UNRESOLVED) ? (enum mode)mode : resolve(op);
}

/* The operator as the module of `caller` sees it; NULL if there is none. */
static void *find_from(const void *caller, const char *name)
{
	Dl_info info;
	if (!dladdr(caller, &info) || !info.dli_fname)
		return NULL;
	void *module = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	void *found = module ? dlsym(module, name) : NULL;
	if (module)
		nc_real.dlclose(module);
	return found;
}

static void count_new(struct op *op, void *block, size_t bytes, enum nc_api api,
		      const struct nc_origin *at)
{
	if (!block || !nc_is_on())
		return;
	/* If this operator did call malloc after all, the block is known already; from now on it
	 * is only passed through, so that malloc gets to see what was asked for. */
	if (NC_UNLIKELY(nc_is_counted(block))) {
		__atomic_store_n(&op->mode, PASS, __ATOMIC_RELEASE);
		return;
	}
	if (NC_UNLIKELY(!__atomic_load_n(&op->calls_no_malloc, __ATOMIC_RELAXED)))
		__atomic_store_n(&op->calls_no_malloc, true, __ATOMIC_RELAXED);
	nc_born(block, bytes, api, at);
}

static void count_delete(void *block)
{
	if (block && nc_is_on())
		nc_freed(block);
}

NC_INLINE size_t rounded(size_t bytes)
{
	size_t up = bytes ? (bytes + 15) & ~(size_t)15 : 16;
	return up >= bytes ? up : bytes;
}

/*
 * What to pass on to an operator that may be counted here.  Until that is certain, the size asked for: its
 * malloc would count what it gets.  Only blocks of up to 8 bytes can lie 8 bytes apart.
 */
NC_INLINE size_t passed_bytes(const struct op *op, size_t bytes)
{
	bool is_certain = __atomic_load_n(&op->calls_no_malloc, __ATOMIC_RELAXED);
	return NC_LIKELY(is_certain) || bytes <= 8 ? rounded(bytes) : bytes;
}

/* Parameter lists, arguments, and the alignment asked for, of the four forms of new. */
#define NEW(symbol, api, params, align, ...)                                            \
	NC_EXPORT void *symbol params;                                                  \
	NC_EXPORT void *symbol params                                                   \
	{                                                                               \
		static struct op op = {#symbol, UNRESOLVED, NULL, false};               \
		enum mode mode = mode_of(&op);                                          \
		void *(*real)params;                                                    \
		memcpy(&real, &op.real, sizeof real);                                   \
		if (NC_LIKELY(mode == PASS))                                            \
			return real(__VA_ARGS__);                                       \
		if (mode == COUNT) {                                                    \
			size_t asked_bytes = bytes;                                     \
			bytes = passed_bytes(&op, bytes);                               \
			void *made = real(__VA_ARGS__);                                 \
			count_new(&op, made, asked_bytes, api, NC_ORIGIN());            \
			return made;                                                    \
		}                                                                       \
		void *block = (align) > 16 ? memalign((align), bytes) : malloc(bytes);  \
		void *own = block ? NULL : find_from((void *)NC_ORIGIN()->pc, #symbol); \
		if (NC_LIKELY(!own || own == (void *)symbol))                           \
			return block;                                                   \
		memcpy(&real, &own, sizeof real);                                       \
		return real(__VA_ARGS__);                                               \
	}

#define DELETE(symbol, params, ...)                                       \
	NC_EXPORT void symbol params;                                     \
	NC_EXPORT void symbol params                                      \
	{                                                                 \
		static struct op op = {#symbol, UNRESOLVED, NULL, false}; \
		enum mode mode = mode_of(&op);                            \
		void(*real) params;                                       \
		memcpy(&real, &op.real, sizeof real);                     \
		if (NC_UNLIKELY(mode == STAND_IN)) {                      \
			free(block);                                      \
			return;                                           \
		}                                                         \
		if (mode == COUNT)                                        \
			count_delete(block);                              \
		real(__VA_ARGS__);                                        \
	}

/* align_val_t is passed like size_t, the nothrow tag like a pointer. */
NEW(_Znwm, NC_API_NEW, (size_t bytes), 0, bytes)
NEW(_Znam, NC_API_NEW_ARRAY, (size_t bytes), 0, bytes)
NEW(_ZnwmRKSt9nothrow_t, NC_API_NEW, (size_t bytes, const void *tag), 0, bytes, tag)
NEW(_ZnamRKSt9nothrow_t, NC_API_NEW_ARRAY, (size_t bytes, const void *tag), 0, bytes, tag)
NEW(_ZnwmSt11align_val_t, NC_API_NEW, (size_t bytes, size_t align), align, bytes, align)
NEW(_ZnamSt11align_val_t, NC_API_NEW_ARRAY, (size_t bytes, size_t align), align, bytes, align)
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, NC_API_NEW, (size_t bytes, size_t align, const void *tag),
    align, bytes, align, tag)
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, NC_API_NEW_ARRAY,
    (size_t bytes, size_t align, const void *tag), align, bytes, align, tag)

DELETE(_ZdlPv, (void *block), block)
DELETE(_ZdaPv, (void *block), block)
DELETE(_ZdlPvRKSt9nothrow_t, (void *block, const void *tag), block, tag)
DELETE(_ZdaPvRKSt9nothrow_t, (void *block, const void *tag), block, tag)
DELETE(_ZdlPvSt11align_val_t, (void *block, size_t align), block, align)
DELETE(_ZdaPvSt11align_val_t, (void *block, size_t align), block, align)
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t align, const void *tag), block,
       align, tag)
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t align, const void *tag), block,
       align, tag)

/* Sized forms: the real one must get the size that new passed on. */
DELETE(_ZdlPvm, (void *block, size_t bytes), block, mode == COUNT ? rounded(bytes) : bytes)
DELETE(_ZdaPvm, (void *block, size_t bytes), block, mode == COUNT ? rounded(bytes) : bytes)
DELETE(_ZdlPvmSt11align_val_t, (void *block, size_t bytes, size_t align), block,
       mode == COUNT ? rounded(bytes) : bytes, align)
DELETE(_ZdaPvmSt11align_val_t, (void *block, size_t bytes, size_t align), block,
       mode == COUNT ? rounded(bytes) : bytes, align)
