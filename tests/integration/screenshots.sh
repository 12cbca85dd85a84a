#!/bin/bash
# Pictures of what neap export writes, to be looked at: not part of make check.
#
#   screenshots.sh PROFILE [FOLDER]      needs chromium; FOLDER is ./screenshots
#
# Light and dark: the page, a flame graph, one of differences, a timeline.
set -eu
NEAP=${NEAP:-$PWD/neap}
profile=${1:?which profile?}
folder=$(realpath -m "${2:-screenshots}")
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
	echo "SKIP: chromium is not installed"
	exit 77
}
mkdir -p "$folder"

# picture FILE WIDTHxHEIGHT
picture() {
	local scheme flags out
	for scheme in light dark; do
		flags=()
		[ "$scheme" = light ] || flags=(--blink-settings=preferredColorScheme=0)
		out=${1%.*}-$scheme.png
		"$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --virtual-time-budget=2000 \
			--user-data-dir="$folder/.browser" --window-size="${2/x/,}" --screenshot="$out" "${flags[@]}" \
			"file://$1" >/dev/null 2>&1
		[ -s "$out" ] || {
			echo "no picture of $1"
			exit 1
		}
		echo "$out"
	done
}

"$NEAP" export "$profile" peak -o "$folder/report.html"
"$NEAP" export "$profile" 'peak | flame' -o "$folder/flame.svg"
"$NEAP" export "$profile" 'growth in 10%..90% | flame' -o "$folder/diff.svg"
"$NEAP" export "$profile" 'live | timeline' -o "$folder/timeline.svg"
picture "$folder/report.html" 1320x3000
picture "$folder/flame.svg" 1240x900
picture "$folder/diff.svg" 1240x900
picture "$folder/timeline.svg" 1220x380
rm -rf "$folder/.browser"
