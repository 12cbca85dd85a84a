#!/bin/bash
# The recipe that README.md gives for builds, used on a program of neap's own: it passes as long as
# the peak stays within its budget, fails when it grows, and leaves a table for the merge request.

# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
mkdir "$tmp/work" "$tmp/bin"
ln -s "$NEAP" "$tmp/bin/neap"
cd "$tmp/work" || exit 1
PATH=$tmp/bin:$PATH

# The recipe, as it stands between the lines that begin with "# ci recipe" in README.md.
sed -n '/^    # ci recipe: begin$/,/^    # ci recipe: end$/s/^    //p' "$srcdir_abs/README.md" >recipe.sh
equal "README.md has the recipe" yes "$(grep -q 'neap query' recipe.sh && echo yes)"

# recipe PROGRAM LIMIT BASELINE: runs it; status in $status.
recipe() {
	status=0
	PROGRAM=$1 LIMIT=$2 BASELINE=$3 timeout 120 bash -e recipe.sh >out 2>err || status=$?
}

# neap reads a profile; its heap while it does so is what is checked.
record -o input.neap "$targets/60-service"
equal "record: exit status" 0 "$status"
recipe "$NEAP info input.neap" 64MiB ""
equal "within the budget: status" 0 "$status"
equal "a table for the merge request" yes "$(grep -q '^| \*\*total\*\*\|\*\*total\*\* |' heap.md && echo yes)"

recipe "$NEAP info input.neap" 1KiB ""
equal "over the budget: status" 1 "$status"
equal "it says what it is" yes "$(grep -q '^neap: it is: total .* bytes' err && echo yes)"
equal "it says what is wrong" yes "$(grep -q '^neap: assertion failed: the peak is over 1KiB' err && echo yes)"

# Against the profile of the last release: the same program passes, one that holds more does not.
cp heap.neap release.neap
recipe "$NEAP info input.neap" 64MiB release.neap
equal "no growth: status" 0 "$status"
recipe "$targets/26-peak-between-snapshots" 1GiB release.neap
equal "growth: status" 1 "$status"
equal "it says that it grew" yes "$(grep -q '^neap: assertion failed: the peak grew' err && echo yes)"
finish
