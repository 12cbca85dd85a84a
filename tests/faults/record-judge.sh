#!/usr/bin/env bash
# One trial of `neap record -q -o out.neap ./leak`, for serve.c.  leak writes a file "ran",
# loses 77 bytes and ends with 7.  Whatever failed: the program ran to its end and its
# status came through, or it was not started and that was said; a profile that is there
# can be read; if nothing was said, it is whole and exact.
verdict=0
bad() {
	echo "# $*"
	verdict=1
}
said=$(cat "$FAULT_ERR")
case $FAULT_STATUS in
7)
	[ -f ran ] || bad "status 7, but the program did not run"
	;;
1 | 2 | 126 | 127)
	[ -n "$said" ] || bad "status $FAULT_STATUS without a word"
	[ ! -f ran ] || bad "status $FAULT_STATUS, but the program ran"
	;;
*)
	bad "status $FAULT_STATUS"
	;;
esac
# A message for each thing that failed, not one for each time; names are told of by module, with a hint.
kinds=$(sed -e 's/the code of [^:]*:/the code of MODULE:/' -e '/neap symbolize FILE/d' "$FAULT_ERR" | sort -u | grep -c .)
[ "$kinds" -le 2 ] || bad "more than two messages"
shopt -s nullglob
profiles=(*.neap)
[ ${#profiles[@]} -le 1 ] || bad "${profiles[*]}: one too many"
for profile in "${profiles[@]}"; do
	"$PROGRAM" info "$profile" >/dev/null 2>err || bad "$profile cannot be read: $(cat err)"
done
if [ -z "$said" ]; then
	if [ ! -f out.neap ]; then
		bad "nothing was said, and there is no profile"
	elif ! "$PROGRAM" query --strict out.neap 'leaked size=77 | assert count = 1' >/dev/null 2>err; then
		bad "nothing was said, but the profile is not whole: $(cat err)"
	fi
fi
left=(tmp/* tmp/.[!.]*)
[ ${#left[@]} -eq 0 ] || bad "left in TMPDIR: ${left[*]}"
rm -rf ran err tmp ./*.neap
mkdir tmp
[ "$verdict" -eq 0 ] || echo "# $FAULT_NAME failed, number $FAULT_NUMBER; stderr: $said"
exit "$verdict"
