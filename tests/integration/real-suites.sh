# shellcheck shell=bash
# Long workloads of real programs, for real-programs.sh: what they answer must be the same whether they are
# recorded or not, and every profile must be whole.
#
# shellcheck disable=SC2154 # variables of lib.sh and real-programs.sh

# suite NAME FUNCTION: runs FUNCTION twice, in fresh directories: natively with under= (nothing), then with
# under=(neap record ...).  What it prints, and its status, must be the same.
under=()
suite() {
	local name=$1 function=$2 native recorded f broken=0 count=0
	rm -rf "$tmp/native" "$tmp/recorded" "$tmp/profiles"
	mkdir -p "$tmp/native" "$tmp/recorded" "$tmp/profiles"
	chmod 755 "$tmp"
	native=0
	under=()
	(cd "$tmp/native" && "$function") >"$tmp/want" 2>&1 </dev/null || native=$?
	if [ "$native" = 77 ]; then
		skip "$name: $(tail -1 "$tmp/want")"
		return
	fi
	under=("$NEAP" record -q --wait-all -o "$tmp/profiles/%n.%p.neap" --)
	recorded=0
	(cd "$tmp/recorded" && "$function") >"$tmp/got" 2>&1 </dev/null || recorded=$?
	equal "$name: exit status" "$native" "$recorded"
	if [ -s "$tmp/want" ] && cmp -s "$tmp/want" "$tmp/got"; then
		ok "$name: the same answers ($(wc -l <"$tmp/want") lines)"
	else
		bad "$name: the same answers (- native, + recorded)" "$(diff -U1 "$tmp/want" "$tmp/got" | head -20)"
	fi
	while IFS= read -r f; do
		count=$((count + 1))
		"$NEAP" info --check "$f" >"$tmp/check" 2>&1 || broken=$((broken + 1))
	done < <(find "$tmp/profiles" -name '*.neap' | sort | head -200)
	if [ "$count" -gt 0 ] && [ "$broken" = 0 ]; then
		ok "$name: $count profiles are whole"
	else
		bad "$name: profiles are whole" "$broken of $count are not" "$(head -3 "$tmp/check")"
	fi
}

# need PROGRAM...: ends a suite's function that cannot run.
need() {
	local p
	for p in "$@"; do
		if ! command -v "$p" >/dev/null; then
			echo "$p is not installed"
			exit 77
		fi
	done
}
# wait_until SECONDS COMMAND...
wait_until() {
	local tries=$(($1 * 10))
	shift
	while ! "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.1
	done
}

run_sqlite3() {
	need sqlite3
	cat >in.sql <<-'SQL'
		PRAGMA journal_mode = WAL;
		CREATE TABLE a(x INTEGER PRIMARY KEY, y TEXT, z REAL);
		CREATE INDEX by_y ON a(y);
		BEGIN;
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
			INSERT INTO a SELECT i, printf('%08d', i * 7919 % 100003), i / 7.0 FROM n;
		COMMIT;
		CREATE VIRTUAL TABLE f USING fts5(t);
		INSERT INTO f SELECT 'word' || (x % 97) || ' text' || (x % 89) FROM a WHERE x < 8000;
		SELECT count(*), sum(z) FROM a JOIN (SELECT y FROM a WHERE x % 5 = 0) b USING (y);
		SELECT count(*) FROM f WHERE f MATCH 'word7 OR text8';
		SELECT y, sum(z) OVER (ORDER BY y ROWS 3 PRECEDING) FROM a LIMIT 5 OFFSET 30000;
		SELECT json_group_array(json_object('k', x)) FROM a WHERE x < 20;
		SAVEPOINT s; DELETE FROM a WHERE x % 3 = 0; ROLLBACK TO s; RELEASE s;
		DELETE FROM a WHERE x % 2 = 0; VACUUM; PRAGMA integrity_check;
		SELECT count(*), min(y), max(y), total(z) FROM a;
	SQL
	"${under[@]}" sqlite3 -batch file.db <in.sql
	sqlite3 file.db .dump | md5sum
}

