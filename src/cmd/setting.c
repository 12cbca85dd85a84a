/* See setting.h. */
#include "config.h"

#include "src/cmd/setting.h"

int setting_take(const struct cmd *c, struct settings *s, int option, const char *value)
{
	struct err e = {0};
	enum neap_err code = option == OPT_WRAPPER ? settings_add_wrapper(s, value, &e)
						   : settings_add_source_path(s, value, &e);
	if (code == ERR_USAGE)
		return cmd_bad_usage(c, "%s: %s",
				     option == OPT_WRAPPER ? "--wrapper" : "--source-path", e.text);
	return code ? cmd_fail(&e) : CMD_OK;
}

int setting_load(struct settings *s)
{
	struct err e = {0};
	return settings_load(s, &e) ? cmd_fail(&e) : CMD_OK;
}
