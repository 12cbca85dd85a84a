# Small programs with a known heap, recorded by tests/integration/targets.sh.
#
# Each source says how it is built (BUILD), run (RUN) and what must be counted
# (TRUTH).  The rules below repeat BUILD exactly: neither CFLAGS of the user nor
# a sanitizer may change what these programs allocate or how they are compiled.
# Add a program: its name to target_programs, a rule, its line in targets.sh.

target_programs = \
	tests/targets/01-realloc-chain \
	tests/targets/03-aligned-family \
	tests/targets/10-many-threads \
	tests/targets/12-fork-noexec \
	tests/targets/16-ways-to-die \
	tests/targets/18-dlopen-dlclose \
	tests/targets/21-tailcall-noreturn \
	tests/targets/26-peak-between-snapshots \
	tests/targets/33-libc-allocators \
	tests/targets/50-edge-sizes \
	tests/targets/51-many-sizes \
	tests/targets/52-frames \
	tests/targets/53-same-frames \
	tests/targets/54-stack-remap \
	tests/targets/55-temporary \
	tests/targets/57-exec-spawn \
	tests/targets/58-unnoticed \
	tests/targets/59-early-library \
	tests/targets/60-service
target_plugins = \
	tests/targets/lib59early.so \
	tests/targets/plug18a.so \
	tests/targets/plug18b.so
target_cxx_programs = \
	tests/targets/05-exceptions \
	tests/targets/17-early-late \
	tests/targets/56-inline

check_DATA = $(target_programs) $(target_plugins)
if HAVE_CXX
check_DATA += $(target_cxx_programs)
endif
CLEANFILES += $(target_programs) $(target_plugins) $(target_cxx_programs)

target_dir = $(top_srcdir)/tests/targets
target_cc = $(AM_V_CC)$(MKDIR_P) tests/targets && $(CC) -g -O2 -w
target_cxx = $(AM_V_GEN)$(MKDIR_P) tests/targets && $(CXX) -g -O2 -w

tests/targets/01-realloc-chain: $(target_dir)/01-realloc-chain.c
	$(target_cc) -o $@ $(target_dir)/01-realloc-chain.c
tests/targets/03-aligned-family: $(target_dir)/03-aligned-family.c
	$(target_cc) -o $@ $(target_dir)/03-aligned-family.c
tests/targets/05-exceptions: $(target_dir)/05-exceptions.cpp
	$(target_cxx) -o $@ $(target_dir)/05-exceptions.cpp
tests/targets/10-many-threads: $(target_dir)/10-many-threads.c
	$(target_cc) -pthread -o $@ $(target_dir)/10-many-threads.c
tests/targets/12-fork-noexec: $(target_dir)/12-fork-noexec.c
	$(target_cc) -o $@ $(target_dir)/12-fork-noexec.c
tests/targets/16-ways-to-die: $(target_dir)/16-ways-to-die.c
	$(target_cc) -o $@ $(target_dir)/16-ways-to-die.c
tests/targets/17-early-late: $(target_dir)/17-early-late.cpp
	$(target_cxx) -o $@ $(target_dir)/17-early-late.cpp
tests/targets/plug18a.so: $(target_dir)/plug18.inc.c
	$(target_cc) -shared -fPIC -DNAME=plugin_one_leak -DSZ=1009 -DCNT=64 -o $@ $(target_dir)/plug18.inc.c
tests/targets/plug18b.so: $(target_dir)/plug18.inc.c
	$(target_cc) -shared -fPIC -DNAME=plugin_two_leak -DSZ=2003 -DCNT=32 -o $@ $(target_dir)/plug18.inc.c
tests/targets/18-dlopen-dlclose: $(target_dir)/18-dlopen-dlclose.c
	$(target_cc) -o $@ $(target_dir)/18-dlopen-dlclose.c -ldl
tests/targets/21-tailcall-noreturn: $(target_dir)/21-tailcall-noreturn.c
	$(target_cc) -foptimize-sibling-calls -fno-reorder-functions -o $@ $(target_dir)/21-tailcall-noreturn.c
tests/targets/26-peak-between-snapshots: $(target_dir)/26-peak-between-snapshots.c
	$(target_cc) -o $@ $(target_dir)/26-peak-between-snapshots.c
tests/targets/33-libc-allocators: $(target_dir)/33-libc-allocators.c
	$(target_cc) -o $@ $(target_dir)/33-libc-allocators.c
tests/targets/50-edge-sizes: $(target_dir)/50-edge-sizes.c
	$(target_cc) -o $@ $(target_dir)/50-edge-sizes.c
tests/targets/51-many-sizes: $(target_dir)/51-many-sizes.c
	$(target_cc) -o $@ $(target_dir)/51-many-sizes.c
tests/targets/52-frames: $(target_dir)/52-frames.c
	$(target_cc) -o $@ $(target_dir)/52-frames.c
tests/targets/53-same-frames: $(target_dir)/53-same-frames.c
	$(target_cc) -o $@ $(target_dir)/53-same-frames.c
tests/targets/54-stack-remap: $(target_dir)/54-stack-remap.c
	$(target_cc) -o $@ $(target_dir)/54-stack-remap.c
tests/targets/55-temporary: $(target_dir)/55-temporary.c
	$(target_cc) -pthread -o $@ $(target_dir)/55-temporary.c
tests/targets/57-exec-spawn: $(target_dir)/57-exec-spawn.c
	$(target_cc) -o $@ $(target_dir)/57-exec-spawn.c
tests/targets/58-unnoticed: $(target_dir)/58-unnoticed.c
	$(target_cc) -o $@ $(target_dir)/58-unnoticed.c -ldl
tests/targets/lib59early.so: $(target_dir)/59-early-library.c
	$(target_cc) -shared -fPIC -DLIBRARY -o $@ $(target_dir)/59-early-library.c
tests/targets/59-early-library: $(target_dir)/59-early-library.c tests/targets/lib59early.so
	$(target_cc) -o $@ $(target_dir)/59-early-library.c -Ltests/targets -l59early '-Wl,-rpath,$$ORIGIN'
tests/targets/60-service: $(target_dir)/60-service.c
	$(target_cc) -o $@ $(target_dir)/60-service.c
tests/targets/56-inline: $(target_dir)/56-inline.cpp
	$(target_cxx) -o $@ $(target_dir)/56-inline.cpp

EXTRA_DIST += \
	tests/targets/01-realloc-chain.c \
	tests/targets/03-aligned-family.c \
	tests/targets/05-exceptions.cpp \
	tests/targets/10-many-threads.c \
	tests/targets/12-fork-noexec.c \
	tests/targets/16-ways-to-die.c \
	tests/targets/17-early-late.cpp \
	tests/targets/18-dlopen-dlclose.c \
	tests/targets/21-tailcall-noreturn.c \
	tests/targets/26-peak-between-snapshots.c \
	tests/targets/33-libc-allocators.c \
	tests/targets/50-edge-sizes.c \
	tests/targets/51-many-sizes.c \
	tests/targets/52-frames.c \
	tests/targets/53-same-frames.c \
	tests/targets/54-stack-remap.c \
	tests/targets/55-temporary.c \
	tests/targets/57-exec-spawn.c \
	tests/targets/58-unnoticed.c \
	tests/targets/59-early-library.c \
	tests/targets/60-service.c \
	tests/targets/56-inline.cpp \
	tests/targets/plug18.inc.c
