#!/bin/bash
# Pages and drawings in a real browser without a window: they are drawn, load nothing, and their scripts zoom, search, sort and
# tell values; names that look like markup stay names.
#
#   export-browser.sh [PART...]   PART: flame page hostile differences
#   KEEP=1                        keeps the screenshots too, to look at

# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"

browser=
for name in chromium chromium-browser google-chrome; do
	[ -n "$browser" ] || browser=$(command -v $name)
done
if [ -z "$browser" ] || ! command -v jq >/dev/null; then
	echo "SKIP: no browser without a window (Debian: chromium), or no jq"
	exit 77
fi
parts=${*:-flame page hostile differences}
cd "$tmp" || exit 1
if ! "$builddir_abs/tests/golden/make_profiles" "$tmp"; then
	echo "not ok - make_profiles"
	exit 1
fi

run_browser() { # ARG...
	HOME=$tmp timeout 120 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --no-first-run \
		--host-resolver-rules='MAP * ~NOTFOUND' --user-data-dir="$tmp/browser" "$@" 2>"$tmp/browser-says"
}

# in_browser FILE JS: what the script's last value is, as JSON, after the page's own scripts have run.  `find` gives all
# elements of a selector.
in_browser() {
	local copy=copy.${1##*.} end="</body>"
	[[ $1 == *.svg ]] && end="</svg>"
	# The last end tag of the file.
	end=$end js=$2 awk '
		BEGIN { end = ENVIRON["end"]; js = ENVIRON["js"] }
		{ line[NR] = $0; if (index($0, end)) at = NR }
		END {
			for (i = 1; i <= NR; i++) {
				if (i == at) {
					print "<script>/*<![CDATA[*/ (function () {"
					print "function find(s) { return Array.prototype.slice.call(document.querySelectorAll(s)); }"
					print "function run() { " js " }"
					print "var said; try { said = run(); } catch (e) { said = \"failed: \" + e; }"
					print "var text = btoa(unescape(encodeURIComponent(JSON.stringify(said))));"
					print "document.documentElement.setAttribute(\"data-said\", text); })(); /*]]>*/</script>"
				}
				print line[i]
			}
		}' "$1" >"$copy"
	run_browser --dump-dom "file://$tmp/$copy" >dom
	grep -o 'data-said="[^"]*"' dom | head -n 1 | sed 's/^data-said="//; s/"$//' | base64 -d
	echo
}

# drawn FILE WIDTH HEIGHT: more than one colour is on the screen.
drawn() {
	run_browser --window-size="$2,$3" --screenshot="$tmp/$1.png" "file://$tmp/$1" >/dev/null
	if [ "$(wc -c <"$1.png" 2>/dev/null || echo 0)" -gt 5000 ]; then
		ok "$1 is drawn"
	else
		bad "$1 is drawn" "$(tail -n 3 "$tmp/browser-says")"
	fi
}

# What the tests ask about a frame: its name, place, and whether it is there.
frames='var all = find("g.f").map(function (g) { return { name: g.querySelector("title").textContent.split("\n")[0],
	x: +g.querySelector("rect").getAttribute("x"), w: +g.querySelector("rect").getAttribute("width"),
	hidden: g.classList.contains("hidden"), hit: g.classList.contains("hit"), g: g }; });
function click(node) { node.dispatchEvent(new MouseEvent("click", { bubbles: true })); }
function press(k) { document.dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true, cancelable: true })); }
function look() { return find("g.f").map(function (g) { var r = g.querySelector("rect"); return [g.classList.contains("hidden"),
	r.getAttribute("x"), r.getAttribute("width")]; }); }'

# no_network FILE: nothing was asked for besides the file.
no_network() {
	equal "$1 asks for nothing" '{"resources":0,"outside":[]}' "$(in_browser "$1" '
		return { resources: performance.getEntriesByType("resource").length,
			outside: find("[src],[href]").map(function (n) { return n.getAttribute("src") || n.getAttribute("href"); })
				.filter(function (s) { return s[0] !== "#"; }) };')"
}

export_to() { # OUT ARG...
	local out=$1 said
	shift
	if ! said=$("$NEAP" export "$@" -o "$out" 2>&1); then
		bad "neap export $* -o $out" "$said"
		return 1
	fi
}

# bytes QUERY
bytes() {
	"$NEAP" query json.neap "$1 | sum | select total | as tsv" 2>/dev/null | tail -n 1
}

