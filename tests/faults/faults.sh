#!/usr/bin/env bash
# Everything that can fail fails once: each allocation, each call (with its error, with
# EINTR, cut short), a full disk from each write on.  What neap may do then is in judge.c;
# here it must never crash, hang, print something wrong, or leave half a file.
#
# The golden tests run with a neap that does all this before it does what it is asked for,
# and so do some commands they do not have; neap record is judged by record-judge.sh.
# `make check` tries a few failures of each program, `make check-faults` (argument "all")
# every one; of neap record, where a trial takes a tenth of a second and symbols many
# thousand allocations, the first two at each place.
set -u
here=$(cd "$(dirname "$0")" && pwd)
builddir_abs=${builddir_abs:-$PWD}
program=${NEAP:-$builddir_abs/neap}
library=$builddir_abs/tests/faults/faults.so
export LC_ALL=C TZ=UTC builddir_abs
unset COLUMNS NO_COLOR TERM LANG LANGUAGE LC_CTYPE

tmp=$(mktemp -d "${TMPDIR:-/tmp}/neap-faults.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
if [ ! -x "$program" ] || [ ! -f "$library" ]; then
	echo "no $program or no $library"
	exit 1
fi

few=3
record_few=5
if [ "${1:-}" = all ]; then
	few=
	record_few=
fi

# Sanitizers want to be the first library; here the one that fails things is.
cat >"$tmp/neap" <<SH
#!/bin/sh
ASAN_OPTIONS=\${ASAN_OPTIONS:-}:verify_asan_link_order=0 LD_PRELOAD='$library' exec '$program' "\$@"
SH
chmod +x "$tmp/neap"
export NEAP=$tmp/neap NEAP_FAULTS_LOG=$tmp/log
[ -z "$few" ] || export NEAP_FAULTS_MOST=$few
: >"$tmp/log"
failed=0

# ---- what reads profiles ---------------------------------------------------------------
export NEAP_FAULTS="memory memory-from calls disk stdout"
for script in report query; do
	bash "$here/../golden/$script.sh" >"$tmp/golden" 2>&1 || {
		tail -n 20 "$tmp/golden"
		echo "not ok - golden/$script.sh with a library before it"
		failed=1
	}
done
mkdir "$tmp/work" && cd "$tmp/work" && "$builddir_abs/tests/golden/make_profiles" . || exit 1
for profile in json hostile; do
	for option in '' --json --dump --check; do
		# shellcheck disable=SC2086
		"$NEAP" info $option $profile.neap
	done
	"$NEAP" query $profile.neap 'live | by func | as csv to out.csv'
	rm out.csv
done >/dev/null 2>&1

# A file that is replaced is the old one or the new one, with nothing beside it.
replace="live | by func | as csv to out.csv"
"$program" query json.neap "$replace" && mv out.csv whole
cat >judge.sh <<'SH'
verdict=0
if cmp -s out.csv old; then
	[ "$FAULT_STATUS" -ne 0 ] || verdict=1
else
	cmp -s out.csv whole || verdict=1
fi
[ "$(echo out.csv*)" = out.csv ] || verdict=1
[ "$verdict" -eq 0 ] || echo "# $FAULT_NAME, number $FAULT_NUMBER, status $FAULT_STATUS: $(echo out.csv*)"
rm -f out.csv*
cp old out.csv
exit "$verdict"
SH
echo old >old && cp old out.csv || exit 1
NEAP_FAULTS="memory memory-from calls disk" NEAP_FAULTS_JUDGE="sh ./judge.sh" \
	"$NEAP" query json.neap "$replace" >/dev/null 2>&1
runs=$(grep -c ' trials, ' "$tmp/log")

# ---- neap record --------------------------------------------------------------------------
mkdir "$tmp/record" "$tmp/record/tmp" && cd "$tmp/record" || exit 1
cat >leak.c <<'C'
#include <fcntl.h>
#include <stdlib.h>
int main(void)
{
	void *volatile p = malloc(77);
	return open("ran", O_CREAT | O_WRONLY, 0600) >= 0 && p ? 7 : 0;
}
C
${CC:-cc} -g -O1 -o leak leak.c || exit 1
if [ -n "$record_few" ]; then
	export NEAP_FAULTS_MOST=$record_few
else
	export NEAP_FAULTS_PLACES=2
fi
NEAP_FAULTS="memory calls disk" PROGRAM=$program TMPDIR=$PWD/tmp \
	NEAP_FAULTS_JUDGE="${BASH:-bash} '$here/record-judge.sh'" \
	"$NEAP" record -q -o out.neap ./leak >"$tmp/record.out" 2>&1
status=$?
[ "$status" -eq 7 ] || {
	echo "not ok - neap record ends with status $status, not with the program's 7: $(cat "$tmp/record.out")"
	failed=1
}

# ---- verdict ---------------------------------------------------------------------------------
awk '/^FAIL/ { print; shown++ } shown < 10 && !/^(ok|FAIL)/ { print }' "$tmp/log" >"$tmp/bad"
grep -q '^FAIL' "$tmp/log" && {
	cat "$tmp/bad"
	failed=1
}
trials=$(awk '/ trials, / { n += $2; bad += $4 } END { print n + 0, "failures,", bad + 0, "answered badly" }' "$tmp/log")
echo "$runs commands and neap record: $trials"
[ "$runs" -ge 100 ] && [ "$(grep -c ' trials, ' "$tmp/log")" -eq $((runs + 1)) ] && [ "$failed" -eq 0 ]
