/* Another program on the terminal. */
#include "config.h"

#include "tui/term_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* The pipe says whether the program was started at all: it is closed by that. */
static void be_program(char *const *args, int tell)
{
	static const int caught[] = {SIGTERM, SIGHUP, SIGINT,  SIGABRT,  SIGSEGV, SIGBUS,
				     SIGFPE,  SIGILL, SIGQUIT, SIGWINCH, SIGTSTP};
	for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++)
		signal(caught[i], SIG_DFL);
	execvp(args[0], args);
	int errnum = errno;
	ssize_t ignored = write(tell, &errnum, sizeof errnum);
	(void)ignored;
	_exit(127);
}

static enum neap_err wait_for(pid_t pid, int told, const char *name, struct err *e)
{
	int errnum = 0, status = 0;
	ssize_t got;
	while ((got = read(told, &errnum, sizeof errnum)) < 0 && errno == EINTR)
		;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (got == (ssize_t)sizeof errnum)
		return err_sys(e, errnum, "start", name);
	if (WIFSIGNALED(status))
		return err_set(e, ERR_UNSUPPORTED, "'%s' ended by signal %d", name,
			       WTERMSIG(status));
	if (WEXITSTATUS(status))
		return err_set(e, ERR_UNSUPPORTED, "'%s' ended with status %d", name,
			       WEXITSTATUS(status));
	return NEAP_OK;
}

enum neap_err term_run(char *const *args, struct err *e)
{
	/* Ctrl-C and Ctrl-\ are for the program that has the terminal. */
	struct sigaction ignore = {.sa_handler = SIG_IGN}, on_int, on_quit;
	/* Ctrl-Z stops both, and the shell sees it. */
	struct sigaction usual = {.sa_handler = SIG_DFL}, on_stop;
	enum neap_err code;
	int tell[2];
	if (pipe2(tell, O_CLOEXEC))
		return err_sys(e, errno, "start", args[0]);
	term_leave();
	sigaction(SIGINT, &ignore, &on_int);
	sigaction(SIGQUIT, &ignore, &on_quit);
	sigaction(SIGTSTP, &usual, &on_stop);
	pid_t pid = fork();
	if (pid == 0)
		be_program(args, tell[1]);
	close(tell[1]);
	code = pid < 0 ? err_sys(e, errno, "start", args[0]) : wait_for(pid, tell[0], args[0], e);
	close(tell[0]);
	sigaction(SIGINT, &on_int, NULL);
	sigaction(SIGQUIT, &on_quit, NULL);
	sigaction(SIGTSTP, &on_stop, NULL);
	term_come_back();
	return code;
}