flame() {
	local kind want
	for kind in flame "flame inverted"; do
		export_to flame.svg json.neap "peak | $kind" || return
		drawn flame.svg 1240 500
		no_network flame.svg
		# The widest frame that has others around it.
		in_browser flame.svg "$frames"'
			var before = look(), whole = all[0].w, to = all.filter(function (f) { return f.w < whole * 0.9; })
				.sort(function (a, b) { return b.w - a.w || a.x - b.x; })[0];
			click(to.g.querySelector("rect"));
			var r = to.g.querySelector("rect"), zoomed = look();
			var isInside = zoomed.every(function (z) { return z[0] || (+z[1] >= -0.1 && +z[1] + +z[2] <= whole + 0.2); });
			var hidden = zoomed.filter(function (z) { return z[0]; }).length;
			var reset = !find(".flame-reset")[0].classList.contains("hidden");
			click(find(".flame-reset")[0]);
			var same = JSON.stringify(look().map(function (z) { return [z[0], +z[1], Math.max(+z[2], 0.1)]; }))
				=== JSON.stringify(before.map(function (z) { return [z[0], +z[1], Math.max(+z[2], 0.1)]; }));
			click(to.g.querySelector("rect"));
			press("Escape");
			return { fills: Math.abs(+r.getAttribute("width") - whole) < 0.1 || "after Escape",
				inside: isInside, hides: hidden > 0, reset: reset, back: same,
				escape: find("g.f.hidden").length === 0 };' >said
		equal "zoom, $kind" '{"fills":true,"inside":true,"hides":true,"reset":true,"back":true,"escape":true}' \
			"$(sed 's/"fills":"after Escape"/"fills":true/' said)"
		# The share of a search is that of the query, frames within frames counted once.
		in_browser flame.svg "$frames"'
			window.prompt = function () { return "parse_(value|object)"; };
			press("/");
			var hits = find("g.f.hit").length, text = find(".flame-match")[0].textContent;
			press("Escape");
			return [hits > 0, /[0-9.]+ %/.exec(text)[0], find("g.f.hit").length];' >said
		want=$(awk -v a="$(bytes 'peak func~/parse_(value|object)/')" -v b="$(bytes peak)" 'BEGIN { printf("%.1f %%", 100 * a / b) }')
		equal "search, $kind" "[true,\"$want\",0]" "$(cat said)"
		# A regular expression that is none is taken as a text.
		equal "search for (, $kind" true "$(in_browser flame.svg "$frames"'
			window.prompt = function () { return "("; };
			press("/");
			return /found: [0-9]+ frames?/.test(find(".flame-match")[0].textContent);')"
		# Where the mouse is: the title.
		equal "details, $kind" true "$(in_browser flame.svg "$frames"'
			all[1].g.querySelector("rect").dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
			return find(".flame-details")[0].textContent.indexOf(all[1].name) === 0;')"
	done
}

