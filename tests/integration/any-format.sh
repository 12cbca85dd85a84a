#!/bin/bash
# Random queries on random profiles in every format, each read by a parser that nobody here wrote.

# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"

# has TOOL FORMAT
has() {
	command -v "$1" >/dev/null && return
	skip "$2: $1 is not installed"
	return 1
}

# all_read FORMAT COMMAND...: the command takes all files of the format at once.
all_read() {
	local format=$1 said
	shift
	if said=$(find "$tmp/out/$format" -type f -print0 | xargs -0 "$@" 2>&1 >/dev/null); then
		ok "$format: $1 reads all"
	else
		bad "$format: $1 reads all" "$(head -n 5 <<<"$said")"
	fi
}

# some_read FORMAT TEXT COMMAND...: the command takes one file and prints the text; 12 of them, it is slow.
some_read() {
	local format=$1 text=$2 file said
	shift 2
	while IFS= read -r file; do
		said=$("$@" "$file" 2>&1) && [[ $said == *"$text"* ]] || {
			bad "$format: $1 reads $(basename "$file")" "$(head -n 5 <<<"$said")"
			return
		}
	done < <(find "$tmp/out/$format" -type f | sort | awk -v n=12 '
		{ line[NR] = $0 } END { for (i = 1; i <= NR; i += NR / n) print line[int(i)] }')
	ok "$format: $1 reads some"
}

mkdir "$tmp/out"
if ! "$builddir_abs/tests/integration/any-format" "$tmp/out" 12 20 >"$tmp/tallies" 2>"$tmp/err"; then
	bad "every query is written in every format, or refused" "$(cat "$tmp/err")"
	finish
fi
ok "every query is written in every format, or refused"
while read -r format written refused again; do
	echo "# $format: $written written, $refused refused, $again read again by neap"
	if [ "$written" -ge 30 ]; then ok "$format: enough of them"; else bad "$format: enough of them" "$written"; fi
done <"$tmp/tallies"
for format in folded pprof speedscope massif; do
	equal "$format: read again by neap" 1 "$(awk -v f=$format '$1 == f { print ($4 >= 20) }' "$tmp/tallies")"
done

for format in svg html; do
	if has xmllint $format; then all_read $format xmllint --noout; fi
done
if has dot dot; then all_read dot dot -Tcanon; fi
if has callgrind_annotate callgrind; then some_read callgrind "PROGRAM TOTALS" callgrind_annotate; fi
if has ms_print massif; then some_read massif "Number of snapshots" ms_print; fi
if has protoc pprof; then
	some_read pprof "1 {" sh -c 'gunzip -c <"$0" | protoc --decode_raw'
fi
all_read table iconv -f UTF-8 -t UTF-8
all_read markdown iconv -f UTF-8 -t UTF-8
all_read folded iconv -f UTF-8 -t UTF-8
if has python3 "json, jsonl, csv, tsv, speedscope, folded"; then
	cat >"$tmp/parse.py" <<'PY'
import csv, json, sys
csv.field_size_limit(1 << 24)
for path in sys.argv[1:]:
    kind = path.rsplit(".", 1)[1]
    with open(path, encoding="utf-8", newline="") as f:
        try:
            if kind in ("json", "speedscope"):
                json.load(f)
            elif kind == "jsonl":
                for line in f:
                    assert isinstance(json.loads(line), dict)
            elif kind == "folded":
                for line in f:
                    int(line.rstrip("\n").rsplit(" ", 1)[1])
            else:
                rows = list(csv.reader(f)) if kind == "csv" else [l.rstrip("\n").split("\t") for l in f]
                assert rows and len({len(r) for r in rows}) == 1, "rows of different lengths"
        except Exception as e:
            sys.exit("%s: %s" % (path, e))
PY
	for format in json jsonl csv tsv speedscope folded; do all_read $format python3 "$tmp/parse.py"; done
fi
finish
