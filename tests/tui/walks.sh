#!/usr/bin/env bash
# Walks: what people come for, each in fewer than ten keys from the first screen, with what the
# screen shows then.  walks/NAME.keys; its first line names the profiles: "# profile before.neap".
# A letter that is typed counts as a key, and so does a gesture of the mouse.

# shellcheck source=tests/golden/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../golden/lib.sh"

keys_most=9
golden_begin ../tui/walks
mkdir "$golden_dir/work" "$golden_dir/work/src" &&
	"$golden_build/tests/tui/make_runs" "$golden_dir/work" &&
	cp "$golden_expected/cart.c.txt" "$golden_dir/work/src/cart.c" &&
	touch -d 2024-04-01 "$golden_dir/work/src/cart.c" || exit 1

count_keys() { # SCRIPT
	awk '/^(#|:|size |$)/ { next }
		/^mouse / { count++; next }
		/^text / { count += length($0) - 5; next }
		{ count += NF }
		END { print count + 0 }' "$1"
}

for script in "$golden_expected"/*.keys; do
	[ -f "$script" ] || break
	name=$(basename "$script" .keys)
	read -r -a files < <(sed -n '1s/^# profile //p' "$script")
	keys=$(count_keys "$script")
	if [ "$keys" -gt "$keys_most" ] || [ "$keys" -eq 0 ]; then
		echo "FAIL: $name takes $keys keys, at most $keys_most"
		golden_failed=$((golden_failed + 1))
	fi
	{
		cat "$script"
		echo ":screenshot screen"
	} >"$golden_dir/work/keys"
	golden_case "$name" bash -c '"$0" browse --keys=keys --glyphs=block "$@" && cat screen' \
		"$NEAP" "${files[@]}"
done

golden_end