page() {
	export_to report.html json.neap || return
	drawn report.html 1200 3000
	no_network report.html
	equal "four figures, as the report has them" "$(for pop in peak leaked allocated temporary; do
		"$NEAP" query json.neap "$pop | sum" 2>/dev/null | sed -n "s/^  total  *\([0-9.]* [KMG]*i*B\).*/$pop \1/p"
	done)" "$(in_browser report.html 'return find(".fact").map(function (f) {
		return f.querySelector(".name").textContent + " " + f.querySelector("b").textContent; });' | jq -r '.[]')"
	in_browser report.html '
		var table = find("table.sorts")[0], head = table.tHead.rows[0].cells, out = [];
		function column(i) { return Array.prototype.map.call(table.tBodies[0].rows, function (r) {
			return r.classList.contains("other") ? null : +r.cells[i].getAttribute("data-n"); }).filter(function (v) { return v !== null; }); }
		var i = Array.prototype.findIndex.call(head, function (c) { return c.textContent === "count"; });
		function isSorted(v, sign) { return v.every(function (x, k) { return !k || sign * (x - v[k - 1]) >= 0; }); }
		head[i].click();
		out.push(isSorted(column(i), -1));
		head[i].click();
		out.push(isSorted(column(i), 1), column(i).length > 1);
		return out;' >said
	equal "a click on a head sorts, another the other way" "[true,true,true]" "$(cat said)"
	equal "search in a page" true "$(in_browser report.html '
		var input = find("input.flame-search")[0];
		input.value = "parse";
		input.dispatchEvent(new Event("input", { bubbles: true }));
		return find("g.f.hit").length > 0 && /found: /.test(find(".flame-match")[0].textContent);')"
	# Over the middle of the chart stands what was live there.
	equal "the chart tells values" true "$(in_browser report.html '
		var svg = find("svg.chart")[0], box = svg.getBoundingClientRect();
		svg.dispatchEvent(new MouseEvent("mousemove", { bubbles: true, clientX: box.left + box.width / 2, clientY: box.top + 20 }));
		return /^[0-9.]+ s: [0-9.]+ [KMG]?i?B$/.test(find(".chart-says")[0].textContent);')"
	equal "the chart tells what lies under the pointer" true "$(in_browser report.html '
		var svg = find("svg.chart")[0], box = svg.getBoundingClientRect();
		var at = box.height * (+svg.getAttribute("data-bottom") - 2) / svg.viewBox.baseVal.height;
		svg.dispatchEvent(new MouseEvent("mousemove", {clientX: box.left + box.width * 0.9, clientY: box.top + at, bubbles: true}));
		return /^[0-9.]+ s: .*[a-z_].* [0-9.]+ [KMG]?i?B of [0-9.]+ [KMG]?i?B$/.test(find(".chart-says")[0].textContent);')"
	equal "the chart's peak is the exact one" \
		"peak $("$NEAP" query json.neap 'peak | sum' 2>/dev/null | sed -n 's/^  total  *\([0-9.]* [KMG]*i*B\).*/\1/p') at $(
			"$NEAP" query json.neap 'peak | sum' 2>/dev/null | sed -n 's/^peak at \([0-9.]* s\).*/\1/p')" \
		"$(in_browser report.html 'return find("svg.chart .peak text")[0].textContent;' | jq -r .)"
	export_to time.svg json.neap 'live | timeline' || return
	drawn time.svg 1240 400
	no_network time.svg
}

# Names that would be markup, script, style or comment if they were not escaped.
hostile() {
	local names
	cat >evil.folded <<'EVIL'
</title><script>window.hacked = 1</script>;]]></style><img src=x onerror="window.hacked=1"> 3000
</text></g></svg><svg onload="window.hacked=1">;'"&<!-- --> &amp; &#60;b&#62; ]]>;javascript:window.hacked=1 2000
${window.hacked=1};*/ window.hacked = 1; //;\u003cscript\u003ewindow.hacked=1\u003c/script\u003e 1000
EVIL
	names=$(sed 's/ [0-9]*$//' evil.folded | tr ';' '\n' | sed 's/^ *//' | sort)
	"$NEAP" import --format folded -o evil.neap evil.folded 2>/dev/null
	export_to evil.svg evil.neap 'live | flame' && export_to evil.html evil.neap || return
	for file in evil.svg evil.html; do
		equal "$file: names stay names" "$names" "$(in_browser "$file" '
			return find("g.f title").map(function (t) { return t.textContent.split("\n")[0]; }).slice(1);' | jq -r '.[]' | sort)"
		equal "$file: no code ran, no element came in" "[null,0,0]" \
			"$(in_browser "$file" 'return [window.hacked === undefined ? null : window.hacked, find("img").length, find("[onload],[onerror]").length];')"
	done
	equal "evil.html: in the table too" "" "$(comm -23 <(tail -n +1 <<<"$names" | grep -E 'javascript|img|u003c' | sort) <(
		in_browser evil.html 'return find("td").map(function (t) { return t.textContent; });' | jq -r '.[]' | sort -u))"
}

# Frames that became more are red, those that became less are blue.
differences() {
	export_to diff.svg forked.neap json.neap 'diff live | flame' || return
	drawn diff.svg 1240 500
	in_browser diff.svg '
		function rgb(g) { return getComputedStyle(g.querySelector("rect")).fill.match(/[0-9]+/g).map(Number); }
		var more = find("g.f.more2, g.f.more3, g.f.more4").map(rgb), less = find("g.f.less2, g.f.less3, g.f.less4").map(rgb);
		return [more.length > 0 && more.every(function (c) { return c[0] > c[2]; }),
			less.length > 0 && less.every(function (c) { return c[2] > c[0]; })];' >said
	equal "more is red, less is blue" "[true,true]" "$(cat said)"
	export_to diff.html forked.neap json.neap 'diff live' || return
	drawn diff.html 1200 2000
	no_network diff.html
}

for part in $parts; do
	"$part"
done
finish
