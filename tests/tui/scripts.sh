#!/usr/bin/env bash
# Key scripts with what the screen must show.  tests/tui/scripts/NAME.keys; the first line names the
# profile: "# profile json.neap".

set -u
source_dir=${srcdir_abs:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
build_dir=${builddir_abs:-$PWD}
NEAP=${NEAP:-$build_dir/neap}
unset COLUMNS NO_COLOR TERM LANG LANGUAGE LC_CTYPE VISUAL EDITOR
export LC_ALL=C TZ=UTC
folder=$(mktemp -d "${TMPDIR:-/tmp}/neap-scripts.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
"$build_dir/tests/golden/make_profiles" "$folder" || exit 1
cp "$source_dir"/tests/tui/scripts/*.folded "$folder" || exit 1
cd "$folder" || exit 1

count=0 failed=0
for script in "$source_dir"/tests/tui/scripts/*.keys; do
	[ -f "$script" ] || continue
	read -r -a files < <(sed -n '1s/^# profile //p' "$script")
	count=$((count + 1))
	if ! "$NEAP" browse --keys="$script" --glyphs=ascii "${files[@]}"; then
		echo "FAIL: $script"
		failed=$((failed + 1))
	fi
done

# Time asks for a file by its name: where no query can say the name, it shows no other file.
cp json.neap $'new\nline.neap' && cp json.neap $'bell\a.neap' || exit 1
printf '3\n:expect intern_key\n' >line.keys
"$NEAP" browse --keys=line.keys --glyphs=ascii forked.neap $'new\nline.neap' || {
	echo "FAIL: Time does not show a file with a newline in its name"
	failed=$((failed + 1))
}
printf '3\n:expect error: the name of the file has control characters\n' >bell.keys
"$NEAP" browse --keys=bell.keys --glyphs=ascii forked.neap $'bell\a.neap' || {
	echo "FAIL: Time shows another file for one with a control character in its name"
	failed=$((failed + 1))
}

# What Time shows is written as it is: the callers of the class that was entered, and of those.
for depth in 1 2; do
	entered=$(printf 'Enter %.0s' $(seq $depth))
	printf '3 %sw\ntext callers%s.tsv\nEnter\n' "$entered" $depth >callers.keys
	"$NEAP" browse --keys=callers.keys --glyphs=ascii json.neap || failed=$((failed + 1))
	by=caller.func
	[ $depth = 2 ] && by=caller2.func
	if ! awk -F'\t' -v by=$by 'NR == 1 { good = $1 == "time" && $2 == by } NR > 1 && $1 == 4000000000 { sum += $3 }
		END { exit !(good && sum == 40176000) }' callers$depth.tsv; then
		echo "FAIL: Time does not write the callers $depth frames out as it shows them"
		failed=$((failed + 1))
	fi
done

# A screen that does not show what is expected must fail.
printf ':expect no such words\n' >wrong.keys
if "$NEAP" browse --keys=wrong.keys json.neap 2>/dev/null; then
	echo "FAIL: :expect never fails"
	failed=$((failed + 1))
fi
if [ "$count" = 0 ]; then
	echo "no script was found"
	exit 1
fi
echo "$count scripts, $failed failed"
[ "$failed" = 0 ]
