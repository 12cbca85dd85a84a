/* Which view a screen has. */
#include "config.h"

#include "tui/view.h"

const struct view *view_of(enum screen s)
{
	static const struct view *const views[SCREEN_COUNT] = {
		[SCREEN_TREE] = &view_tree,
		[SCREEN_TABLE] = &view_table,
		[SCREEN_TIME] = &view_time,
		[SCREEN_SOURCE] = &view_source,
		[SCREEN_THREADS] = &view_threads,
		[SCREEN_MODULES] = &view_modules,
		[SCREEN_RUN] = &view_run,
		[SCREEN_FLAME] = &view_flame,
		[SCREEN_BUTTERFLY] = &view_butterfly,
		[SCREEN_SIZES] = &view_sizes,
	};
	return s < SCREEN_COUNT ? views[s] : NULL;
}