run_python3() {
	need /usr/bin/python3
	/usr/bin/python3 -c 'import test.test_json' 2>/dev/null || {
		echo "the tests of python3 are not installed"
		exit 77
	}
	local modules="test_json test_re test_list test_dict test_set test_tuple test_int test_float test_bytes test_bisect
		test_heapq test_collections test_itertools test_functools test_deque test_array test_struct test_zlib
		test_gzip test_bz2 test_lzma test_hashlib test_pickle test_copy test_datetime test_fractions test_math
		test_random test_statistics test_threading test_thread test_queue test_os test_signal
		test_generators test_exceptions test_gc test_weakref test_mmap test_ctypes test_select
		test_fork1 test_posix test_atexit test_faulthandler"
	# shellcheck disable=SC2086 # words
	"${under[@]}" /usr/bin/python3 -m test -v --timeout 300 $modules >log 2>&1
	echo "status $?"
	# Each test and how it ended; times and the order of interleaved lines are not compared.
	sed -n 's/^\(test[A-Za-z0-9_]* ([^)]*)\).* \.\.\. \(ok\|FAIL\|ERROR\|skipped.*\|expected failure\)$/\1 \2/p' log |
		sort | uniq -c
	grep -E '^(Total tests|Result|[0-9]+ tests? (failed|OK|skipped))' log | sed 's/, run=.*//'
}

