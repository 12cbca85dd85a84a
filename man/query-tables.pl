#!/usr/bin/env perl
# Tables of neap-query(7) from query/fields.def.
#
#   query-tables.pl FIELDS.DEF PAGE           print the page with its tables made anew
#   query-tables.pl --check FIELDS.DEF PAGE   status 1, and the difference, if they are not as they should be
#
# A table stands between the lines  .\" begin NAME  and  .\" end NAME.
use strict;
use warnings;

my $is_check = @ARGV && $ARGV[0] eq '--check' ? shift : '';
die "usage: query-tables.pl [--check] FIELDS.DEF PAGE\n" if @ARGV != 2;
my ($def_path, $page_path) = @ARGV;

sub slurp {
	my ($path) = @_;
	open my $in, '<', $path or die "query-tables.pl: $path: $!\n";
	local $/;
	return <$in>;
}

# Entries of one macro: lists of arguments, quotes removed.
sub entries {
	my ($text, $macro) = @_;
	my @found;
	while ($text =~ /^$macro\(((?:"(?:\\.|[^"\\])*"|[^()"]|\([^()]*\))*)\)/mg) {
		my $inside = $1;
		my @arguments;
		push @arguments, defined $1 ? $1 : $2
			while $inside =~ /\G\s*(?:"((?:\\.|[^"\\])*)"|([^,"]+?))\s*(?:,|$)/g;
		push @found, \@arguments;
	}
	return @found;
}

sub escape {
	my ($text) = @_;
	$text =~ s/\\/\\e/g;
	$text =~ s/^([.'])/\\&$1/;
	return $text;
}

sub table {
	my (@rows) = @_;
	die "query-tables.pl: an empty table\n" if !@rows;
	my $width = 0;
	for (@rows) { $width = length $_->[0] if length $_->[0] > $width }
	my $out = '.Bl -tag -width ' . ('n' x $width) . " -compact\n";
	$out .= ".It Cm $_->[0]\n" . escape($_->[1]) . "\n" for @rows;
	return $out . ".El\n";
}

my $def = slurp($def_path);
$def =~ s{/\*.*?\*/}{}gs;
my @fields = entries($def, 'FIELD');
my @units = entries($def, 'UNIT');
my %unit_meaning = (BYTES => 'bytes', NS => 'ns', PERCENT => 'percent');
my %tables = (
	frames => table(map { [$_->[1], $_->[4]] } grep { $_->[2] eq 'FRAME' } @fields),
	blocks => table(map { [$_->[1], $_->[4]] } grep { $_->[2] eq 'BLOCK' } @fields),
	populations => table(map { [$_->[1] . ($_->[2] =~ /^IN/ ? ' in' : $_->[2] eq 'AT' ? ' at' : ''),
		$_->[3] . ($_->[2] eq 'IN_NEEDED' ? '; the window is needed' : '')] } entries($def, 'POPULATION')),
	columns => table(map { [$_->[1], $_->[3]] } entries($def, 'COLUMN')),
	formats => table(map { [$_->[1], $_->[3]] } entries($def, 'FORMAT')),
	stages => table(map { [$_->[1], $_->[2]] } entries($def, 'STAGE')),
	views => table(map { [$_->[1], $_->[2]] } entries($def, 'VIEW')),
	quantifiers => table(map { [$_->[1], $_->[2]] } entries($def, 'QUANTIFIER')),
	keys => table(map { [$_->[1], $_->[3]] } entries($def, 'KEY')),
	units => table(map { my $factor = $_->[2]; my $unit = $unit_meaning{$_->[1]};
		[$_->[0], $unit eq 'percent' ? 'parts of a hundred'
			: $factor =~ /^1ll << (\d+)$/ ? "2^$1 $unit"
			: $factor =~ /^(\d+)0{9}$/ && $unit eq 'ns' ? ($1 == 1 ? 'seconds' : "$1 seconds")
			: $factor == 1 ? ($unit eq 'bytes' ? 'bytes' : 'nanoseconds')
			: "$factor $unit"] } @units),
);

my $page = slurp($page_path);
my %seen;
my $made = $page =~ s{^(\.\\" begin (\w+)\n).*?^(\.\\" end \g2\n)}{
	die "query-tables.pl: no table is called '$2'\n" if !$tables{$2};
	$seen{$2} = 1;
	$1 . $tables{$2} . $3;
}gemsr;
for my $name (sort keys %tables) {
	die "query-tables.pl: $page_path has no table '$name'\n" if !$seen{$name};
}
if (!$is_check) {
	print $made;
} elsif ($made ne $page) {
	my @old = split /\n/, $page;
	my %is_old = map { $_ => 1 } @old;
	my %is_new = map { $_ => 1 } split /\n/, $made;
	print "- $_\n" for grep { !$is_new{$_} } @old;
	print "+ $_\n" for grep { !$is_old{$_} } split /\n/, $made;
	print "$page_path is not as query/fields.def says; make man-tables writes it anew\n";
	exit 1;
}
