#!/usr/bin/env perl
# Tables of neap-import(1) and neap-export(1) from src/exchange/formats.def.
#
#   format-tables.pl FORMATS.DEF PAGE           print the page with its tables made anew
#   format-tables.pl --check FORMATS.DEF PAGE   status 1 if they are not as they should be
#
# A table stands between the lines  .\" begin readers (or writers)  and  .\" end readers.
use strict;
use warnings;

my $is_check = @ARGV && $ARGV[0] eq '--check' ? shift : '';
die "usage: format-tables.pl [--check] FORMATS.DEF PAGE\n" if @ARGV != 2;
my ($def_path, $page_path) = @ARGV;

sub slurp {
	my ($path) = @_;
	open my $in, '<', $path or die "format-tables.pl: $path: $!\n";
	local $/;
	return <$in>;
}

my $def = slurp($def_path);
$def =~ s{/\*.*?\*/}{}gs;
my %tables = (readers => '', writers => '');
while ($def =~ /^FORMAT\(\w+,\s*"([^"]*)",\s*"([^"]*)",\s*"([^"]*)",\s*(\w+)(?:\(\w+\))?,\s*(\w+)/mg) {
	my $entry = ".It Cm $1\n$3, files $2\n";
	$tables{readers} .= $entry if $4 eq 'READS';
	$tables{writers} .= $entry if $5 eq 'WRITES';
}
my $page = slurp($page_path);
my $count = 0;
my $made = $page =~ s{^(\.\\" begin (readers|writers)\n).*?^(\.\\" end \g2\n)}{
	$count++;
	die "format-tables.pl: no format in table '$2'\n" if !$tables{$2};
	"$1.Bl -tag -width gperftools -compact\n$tables{$2}.El\n$3";
}gemsr;
die "format-tables.pl: $page_path has no table\n" if !$count;
if (!$is_check) {
	print $made;
} elsif ($made ne $page) {
	print "$page_path is not as $def_path says; make man-tables writes it anew\n";
	exit 1;
}
