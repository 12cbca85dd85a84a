# A small debuginfod: source-server.pl ROOT LOG PORT_FILE [HANGS].  Each request is a line of the log.
use strict;
use warnings;
use IO::Socket::INET;

my ($root, $log, $port_file, $hangs) = @ARGV;
my $server = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1', ReuseAddr => 1) or die;
open my $port, '>', "$port_file.new" or die;
print $port $server->sockport;
close $port;
rename "$port_file.new", $port_file or die;
while (my $client = $server->accept) {
	my $line = <$client> // '';
	while (my $header = <$client>) { last if $header =~ /^\r?\n/ }
	open my $out, '>>', $log or die;
	print $out $line;
	close $out;
	sleep 600 if $hangs;
	my ($path) = $line =~ m{^GET (/\S+) };
	$path =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ge if $path;
	my $in;
	if ($path && $path !~ /\.\./ && -f "$root$path" && open $in, '<:raw', "$root$path") {
		local $/;
		my $data = <$in>;
		print $client "HTTP/1.1 200 OK\r\nContent-Length: " . length($data) .
			"\r\nConnection: close\r\n\r\n", $data;
	} else {
		print $client "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
	}
	close $client;
}
