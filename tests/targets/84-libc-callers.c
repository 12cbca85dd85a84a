/* 84 functions of libc that allocate for their caller or for themselves.
 * BUILD: gcc -g -O2 -o 84-libc-callers 84-libc-callers.c
 * RUN:   ./84-libc-callers [WORD]; with "words" as the word it prints all of them
 * INCLUSIVE func=lines     live_blocks=3 allocs=11 live_bytes=360
 * INCLUSIVE func=paths     live_blocks=2 allocs=6
 * INCLUSIVE func=folders   live_blocks=0 live_bytes=0
 * INCLUSIVE func=files     live_blocks=2
 * INCLUSIVE func=patterns  live_blocks=0 live_bytes=0
 * INCLUSIVE func=addresses live_blocks=0 live_bytes=0
 * INCLUSIVE func=memory    live_blocks=1
 * INCLUSIVE func=trees     live_blocks=0 live_bytes=0
 * INCLUSIVE func=hashes    live_blocks=0 live_bytes=0 allocs=1 bytes=2448
 * INCLUSIVE func=globs     live_blocks=0 live_bytes=0
 * What libc frees is freed, what the program kept is kept: 3 of 10 lines of getline, which asks for 120 bytes (and once for the buffer of its stream), 2 results of
 * realpath, a FILE that was not closed with its buffer, and a memory stream's text.  real-programs.sh compares the totals of
 * each word with an independent count, to the byte: those of "more" depend on the system. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <grp.h>
#include <iconv.h>
#include <ifaddrs.h>
#include <locale.h>
#include <netdb.h>
#include <pwd.h>
#include <regex.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <wchar.h>
#include <wordexp.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : : "r"(p) : "memory")
static void *kept[10];
NI void lines(FILE *in)
{
	for (int i = 0; i < 10; i++) {
		char *line = NULL;
		size_t bytes = 0;
		if (getline(&line, &bytes, in) < 2)
			exit(1);
		if (i < 3)
			kept[i] = line;
		else
			free(line);
	}
	KEEP(kept);
}
NI void paths(void)
{
	for (int i = 0; i < 6; i++) {
		char *path = realpath("/usr/../usr/./bin", NULL);
		KEEP(path);
		if (i < 2)
			kept[3 + i] = path;
		else
			free(path);
	}
}
NI void folders(void)
{
	struct dirent **names;
	int count = scandir("/usr", &names, NULL, alphasort);
	for (int i = 0; i < count; i++)
		free(names[i]);
	free(names);
	DIR *d = opendir("/usr");
	while (readdir(d))
		;
	closedir(d);
}
NI void files(const char *self)
{
	char text[100];
	for (int i = 0; i < 5; i++) {
		FILE *f = fopen(self, "r");
		if (!f || !fgets(text, sizeof text, f))
			exit(2);
		if (i)
			fclose(f);
		else
			kept[5] = f;
	}
}
NI void patterns(void)
{
	regex_t r;
	for (int i = 0; i < 5; i++) {
		if (regcomp(&r, "^(a|b)*c[0-9]+(x{2,5}|y)$", REG_EXTENDED))
			exit(3);
		regexec(&r, "ababc123xxx", 0, NULL, 0);
		regfree(&r);
	}
}
NI void addresses(void)
{
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV}, *found;
	for (int i = 0; i < 5; i++) {
		if (getaddrinfo("127.0.0.1", "80", &hints, &found))
			exit(4);
		freeaddrinfo(found);
	}
}
NI void memory(void)
{
	char *text;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);
	for (int i = 0; i < 3000; i++)
		fprintf(f, "%d ", i);
	fclose(f);
	kept[6] = text;
	KEEP(kept);
}
static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}
static void nothing(void *a)
{
	KEEP(a);
}
NI void trees(void)
{
	static const char *const words[] = {"a", "b", "c", "d", "e"};
	void *root = NULL;
	for (int i = 0; i < 5; i++)
		tsearch(words[i], &root, compare);
	tdestroy(root, nothing);
}
NI void hashes(void)
{
	struct hsearch_data table = {0};
	if (!hcreate_r(100, &table))
		exit(5);
	hdestroy_r(&table);
}
NI void globs(void)
{
	glob_t g;
	if (glob("/usr/*", 0, NULL, &g) == 0)
		globfree(&g);
}
NI void lines_of_text(void)
{
	static char text[] = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
	FILE *in = fmemopen(text, sizeof text - 1, "r");
	if (!in)
		exit(77);
	lines(in);
	fclose(in);
}
static void copies(void)
{
	char *printed;
	kept[7] = strdup("a string");
	free(strndup("another string", 7));
	free(wcsdup(L"wide"));
	for (int i = 1; i < 3000; i *= 3) {
		if (asprintf(&printed, "%0*d", i, i) != i)
			exit(6);
		free(printed);
	}
}
static void directory(void)
{
	free(getcwd(NULL, 0));
	free(getcwd(NULL, 5000));
	free(get_current_dir_name());
	free(canonicalize_file_name("/usr/./lib/.."));
	free(realpath("/nowhere/at/all", NULL));
}
static void delimited(void)
{
	char *line = NULL;
	size_t bytes = 0;
	FILE *in = fopen("/proc/self/status", "r");
	while (in && getdelim(&line, &bytes, ':', in) > 0)
		;
	free(line);
	fclose(in);
}
static void users(void)
{
	gid_t groups[100];
	int count = 100;
	getpwuid(0);
	getpwnam("nobody");
	getgrnam("daemon");
	getgrouplist("root", 0, groups, &count);
	setpwent();
	while (getpwent())
		;
	endpwent();
}
static void hosts(void)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
	if (!getaddrinfo("localhost", "http", &hints, &found))
		freeaddrinfo(found);
	getservbyname("ftp", "tcp");
	getprotobyname("udp");
	gethostbyname("127.0.0.1");
}
static void locales(void)
{
	locale_t l = newlocale(LC_ALL_MASK, "C.UTF-8", NULL);
	if (l)
		freelocale(l);
	setlocale(LC_ALL, "C.UTF-8");
	iconv_t c = iconv_open("UTF-16", "ISO-8859-1");
	char in[] = "text", out[40], *from = in, *to = out;
	size_t left = 4, room = 40;
	iconv(c, &from, &left, &to, &room);
	iconv_close(c);
}
static void expanded(void)
{
	wordexp_t w;
	if (!wordexp("~/a $HOME/b /usr/*", &w, WRDE_NOCMD))
		wordfree(&w);
}
static int visit(const char *path, const struct stat *st, int type, struct FTW *where)
{
	return where->level > 2;
}
static void walks(void)
{
	char *paths[] = {"/usr/share/doc/libc6", NULL};
	nftw("/usr/share/doc/libc6", visit, 5, FTW_PHYS);
	FTS *f = fts_open(paths, FTS_PHYSICAL, NULL);
	while (f && fts_read(f))
		;
	fts_close(f);
}
static void variables(void)
{
	for (int i = 0; i < 20; i++) {
		char name[20];
		snprintf(name, sizeof name, "NAME%d", i % 7);
		setenv(name, name + i % 5, 1);
	}
	unsetenv("NAME3");
	putenv("OTHER=value");
	clearenv();
}
static void sorted(void)
{
	static char words[3000][8];
	for (int i = 0; i < 3000; i++)
		snprintf(words[i], sizeof words[i], "%d", i * 7919 % 3001);
	qsort(words, 3000, sizeof words[0], compare);
}
static void interfaces(void)
{
	struct ifaddrs *all;
	if (!getifaddrs(&all))
		freeifaddrs(all);
}
static void streams(void)
{
	char text[100];
	FILE *p = popen("echo popen", "r");
	while (p && fgets(text, sizeof text, p))
		;
	pclose(p);
	FILE *t = tmpfile();
	fputs("text", t);
	FILE *again = fdopen(dup(fileno(t)), "r");
	fclose(again);
	fclose(t);
	FILE *c = fopencookie(NULL, "w", (cookie_io_functions_t){0});
	setvbuf(c, NULL, _IOFBF, 10000);
	fputs("x", c);
	fclose(c);
}
static void loaded(void)
{
	void *library = dlopen("libm.so.6", RTLD_NOW);
	dlsym(library, "no_such_function");
	dlerror();
	dlopen("no such library", RTLD_NOW);
	dlerror();
	dlclose(library);
}
static const char *self;
static void files_of_self(void)
{
	files(self);
}
static const struct {
	const char *word;
	void (*fn)(void);
	int is_more; /* only when asked for */
} words[] = {
	{"lines", lines_of_text, 0}, {"paths", paths, 0},       {"folders", folders, 0},
	{"files", files_of_self, 0}, {"patterns", patterns, 0}, {"addresses", addresses, 0},
	{"memory", memory, 0},       {"trees", trees, 0},       {"hashes", hashes, 0},
	{"globs", globs, 0},         {"copies", copies, 1},     {"directory", directory, 1},
	{"delimited", delimited, 1}, {"users", users, 1},       {"hosts", hosts, 1},
	{"locales", locales, 1},     {"expanded", expanded, 1}, {"walks", walks, 1},
	{"variables", variables, 1}, {"sorted", sorted, 1},     {"interfaces", interfaces, 1},
	{"streams", streams, 1},     {"loaded", loaded, 1},
};
int main(int argc, char **argv)
{
	const char *wanted = argc > 1 ? argv[1] : NULL;
	int lists = wanted && !strcmp(wanted, "words");
	self = argv[0];
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (lists)
			write(1, words[i].word, strlen(words[i].word)), write(1, "\n", 1);
		else if (wanted ? !strcmp(wanted, words[i].word) : !words[i].is_more)
			words[i].fn();
	}
	return 0;
}
