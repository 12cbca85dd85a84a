#!/bin/bash
# Records the programs of tests/targets and compares every TRUTH line in their
# sources with the profile, to the byte.
#
#   targets.sh [NUMBER...]     only these, such as 12 or 26

# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
sources=$srcdir_abs/tests/targets

only=("$@")

# options=(WORDS): what else `neap record` is given.
options=()
# target SOURCE WORDS... [-- CHECKS...]: records tests/targets/NAME WORDS, expects exit status
# 0 and every TRUTH line of its source.
target() {
	local source=$1 name words=()
	shift
	name=${source%.*}
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		words+=("$1")
		shift
	done
	[ $# -gt 0 ] && shift
	wanted "${name%%-*}" || return 0
	if [ ! -x "$targets/$name" ]; then
		skip "$name is not built"
		return 0
	fi
	rm -f "$tmp"/*.neap
	record --children=none "${options[@]}" -o "$tmp/%n.%p.neap" -- "$targets/$name" "${words[@]}"
	if [ "$status" = 77 ]; then
		skip "$name: this system cannot run it"
		return 0
	fi
	equal "$name: exit status" 0 "$status"
	equal "$name: nothing printed by neap" "" "$(cat "$tmp/err")"
	one_file "$tmp/$name.*.neap" || return 0
	case $name in
	18-*) ;;
	61-*) set -- --source "$tmp/out" "$@" ;; # what it did depends on the moment
	*) equal "$name: nothing printed by the target" "" "$(cat "$tmp/out")" ;;
	esac
	truth "$name" --source "$sources/$source" --undropped --consistent --end exited:0 "$@" "$file"
}

target 01-realloc-chain.c
target 03-aligned-family.c
target 05-exceptions.cpp
target 10-many-threads.c
target 17-early-late.cpp
target 21-tailcall-noreturn.c -- --callers never_returns=last_call,main \
	--inclusive 'func=innocent_next allocs=0 bytes=0 live_blocks=0 live_bytes=0'
target 26-peak-between-snapshots.c -- --peak spike=64002112 --peak phase_a=10000030 \
	--peak-total 74002142..74102142 --peak-time 0.45..0.65
target 33-libc-allocators.c -- \
	--inclusive 'func=use_strdup allocs=100 bytes=30100 live_blocks=10 live_bytes=3010' \
	--inclusive 'func=use_strndup allocs=50 bytes=5050 live_blocks=5 live_bytes=505' \
	--inclusive 'func=use_callocs allocs=30 bytes=63210 live_blocks=3 live_bytes=6321' \
	--inclusive 'func=use_getcwd live_blocks=0 live_bytes=0' \
	--inclusive 'func=use_asprintf live_blocks=2'

target 50-edge-sizes.c
target 51-many-sizes.c
target 52-frames.c
target 53-same-frames.c
target 54-stack-remap.c
target 55-temporary.c
target 56-inline.cpp
target 59-early-library.c
target 60-service.c
target 61-interrupted.c
target 64-odd-frames.c
target 66-deepbind.c "$targets"
target 68-small-threads.c "$targets"
target 70-operators.cpp
target 71-coroutines.cpp
target 72-sandbox.c
target 74-same-depth.c
target 75-jump-out.c
target 76-made-then-loaded.c "$targets"
target 78-no-descriptors.c
target 84-libc-callers.c
target 85-cancelled.c
target 87-entry-points.c
target 89-changed-callers.c
target 90-same-places.c "$targets"
target 96-other-stack.c -- --inclusive 'func=from_first allocs=15000 bytes=615000' \
	--inclusive 'func=from_second allocs=15000 bytes=615000'
target 97-late-peak.c -- --peak base=1000003 --peak in_destructor=9000019 --peak-total 10000022..10000022
target 98-own-start.c x y -- --callers in_start=_start --inclusive 'func=_start allocs=30' --inclusive 'func=0x3 allocs=0'
target 82-late-keys.c
if wanted 82; then
	equal "82-late-keys: threads" 241 "$("$NEAP" info "$file" | sed -n 's/^Threads: *//p')"
fi
target 80-realloc-peak.c -- --peak base=3000017 --peak grow=16000013 --peak-total 19000030..19000030
if [ -x "$targets/58-unnoticed" ]; then
	target 58-unnoticed.c "$("$targets/58-unnoticed" count)"
fi

options=(--mmap)
target 86-huge-pages.c
if [ "$(sed -n 's/^HugePages_Free: *//p' /proc/meminfo)" -ge 7 ] 2>/dev/null; then
	target 86-huge-pages.c explicit -- --expect 'func=explicit allocs=3 bytes=13631488 live_blocks=2 live_bytes=8388608'
elif wanted 86; then
	skip "86-huge-pages explicit: the system has no free huge pages (vm.nr_hugepages)"
fi
target 79-mappings.c -- --callers trimmed=main --callers in_thread=start_thread
options=()
# Without --mmap there is no trace of them, and the heap is the same; a child inherits them.
mapping_targets() {
	local name=79-mappings forked
	wanted 79 || return 0
	rm -f "$tmp"/*.neap
	record -o "$tmp/%n.%p.neap" -- "$targets/$name"
	if one_file "$tmp/$name.*.neap"; then
		truth "$name, not asked for" --undropped --consistent --end exited:0 \
			--expect 'func=in_heap allocs=20 bytes=2020 live_blocks=10 live_bytes=1010' \
			--expect 'func=huge allocs=0' --expect 'func=plain allocs=0' "$file"
		equal "$name, not asked for: no mapping" 1 "$("$NEAP" query "$file" 'allocated api=mmap' | grep -c 'nothing matches')"
	fi
	"$NEAP" report "$file" >"$tmp/out"
	equal "$name, not asked for: not in the report" 0 "$(grep -c '^  mapped ' "$tmp/out")"
	rm -f "$tmp"/*.neap
	record --mmap --wait-all -o "$tmp/%n.%p.neap" -- "$targets/$name" fork
	equal "$name fork: exit status" 0 "$status"
	equal "$name fork: number of profiles" 2 "$(find "$tmp" -name '*.neap' | wc -l)"
	for file in "$tmp"/*.neap; do
		if "$TRUTH" --forked 0 "$file" >/dev/null; then
			truth "$name, parent" --undropped --consistent --end exited:0 \
				--expect 'func=before_fork allocs=4 bytes=409600 live_blocks=3 live_bytes=307200' \
				--expect 'func=in_child allocs=0' "$file"
			"$NEAP" report --width=120 "$file" >"$tmp/out"
			equal "$name, parent: report" \
				"  mapped      400.0 KiB in 4 mappings at the peak; all figures are of heap and mappings together" \
				"$(grep '^  mapped ' "$tmp/out")"
		else
			truth "$name, child" --undropped --consistent \
				--expect 'func=before_fork allocs=0 bytes=0 live_blocks=1 live_bytes=81920' \
				--expect 'func=in_child allocs=2 bytes=40960 live_blocks=2 live_bytes=40960' "$file"
		fi
	done
}
mapping_targets

# 12: parent and child, each with its own file.
fork_target() {
	local name=12-fork-noexec parent="" child="" f
	wanted 12 || return 0
	rm -f "$tmp"/*.neap
	record --wait-all -o "$tmp/%n.%p.neap" -- "$targets/$name"
	equal "$name: exit status" 0 "$status"
	for f in "$tmp/$name".*.neap; do
		if "$TRUTH" --forked 1 "$f" >/dev/null 2>&1; then child=$f; else parent=$f; fi
	done
	equal "$name: number of profiles" 2 "$(find "$tmp" -name '*.neap' | wc -l)"
	truth "$name, parent" --source "$sources/$name.c" --undropped --consistent --end exited:0 --forked 0 "$parent"
	truth "$name, child" --undropped --consistent \
		--expect 'func=child_alloc allocs=50 bytes=65050 live_blocks=50 live_bytes=65050' \
		--expect 'func=before_fork allocs=0 bytes=0 live_blocks=60 live_bytes=72060' \
		--expect 'func=parent_after allocs=0 bytes=0 live_blocks=0 live_bytes=0' \
		"$child"
	rm -f "$tmp"/*.neap
	record --wait-all --children=none -o "$tmp/%n.%p.neap" -- "$targets/$name"
	one_file "$tmp/$name.*.neap" || return 0
	truth "$name, children not followed" --source "$sources/$name.c" --end exited:0 --forked 0 "$file"
}
fork_target

# 57: five images of one program in four processes.
exec_target() {
	local name=57-exec-spawn firsts=0 children=0 lasts=0 title
	wanted 57 || return 0
	rm -f "$tmp"/*.neap
	record --wait-all -o "$tmp/%n.%p.neap" -- "$targets/$name"
	equal "$name: exit status" 0 "$status"
	equal "$name: number of profiles" 5 "$(find "$tmp" -name '*.neap' | wc -l)"
	for file in "$tmp"/*.neap; do
		if "$TRUTH" --expect 'func=in_child allocs=20' "$file" >/dev/null; then
			children=$((children + 1))
			truth "$name, child" --undropped --consistent --forked 0 \
				--expect 'func=in_child allocs=20 bytes=2140 live_blocks=5 live_bytes=535' \
				--expect 'func=in_first allocs=0 live_blocks=0' "$file"
		elif "$TRUTH" --expect 'func=in_last allocs=10' "$file" >/dev/null; then
			lasts=$((lasts + 1))
			truth "$name, last" --undropped --consistent --end exited:0 \
				--expect 'func=in_last allocs=10 bytes=1090 live_blocks=10 live_bytes=1090' \
				--expect 'func=in_first allocs=0 live_blocks=0' "$file"
		else
			firsts=$((firsts + 1))
			truth "$name, first" --undropped --consistent --end exec \
				--expect 'func=in_first allocs=40 bytes=4120 live_blocks=40 live_bytes=4120' \
				--expect 'func=between allocs=7 bytes=791 live_blocks=0' "$file"
		fi
	done
	equal "$name: images" "1 3 1" "$firsts $children $lasts"
}
exec_target

# 16: ways to die; status as a shell would see it, and what the profile has to say about it.
death() {
	local way=$1 want=$2 end=$3 name=16-ways-to-die
	wanted 16 || return 0
	rm -f "$tmp"/*.neap
	record -o "$tmp/%n.%p.neap" -- "$targets/$name" "$way"
	equal "$name $way: exit status" "$want" "$status"
	equal "$name $way: nothing printed by the target" "" "$(cat "$tmp/out")"
	one_file "$tmp/$name.*.neap" || return 0
	truth "$name $way" --source "$sources/$name.c" --undropped --consistent --end "$end" "$file"
	if [ "$way" = return ] || [ "$way" = kill ]; then
		"$NEAP" info --check "$file" >"$tmp/out" 2>&1 || bad "$name $way: info --check" "$(cat "$tmp/out")"
	fi
}
ulimit -c 0
death return 0 exited:0
death exit 0 exited:0
death _exit 0 exited:0
death quick_exit 0 exited:0
death abort 134 signaled:6
death kill 137 signaled:9
death segv 139 signaled:11
death term 143 signaled:15
death pthread_exit 0 exited:0
death fini-exit 0 exited:0
# Every signal that ends a program, and the first and last of those for the program's own use.
for number in 1 2 3 4 5 6 7 8 10 11 12 13 14 15 16 24 25 26 27 29 30 31 34 64; do
	death "signal$number" $((128 + number)) "signaled:$number"
done

# 69: threads allocate while the process exits.
exit_race() {
	local way=$1 name=69-exit-race at_end
	wanted 69 || return 0
	rm -f "$tmp"/*.neap
	record -o "$tmp/%n.%p.neap" -- "$targets/$name" "$way"
	equal "$name $way: exit status" 0 "$status"
	equal "$name $way: nothing printed by the target" "" "$(cat "$tmp/out")"
	one_file "$tmp/$name.*.neap" || return 0
	at_end='allocs=10 bytes=1510 live_blocks=10 live_bytes=1510'
	[ "$way" = _exit ] && at_end='allocs=0'
	truth "$name $way" --source "$sources/$name.c" --undropped --consistent --end exited:0 \
		--expect "func=at_end $at_end" "$file"
}
for way in return exit quick_exit _exit pthread_exit thread; do exit_race $way; done

# 62: a child that cannot reach the recorder; its own child must not take its numbers for good ones.
if wanted 62; then
	rm -f "$tmp"/*.neap
	record --wait-all -o "$tmp/%n.%p.neap" -- "$targets/62-inert-child"
	equal "62-inert-child: exit status" 0 "$status"
	one_file "$tmp/62-inert-child.*.neap" &&
		truth 62-inert-child --source "$sources/62-inert-child.c" --undropped --consistent --forked 0 "$file"
fi

# 63: what is cut of very deep stacks is said, and nothing else is lost.  It took minutes once.
if wanted 63; then
	rm -f "$tmp"/*.neap
	RECORD_SECONDS=20 record -o "$tmp/%n.%p.neap" -- "$targets/63-very-deep"
	equal "63-very-deep: exit status" 0 "$status"
	one_file "$tmp/63-very-deep.*.neap" &&
		truth 63-very-deep --source "$sources/63-very-deep.c" --consistent --end exited:0 "$file"
	"$NEAP" info "$file" >"$tmp/out" 2>&1
	equal "63-very-deep: what was dropped" "stacks cut because they were too deep" \
		"$(sed -n 's/^Dropped: *[0-9,]* //p' "$tmp/out")"
	equal "63-very-deep: nothing else was dropped" 1 "$(grep -c '^Dropped' "$tmp/out")"
fi

# 65: programs that define malloc themselves are recognised before they start.
if wanted 65; then
	for name in 65-own-malloc 65-wrapped-malloc; do
		rm -f "$tmp"/*.neap
		record -o "$tmp/%n.%p.neap" -- "$targets/$name"
		equal "$name: exit status" 0 "$status"
		equal "$name: one message" 1 "$(grep -c "'$targets/$name' defines malloc itself" "$tmp/err")"
		one_file "$tmp/$name.*.neap" || continue
		count=0
		[ "$name" = 65-wrapped-malloc ] && count=100
		truth "$name" --undropped --consistent \
			--expect "func=[total] allocs=$count bytes=$((count * 109))" "$file"
	done
fi

# 73: where a limit leaves no room for the collector's tables, what is missing is said.
limit_target() {
	local title="73-address-space ${1:-}" want got lost
	wanted 73 || return 0
	rm -f "$tmp"/*.neap
	record -o "$tmp/%n.%p.neap" -- "$targets/73-address-space" "$@"
	equal "$title: exit status" 0 "$status"
	want=$(sed -n 's/^TRUTH func=until_full allocs=\([0-9]*\) .*/\1/p' "$tmp/out")
	one_file "$tmp/73-address-space.*.neap" || return 0
	truth "$title" --consistent --end exited:0 \
		--expect 'func=until_full live_blocks=0 live_bytes=0' "$file"
	got=$("$TRUTH" --functions "$file" | sed -n 's/^func=until_full allocs=\([0-9]*\) .*/\1/p')
	lost=$("$NEAP" info "$file" | sed -n 's/,//g; s/^Dropped: *\([0-9]*\) blocks not counted.*/\1/p' |
		awk '{ n += $1 } END { print n + 0 }')
	equal "$title: counted and dropped blocks" "$want" $((got + ${lost:-0}))
}
limit_target
limit_target data

# 67: a daemon is another process, with what it inherited.
if wanted 67; then
	rm -f "$tmp"/*.neap
	record --wait-all -o "$tmp/%n.%p.neap" -- "$targets/67-daemon"
	equal "67-daemon: exit status" 0 "$status"
	equal "67-daemon: number of profiles" 2 "$(find "$tmp" -name '*.neap' | wc -l)"
	for file in "$tmp"/*.neap; do
		if "$TRUTH" --forked 0 "$file" >/dev/null; then
			truth "67-daemon, first process" --undropped --consistent --end exited:0 \
				--expect 'func=in_start allocs=50 bytes=5350 live_blocks=50 live_bytes=5350' "$file"
		else
			truth "67-daemon, the daemon" --undropped --consistent \
				--expect 'func=in_daemon allocs=200 bytes=22200 live_blocks=20 live_bytes=2220' \
				--expect 'func=in_start allocs=0 bytes=0 live_blocks=25 live_bytes=2675' "$file"
		fi
	done
fi

# 77: processes made past libc, and 200 forks while threads are inside malloc.
if wanted 77; then
	rm -f "$tmp"/*.neap
	forks=${FORKS:-200}
	record --wait-all -o "$tmp/%n.%p.neap" -- "$targets/77-raw-processes" "$forks"
	equal "77-raw-processes: exit status" 0 "$status"
	processes=$((forks + 2))
	if [ "$(id -u)" = 0 ]; then processes=$((processes + 1)); fi
	equal "77-raw-processes: number of profiles" $processes "$(find "$tmp" -name '*.neap' | wc -l)"
	for file in "$tmp"/*.neap; do
		if "$TRUTH" --forked 0 "$file" >/dev/null; then
			truth "77-raw-processes, first" --undropped --consistent --end exited:0 \
				--expect 'func=before allocs=30 bytes=5310 live_blocks=30' \
				--expect 'func=in_thread allocs=3000000 live_blocks=0' \
				--expect 'func=between allocs=3 bytes=537 live_blocks=0' "$file"
		else
			truth "77-raw-processes, a child" --undropped --consistent \
				--expect 'func=in_child allocs=20 bytes=3460 live_blocks=10 live_bytes=1730' \
				--expect 'func=before allocs=0 live_blocks=20' "$file"
		fi
	done
fi

# 91: what is inherited goes through several generations.
if wanted 91; then
	rm -f "$tmp"/*.neap
	record --wait-all -o "$tmp/%p.neap" -- "$targets/91-generations"
	equal "91-generations: exit status" 0 "$status"
	equal "91-generations: number of profiles" 4 "$(find "$tmp" -name '*.neap' | wc -l)"
	while read -r generation pid; do
		case $generation in
		1) set -- --forked 0 --expect 'func=oldest allocs=400000 bytes=19200000 live_blocks=400000' \
			--expect 'func=many_sizes allocs=40000 bytes=963820000 live_blocks=400 live_bytes=9618400' ;;
		2) set -- --forked 1 --expect 'func=oldest allocs=0 live_blocks=360000 live_bytes=17280000' \
			--expect 'func=many_sizes allocs=0 live_blocks=300 live_bytes=8713800' \
			--expect 'func=middle allocs=1000 bytes=72000 live_blocks=1000' ;;
		3) set -- --forked 1 --expect 'func=oldest allocs=0 live_blocks=330000 live_bytes=15840000' \
			--expect 'func=many_sizes allocs=0 live_blocks=100 live_bytes=3904600' \
			--expect 'func=middle allocs=0 live_blocks=499 live_bytes=35928' \
			--expect 'func=youngest allocs=101 bytes=15100 live_blocks=101' ;;
		4) set -- --forked 1 --expect 'func=oldest allocs=0 live_blocks=0' \
			--expect 'func=many_sizes allocs=0 live_blocks=0' --expect 'func=middle allocs=0 live_blocks=0' \
			--expect 'func=youngest allocs=0 live_blocks=0' ;;
		esac
		truth "91-generations, generation $generation" --undropped --consistent "$@" "$tmp/$pid.neap"
	done <"$tmp/out"
	equal "91-generations: processes" 4 "$(wc -l <"$tmp/out")"
fi

# 93: nobody of a crowd is sent away.
if wanted 93; then
	rm -f "$tmp"/*.neap
	record --wait-all -o "$tmp/%n.%p.neap" -- "$targets/93-crowd" stop
	equal "93-crowd: exit status" 0 "$status"
	equal "93-crowd: number of profiles" 101 "$(find "$tmp" -name '*.neap' | wc -l)"
	equal "93-crowd: nothing is said" "" "$(cat "$tmp/err")"
	for file in "$tmp"/*.neap; do
		"$TRUTH" --forked 0 "$file" >/dev/null || truth "93-crowd, a child" --undropped --consistent \
			--expect 'func=in_child allocs=20 bytes=2020 live_blocks=20 live_bytes=2020' "$file"
	done
fi

# 81: only root can be another user; the third image needs a path that one may go.
if wanted 81; then
	rm -f "$tmp"/*.neap
	record --wait-all -o "$tmp/%n.%p.neap" -- "$targets/81-other-user"
	if [ "$status" = 77 ]; then
		skip "81-other-user: not run by root"
	else
		equal "81-other-user: exit status" 0 "$status"
		equal "81-other-user: nothing printed" "" "$(cat "$tmp/err" "$tmp/out")"
		images=2
		setpriv --reuid=65534 --clear-groups test -x "$targets/81-other-user" 2>/dev/null && images=3
		equal "81-other-user: number of profiles" $images "$(find "$tmp" -name '*.neap' -user 0 | wc -l)"
		child='func=in_child allocs=20 bytes=3860 live_blocks=10 live_bytes=1930'
		for file in "$tmp"/*.neap; do
			if "$TRUTH" --forked 1 "$file" >/dev/null; then
				truth "81-other-user, child" --undropped --consistent --expect "$child" \
					--expect 'func=before allocs=0 bytes=0 live_blocks=25 live_bytes=4775' "$file"
			elif "$TRUTH" --expect 'func=before allocs=30' "$file" >/dev/null; then
				truth "81-other-user, first" --source "$sources/81-other-user.c" --undropped --consistent --end exited:0 "$file"
			else
				truth "81-other-user, image" --undropped --consistent --expect "$child" "$file"
			fi
		done
	fi
fi

# 94: what is locked, and what limits leave, are as they are without the collector.
locked_target() {
	local name=94-locked
	wanted 94 || return 0
	"$targets/$name" >"$tmp/alone"
	if [ $? = 77 ]; then
		skip "$name: the limit of locked memory is below 8 MiB"
	else
		rm -f "$tmp"/*.neap
		record --children=none -o "$tmp/%n.%p.neap" -- "$targets/$name"
		equal "$name: exit status" 0 "$status"
		equal "$name: calls and what they locked" "$(cat "$tmp/alone")" "$(cat "$tmp/out")"
		one_file "$tmp/$name.*.neap" &&
			truth "$name" --source "$sources/$name.c" --undropped --consistent --end exited:0 "$file"
	fi
	rm -f "$tmp"/*.neap
	# Alone it needs 7.5 MiB.  The shell is another image of the process.
	# shellcheck disable=SC2016 # for that shell
	record -o "$tmp/%n.%p.neap" -- bash -c 'ulimit -v 14336 && exec "$0" tight' "$targets/$name"
	equal "$name tight: exit status" 0 "$status"
	one_file "$tmp/$name.*.neap" &&
		truth "$name tight" --source "$sources/$name.c" --undropped --consistent --end exited:0 "$file"
}
locked_target

# 18: the program opens its plugins in the current directory; their addresses are reused.
cd "$targets" || exit 1
target 18-dlopen-dlclose.c -- --file plugin_one_leak=plug18.inc.c --file plugin_two_leak=plug18.inc.c \
	--callers plugin_one_leak=use,main --callers plugin_two_leak=use,main
if wanted 18; then
	equal "18-dlopen-dlclose: addresses were reused" same-address=1 "$(cat "$tmp/out")"
fi

finish
