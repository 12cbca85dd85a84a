#!/usr/bin/env bash
# Functions that are not used here, and libc's allocator where base/mem must be used.
#
# Freeing what a library returned is fine if the line says so:
#	free(text); /* libc free: realpath allocated it */

# shellcheck source=tests/lint/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_command perl

# shellcheck disable=SC2086 # folders are words
mapfile -t files < <(list_files $product_folders tests/unit tests/stress tests/fuzz -- '*.c' '*.h' '*.def')
need_files banned ${#files[@]}
findings=$(perl - "${files[@]}" <<'PERL'
use strict;
use warnings;

my $everywhere = join '|', qw(strcpy strcat stpcpy strncat sprintf vsprintf gets strtok atoi atol
	atoll atof alloca mktemp tmpnam);
my $allocator = join '|', qw(malloc calloc realloc reallocarray free strdup strndup asprintf
	vasprintf aligned_alloc posix_memalign memalign);

# Comments and literals become blanks, line ends stay.
sub code_only {
	my ($text) = @_;
	$text =~ s{(/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')}
		{ my $m = $1; $m =~ s/[^\n]/ /g; $m }gse;
	return $text;
}

for my $file (@ARGV) {
	open my $in, '<', $file or die "$file: $!\n";
	my $text = do { local $/; <$in> };
	close $in;
	my @raw = split /\n/, $text, -1;
	my @code = split /\n/, code_only($text), -1;
	my $is_ours = $file =~ m{^(?:src|query|tui)/} && $file ne 'src/base/mem.c';
	for my $i (0 .. $#code) {
		my $line = $i + 1;
		print "$file:$line: $1 is not used here\n"
			if $code[$i] =~ /(?<![\w.>])($everywhere)\s*\(/;
		next if !$is_ours || $raw[$i] =~ m{/\* libc free: \S.*\*/};
		print "$file:$line: $1 goes around src/base/mem.h\n"
			if $code[$i] =~ /(?<![\w.>])($allocator)\s*\(/;
	}
}
PERL
)
[ -z "$findings" ] || printf '%s\n' "$findings"
verdict banned "$(printf '%s' "$findings" | grep -c '' || true)" ${#files[@]}
