#!/usr/bin/env bash
# What libneap shows to programs: exactly the functions of its headers, all with a version.
# And what it must not call, since it neither prints nor exits nor depends on its surroundings.

# shellcheck source=tests/lint/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
library=${LINT_LIBRARY:-${builddir_abs:-/nonexistent}/src/lib/.libs/libneap.so}
need_command nm
if [ ! -e "$library" ]; then
	echo "SKIP: libneap is not built here ($library)"
	exit 77
fi

mapfile -t exports < <(nm -D --defined-only "$library" | awk '$2 != "A" { print $NF }' | sort -u)
need_files exports-lib ${#exports[@]}
wanted=$(cat src/lib/neap/*.h | tr '\n\t' '  ' | sed 's|/\*|\n/*|g; s|\*/|*/\n|g' | sed '/^\/\*/d' |
	grep -oE '\bneap_[a-z0-9_]+\(' | tr -d '(' | sed 's/$/@@NEAP_0/' | sort -u)
need_files exports-lib "$(grep -c . <<<"$wanted")"
findings=0
compare_exports "$library" "$wanted" "src/lib/neap/*.h"

# printf and puts write to standard output; snprintf does not.  A thread is started while a large profile is
# read or asked, and has ended when the call returns.
while read -r called; do
	echo "$library: calls $called"
	findings=$((findings + 1))
done < <(nm -D --undefined-only "$library" | awk '{ sub(/@.*/, "", $NF); print $NF }' |
	grep -xE '_?exit|_Exit|quick_exit|abort|atexit|v?f?printf|__v?f?printf_chk|f?puts|f?putc|putchar|fwrite|perror|stdout|stderr|setlocale|getenv|signal|sigaction|fork|strtok|localtime|gmtime|ctime|asctime|rand' || true)
verdict exports-lib "$findings" ${#exports[@]}
