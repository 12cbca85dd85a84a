#define _GNU_SOURCE /* clang-format off */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
/* A shop that keeps its orders, and loses every fourth bill. */
struct order { struct order *next; char *text; };
static struct order *orders;
__attribute__((noinline)) char *make_bill(size_t n) { char *b = malloc(n); memset(b, 1, n); return b; }
__attribute__((noinline)) void take_order(int i) { struct order *o = malloc(sizeof *o); o->text = strdup("tea"); o->next = orders; orders = o; if (i % 4) free(make_bill(1000)); else make_bill(500); }
static void *work(void *arg) { pthread_setname_np(pthread_self(), "cook"); for (int i = 0; i < 40; i++) make_bill(2000); return arg; }
int main(void) { pthread_t t; for (int i = 0; i < 100; i++) take_order(i); pthread_create(&t, NULL, work, NULL); pthread_join(t, NULL); return 0; }
