#!/bin/bash
# Kills a program that allocates at full speed at random moments: every time there has to
# be a readable profile whose counters agree with each other.
#
#   sigkill.sh [COUNT [SEED]]     25 moments; the seed is printed, so that a failure can be repeated

# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
count=${1:-${SIGKILL_COUNT:-25}}
seed=${2:-${SIGKILL_SEED:-$$}}
echo "# seed $seed"
RANDOM=$seed

# judge TITLE: the profile of the last recording.
judge() {
	one_file "$tmp/sigkill.*.neap" || return
	if "$NEAP" info --check "$file" >"$tmp/check" 2>&1; then
		ok "$1: info --check"
	else
		bad "$1: info --check" "$(head -5 "$tmp/check")"
	fi
}

for ((i = 1; i <= count; i++)); do
	rm -f "$tmp"/*.neap
	# Most moments early, some late: up to 0.3 s.
	us=$(((RANDOM * 32768 + RANDOM) % (i % 3 ? 20000 : 300000) + 50))
	record -o "$tmp/%n.%p.neap" -- "$builddir_abs/tests/stress/sigkill" $us
	title="moment $i ($us us, seed $seed)"
	equal "$title: exit status" 137 "$status"
	judge "$title"
	truth "$title" --consistent --end signaled:9 "$file"
done

# Moments while the program starts, by a timer that survives exec.  Before its first
# allocation there may be no profile; if there is one, it has to be whole.
for ((i = 1; i <= count / 5; i++)); do
	rm -f "$tmp"/*.neap
	us=$(((RANDOM * 32768 + RANDOM) % 4000 + 100))
	record -o "$tmp/%n.%p.neap" -- "$builddir_abs/tests/stress/sigkill" $us exec
	title="start $i ($us us, seed $seed)"
	equal "$title: exit status" 142 "$status"
	for file in "$tmp"/*.neap; do
		[ -e "$file" ] || continue
		"$NEAP" info --check "$file" >"$tmp/check" 2>&1 ||
			bad "$title: info --check" "$(head -5 "$tmp/check")"
	done
done
finish