run_perl() {
	need perl
	"${under[@]}" perl -MPod::Text -MDigest::MD5=md5_hex -MStorable=dclone -e '
		my $n = 0;
		for my $f (sort glob "/usr/share/perl/5.*/pod/*.pod /usr/share/perl/5.*/*.pm /usr/share/perl/5.*/*/*.pm") {
			last if $n++ > 200;
			my $out; my $p = Pod::Text->new; $p->output_string(\$out); $p->parse_file($f);
			print md5_hex($out // ""), " $f\n";
		}
		my %h; push @{$h{$_ % 997}}, "v$_" x ($_ % 9) for 1 .. 60000;
		my $copy = dclone(\%h);
		my $s = join ",", map { "$_=" . join "", @{$copy->{$_}} } sort { $a <=> $b } keys %$copy;
		$s =~ s/v(\d)/<$1>/g; print md5_hex($s), "\n";
		for my $i (1 .. 20) { my $pid = fork; if (!$pid) { my @x = (1 .. 1000 * $i); exit($#x % 7); } waitpid $pid, 0; print $? >> 8, " "; }
		print "\n"; eval { die { a => [1 .. 1000] } }; print scalar @{$@->{a}}, "\n";'
	"${under[@]}" perl -MTest::More -e 'plan tests => 300; ok(1, "test $_") for 1 .. 299; is_deeply({ a => [1 .. 500] }, { a => [1 .. 500] })'
}

run_redis() {
	need redis-server redis-cli redis-benchmark
	local pid status=0 cli=(redis-cli -s "$PWD/socket")
	"${under[@]}" redis-server --port 0 --unixsocket "$PWD/socket" --dir "$PWD" --save '' --appendonly no \
		--activedefrag no >log 2>&1 &
	pid=$!
	wait_until 60 "${cli[@]}" ping || exit 1
	redis-benchmark -s "$PWD/socket" -n 5000 -c 20 -q -r 1000 -t set,get,lpush,sadd,zadd,hset,mset >bench 2>&1
	grep -c 'requests per second' bench
	"${cli[@]}" flushall
	awk 'BEGIN { srand(1); for (i = 0; i < 20000; i++) { k = i * 7919 % 3001
		print "SET s" k " " i; print "RPUSH l" k % 97 " v" i; print "ZADD z" k % 53 " " i " m" k
		print "HSET h" k % 211 " f" i % 40 " " i; if (i % 11 == 0) print "DEL l" k % 89 } }' |
		"${cli[@]}" >answers 2>&1
	md5sum <answers
	"${cli[@]}" dbsize
	"${cli[@]}" eval "local n = 0 for i = 0, 500 do n = n + redis.call('llen', 'l' .. i) end return n" 0
	"${cli[@]}" bgsave
	wait_until 60 test -e dump.rdb
	wait_until 60 sh -c "redis-cli -s '$PWD/socket' info persistence | grep -q 'rdb_bgsave_in_progress:0'"
	"${cli[@]}" info persistence | grep -E 'rdb_last_bgsave_status'
	"${cli[@]}" shutdown nosave
	wait $pid || status=$?
	echo "status $status"
}

run_nginx() {
	need nginx ab
	local pid status=0 port=$((20000 + $$ % 20000))
	mkdir -p www logs
	seq 3000 >www/index.html
	cat >nginx.conf <<-CONF
		daemon off; worker_processes 2; pid $PWD/pid; error_log $PWD/logs/error.log;
		$([ "$(id -u)" = 0 ] && echo 'user www-data;')
		events { worker_connections 128; }
		http { access_log off; gzip on; gzip_min_length 10; client_body_temp_path $PWD/b;
			proxy_temp_path $PWD/p; fastcgi_temp_path $PWD/f; uwsgi_temp_path $PWD/u; scgi_temp_path $PWD/s;
			server { listen 127.0.0.1:$port; root $PWD/www; } }
	CONF
	chmod -R a+rX .
	"${under[@]}" nginx -c "$PWD/nginx.conf" -p "$PWD" >log 2>&1 &
	pid=$!
	wait_until 60 ab -n 1 "http://127.0.0.1:$port/" || exit 1
	ab -n 3000 -c 16 "http://127.0.0.1:$port/" 2>&1 | grep -E '^(Complete|Failed|Non-2xx|HTML)'
	ab -k -n 3000 -c 8 -H 'Accept-Encoding: gzip' "http://127.0.0.1:$port/" 2>&1 | grep -E '^(Complete|Failed|Non-2xx)'
	kill -HUP "$(cat pid)"
	sleep 0.5
	ab -n 200 "http://127.0.0.1:$port/none" 2>&1 | grep -E '^(Complete|Failed|Non-2xx)'
	kill -QUIT "$(cat pid)"
	wait $pid || status=$?
	echo "status $status"
	grep -c -E 'exited on signal|alert' logs/error.log
	cat log
}

# As another user where root runs this, since it refuses root.
run_postgres() {
	local bin pid status=0 as=()
	bin=$(find /usr/lib/postgresql -name pg_ctl -printf '%h\n' 2>/dev/null | sort | tail -1)
	[ -n "$bin" ] || {
		echo "postgres is not installed"
		exit 77
	}
	mkdir data run
	if [ "$(id -u)" = 0 ]; then
		need setpriv
		as=(setpriv --reuid=postgres --regid=postgres --clear-groups)
		chown postgres data run
	fi
	"${as[@]}" "$bin/initdb" -D "$PWD/data" -A trust -U postgres >log 2>&1 || exit 1
	"${under[@]}" "${as[@]}" "$bin/postgres" -D "$PWD/data" -k "$PWD/run" -c listen_addresses= -c fsync=off >log 2>&1 &
	pid=$!
	local psql=("$bin/psql" -h "$PWD/run" -U postgres -At)
	wait_until 60 "${psql[@]}" -c 'select 1' || exit 1
	"$bin/pgbench" -h "$PWD/run" -U postgres -i -s 1 -q postgres >bench 2>&1
	"$bin/pgbench" -h "$PWD/run" -U postgres -c 4 -t 250 -n -M prepared --random-seed=1 postgres >bench 2>&1
	grep -E '^number of (transactions actually|failed)' bench | head -1
	"${psql[@]}" -c "select count(*) from pgbench_history; select sum(abalance) = (select sum(delta) from pgbench_history) from pgbench_accounts"
	"${psql[@]}" -c "create table t as select i, md5(i::text) m from generate_series(1, 60000) i; create index on t(m);
		select md5(string_agg(m, '' order by m)) from t;
		select count(*) from t a join t b on a.m = b.m where a.i % 7 = 0; vacuum analyze t;
		select jsonb_agg(i) from t where i < 10; select count(*) from t where m ~ '^a[0-9]+b'"
	kill -INT "$("${as[@]}" head -1 data/postmaster.pid)"
	wait $pid || status=$?
	echo "status $status"
	grep -E 'PANIC|terminated by signal' log
	return 0
}

run_git() {
	need git
	export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a \
		GIT_COMMITTER_EMAIL=a@example.org GIT_AUTHOR_DATE=2001-01-01T00:00:00Z GIT_COMMITTER_DATE=2001-01-01T00:00:00Z
	awk 'BEGIN { print "reset refs/heads/trunk"; for (i = 1; i <= 1500; i++) {
		print "commit refs/heads/trunk\nmark :" i "\ncommitter a <a@example.org> " 1000000000 + i " +0000\ndata 3\nc" i % 10 "\n"
		for (j = 0; j < 3; j++) { d = ""; for (k = 0; k < 40; k++) d = d "line " (i * 31 + j * 7 + k * k) % 911 " of " i % (k + 2) "\n"
			print "M 100644 inline d" i % 13 "/f" (i + j) % 101 ".txt\ndata " length(d) "\n" d } } }' >stream
	git init -q -b trunk repo
	cd repo || exit 1
	"${under[@]}" git fast-import --quiet <../stream
	"${under[@]}" git reset -q --hard trunk
	"${under[@]}" git --no-pager log --stat --format='%H %s' | md5sum
	"${under[@]}" git --no-pager log -p -M -C --since=2001-09-09T02:00:00Z | md5sum
	"${under[@]}" git --no-pager blame d5/f18.txt | md5sum
	"${under[@]}" git grep -c 'line 1[0-9]0' | md5sum
	"${under[@]}" git repack -q -a -d -f --depth=50 --window=20
	"${under[@]}" git gc -q --prune=now
	"${under[@]}" git fsck --full --strict 2>&1 | tail -3
	"${under[@]}" git bundle create -q ../all.bundle --all
	"${under[@]}" git clone -q ../all.bundle ../copy
	"${under[@]}" git -C ../copy checkout -q -b side HEAD~300
	echo changed >../copy/d1/new.txt
	git -C ../copy add .
	"${under[@]}" git -C ../copy commit -q -m side
	"${under[@]}" git -C ../copy merge -q -m merged origin/trunk
	git -C ../copy rev-parse HEAD 'HEAD^{tree}'
	"${under[@]}" git -C ../copy rev-list --objects --all | sort | md5sum
}

