#!/usr/bin/env bash
# Source asks the servers of DEBUGINFOD_URLS for a file that is not here, says so, and can be
# stopped; without them nobody is asked, and neither is for what only stands beside a row.

# shellcheck source=tests/tui/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source_dir=${srcdir_abs:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
terminal_begin fetch
if ! command -v perl >/dev/null; then
	echo "SKIP: perl plays the server"
	exit 77
fi
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$folder"' EXIT
unset DEBUGINFOD_URLS
export DEBUGINFOD_TIMEOUT=90

serve() { # NAME [HANGS]
	: >"$1.log"
	perl "$source_dir/tests/tui/source-server.pl" "$folder/www" "$1.log" "$1.port" "${2:-0}" &
	server=$!
	local i
	for ((i = 0; i < 400; i++)); do
		[ -s "$1.port" ] && break
		sleep 0.05
	done
	export DEBUGINFOD_URLS
	DEBUGINFOD_URLS=http://127.0.0.1:$(cat "$1.port")
}
end_server() {
	kill "$server"
	wait "$server" 2>/dev/null
	server=
	unset DEBUGINFOD_URLS
}
ask() { # NAME: plays the lines of stdin, with nothing fetched before
	DEBUGINFOD_CACHE_PATH=$folder/cache-$1 play "$1"
}

path=/home/user/demo/src/json/parser.hpp
build_id=$("$build_dir/neap" info --json json.neap | grep -o '"build_id": *"[0-9a-f]*"' | head -n 1 | grep -o '[0-9a-f]\{40\}')
mkdir -p "www/buildid/$build_id/source${path%/*}"
for i in {1..240}; do echo "	// the server's line $i"; done >"www/buildid/$build_id/source$path"
open='/parse_object\x0da'

# Where there is no library, that is said.
serve good
ask library <<PLAY
bytes $open
until LINE
screen library.screen
PLAY
if grep -q 'libdebuginfod.so.1, which is not here' library.screen; then
	echo "SKIP: libdebuginfod.so.1 is not here"
	exit 77
fi
grep -q "the server's line 1" library.screen || fail "the source is not the server's"
grep -q "GET /buildid/$build_id/source$path " good.log || fail "the server was not asked for it"
: >good.log
ask details <<'PLAY'
bytes jjjjjjjjjjjj
until parser.hpp
PLAY
[ ! -s good.log ] || fail "the server was asked for what stands beside a row: $(cat good.log)"
(
	unset DEBUGINFOD_URLS
	ask nobody <<-PLAY
		bytes $open
		until not found here
	PLAY
	exit "$failed"
) || fail "nobody"
[ ! -s good.log ] || fail "a server was asked that nobody named"
end_server

# A server that hangs: Esc, Ctrl-C, and patience.
serve hanging 1
ask esc <<PLAY
bytes $open
meanwhile until asking debuginfod for parser.hpp
meanwhile bytes \e
until stopped: parser.hpp was not fetched
until not found here
bytes q
until calls from the start down
PLAY
ask ctrl-c <<PLAY
bytes $open
meanwhile until Esc stops it
meanwhile bytes \x03
until stopped: parser.hpp was not fetched
PLAY
ask patience <<PLAY
bytes $open
meanwhile until asking debuginfod for parser.hpp
until debuginfod sent nothing for 5 s
until not found here
PLAY
end_server
echo "$count plays, $failed failed"
[ "$failed" = 0 ]