run_node() {
	need node
	cat >in.js <<-'JS'
		const zlib = require('zlib'), crypto = require('crypto'), { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
		if (!isMainThread) { let h = crypto.createHash('sha256'); for (let i = 0; i < 20000; i++) h.update('x' + i * workerData); parentPort.postMessage(h.digest('hex')); return; }
		const data = []; for (let i = 0; i < 40000; i++) data.push({ id: i, name: 'n' + i * 7919 % 10007, tags: [i % 13, 't' + i % 31] });
		const text = JSON.stringify(data), packed = zlib.gzipSync(text), back = JSON.parse(zlib.gunzipSync(packed));
		console.log(text.length, back.length, crypto.createHash('md5').update(text).digest('hex'));
		const m = new Map(); for (const d of back) m.set(d.tags[1], (m.get(d.tags[1]) || 0) + d.id);
		console.log([...m].sort().slice(0, 5).join(' '));
		const child = require('child_process').execFileSync(process.execPath, ['-e', 'console.log([..."abc"].reverse().join(""))']);
		console.log(child.toString().trim());
		Promise.all([1, 2, 3].map(n => new Promise((ok, no) => { const w = new Worker(__filename, { workerData: n }); w.on('message', ok); w.on('error', no); })))
			.then(r => console.log(r.join('\n')));
	JS
	"${under[@]}" node in.js
}

run_ripgrep() {
	need rg
	"${under[@]}" rg --sort path -n 'define [A-Z_]+\(' /usr/include | md5sum
	"${under[@]}" rg -c -i 'struct \w+ \{' /usr/include | sort | md5sum
	"${under[@]}" rg --json --sort path -w malloc /usr/include/stdlib.h | grep -v '"elapsed' | md5sum
	"${under[@]}" rg nothing-like-this /usr/include/linux
	echo "status $?"
}

run_imagemagick() {
	if ! convert -version 2>/dev/null | grep -q 'Version: ImageMagick'; then
		echo "ImageMagick is not installed"
		exit 77
	fi
	"${under[@]}" convert -seed 7 -size 400x300 gradient:red-blue -swirl 90 -blur 0x3 -resize 250% \
		\( +clone -negate -rotate 30 \) -append -colorspace Gray -depth 8 -format '%# %wx%h\n' info:
	"${under[@]}" convert -size 300x300 xc:white -fill black -draw 'circle 150,150 150,20' -morphology Erode Disk:3 out.png
	"${under[@]}" convert out.png -edge 2 out.jpg
	"${under[@]}" convert out.jpg -format '%wx%h %k\n' info:
	"${under[@]}" convert out.png -sparse-color Voronoi '10,10 red 200,200 blue' -format '%# %k\n' info:
}

# Its own threads decode, filter and encode; -bitexact leaves out what says who made it.
run_ffmpeg() {
	need ffmpeg
	local quiet=(-nostdin -v error -threads 4)
	"${under[@]}" ffmpeg "${quiet[@]}" -f lavfi -i testsrc=duration=2:size=320x180 -f lavfi -i sine=440:duration=2 \
		-c:v mpeg4 -c:a aac -bitexact -shortest -y out.mkv
	"${under[@]}" ffmpeg "${quiet[@]}" -i out.mkv -vf 'scale=640:-2,hue=s=0' -f framemd5 - | md5sum
	"${under[@]}" ffmpeg "${quiet[@]}" -i out.mkv -af 'aecho,volume=0.5' -f md5 -
	"${under[@]}" ffmpeg "${quiet[@]}" -i nothing.mkv -f null -
	echo "status $?"
}

run_openmp() {
	cat >omp.c <<-'C'
		#include <omp.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		static int by(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
		int main(void)
		{
			long sum = 0, tasks = 0;
			for (int round = 0; round < 20; round++) {
				#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 3) num_threads(2 + round % 6)
				for (int i = 0; i < 2000; i++) {
					int n = 1 + i % 200, *v = malloc(sizeof *v * n);
					for (int k = 0; k < n; k++)
						v[k] = (i * 31 + k * 17) % 1009;
					qsort(v, n, sizeof *v, by);
					v = realloc(v, sizeof *v * (n + 10));
					sum += v[n / 2];
					free(v);
				}
				#pragma omp parallel
				#pragma omp single
				for (int i = 0; i < 300; i++) {
					char *s = malloc(10 + i);
					#pragma omp task firstprivate(s, i)
					{
						memset(s, i, 10 + i);
						#pragma omp atomic
						tasks += s[i / 2] != 0;
						free(s);
					}
				}
			}
			printf("%ld %ld\n", sum, tasks);
			return 0;
		}
	C
	${CC:-gcc} -O2 -w -fopenmp -o omp omp.c 2>/dev/null || {
		echo "no OpenMP here"
		exit 77
	}
	"${under[@]}" ./omp
}

for suite_name in sqlite3 python3 perl redis nginx postgres git node ripgrep imagemagick ffmpeg openmp; do
	eval "real_suite_$suite_name() { suite 'suite of $suite_name' run_$suite_name; }"
done
