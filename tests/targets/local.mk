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
	tests/targets/60-service \
	tests/targets/61-interrupted \
	tests/targets/62-inert-child \
	tests/targets/63-very-deep \
	tests/targets/64-odd-frames \
	tests/targets/65-own-malloc \
	tests/targets/65-wrapped-malloc \
	tests/targets/66-deepbind \
	tests/targets/67-daemon \
	tests/targets/68-small-threads \
	tests/targets/69-exit-race \
	tests/targets/72-sandbox \
	tests/targets/73-address-space \
	tests/targets/74-same-depth \
	tests/targets/75-jump-out \
	tests/targets/76-made-then-loaded \
	tests/targets/77-raw-processes \
	tests/targets/78-no-descriptors \
	tests/targets/79-mappings \
	tests/targets/80-realloc-peak \
	tests/targets/81-other-user \
	tests/targets/82-late-keys \
	tests/targets/83-strange \
	tests/targets/84-libc-callers \
	tests/targets/85-cancelled \
	tests/targets/86-huge-pages \
	tests/targets/87-entry-points \
	tests/targets/88-hostile \
	tests/targets/89-changed-callers \
	tests/targets/90-same-places \
	tests/targets/91-generations \
	tests/targets/92-unlikely \
	tests/targets/93-crowd \
	tests/targets/94-locked \
	tests/targets/95-unforeseen \
	tests/targets/96-other-stack \
	tests/targets/97-late-peak \
	tests/targets/98-own-start
target_plugins = \
	tests/targets/lib59early.so \
	tests/targets/lib61safe.so \
	tests/targets/lib66deep.so \
	tests/targets/lib68tls.so \
	tests/targets/lib76late.so \
	tests/targets/lib95odd.so \
	tests/targets/plug18a.so \
	tests/targets/plug18b.so
target_cxx_programs = \
	tests/targets/05-exceptions \
	tests/targets/17-early-late \
	tests/targets/56-inline \
	tests/targets/70-operators \
	tests/targets/71-coroutines

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
tests/targets/lib61safe.so: $(target_dir)/61-interrupted.c
	$(target_cc) -shared -fPIC -DLIBRARY -o $@ $(target_dir)/61-interrupted.c
tests/targets/61-interrupted: $(target_dir)/61-interrupted.c tests/targets/lib61safe.so
	$(target_cc) -o $@ $(target_dir)/61-interrupted.c -Ltests/targets -l61safe '-Wl,-rpath,$$ORIGIN'
tests/targets/62-inert-child: $(target_dir)/62-inert-child.c
	$(target_cc) -o $@ $(target_dir)/62-inert-child.c
tests/targets/63-very-deep: $(target_dir)/63-very-deep.c
	$(target_cc) -o $@ $(target_dir)/63-very-deep.c
tests/targets/64-odd-frames: $(target_dir)/64-odd-frames.c
	$(target_cc) -fno-omit-frame-pointer -o $@ $(target_dir)/64-odd-frames.c
tests/targets/65-own-malloc: $(target_dir)/65-own-malloc.c
	$(target_cc) -o $@ $(target_dir)/65-own-malloc.c
tests/targets/65-wrapped-malloc: $(target_dir)/65-own-malloc.c
	$(target_cc) -DWRAPPER -o $@ $(target_dir)/65-own-malloc.c -ldl
tests/targets/lib66deep.so: $(target_dir)/66-deepbind.c
	$(target_cc) -shared -fPIC -DLIBRARY -o $@ $(target_dir)/66-deepbind.c
tests/targets/66-deepbind: $(target_dir)/66-deepbind.c
	$(target_cc) -o $@ $(target_dir)/66-deepbind.c -ldl
tests/targets/67-daemon: $(target_dir)/67-daemon.c
	$(target_cc) -pthread -o $@ $(target_dir)/67-daemon.c
tests/targets/lib68tls.so: $(target_dir)/68-small-threads.c
	$(target_cc) -shared -fPIC -DLIBRARY -o $@ $(target_dir)/68-small-threads.c
tests/targets/68-small-threads: $(target_dir)/68-small-threads.c
	$(target_cc) -pthread -o $@ $(target_dir)/68-small-threads.c -ldl
tests/targets/69-exit-race: $(target_dir)/69-exit-race.c
	$(target_cc) -pthread -o $@ $(target_dir)/69-exit-race.c
tests/targets/70-operators: $(target_dir)/70-operators.cpp
	$(target_cxx) -std=c++17 -fsized-deallocation -o $@ $(target_dir)/70-operators.cpp
tests/targets/71-coroutines: $(target_dir)/71-coroutines.cpp
	$(target_cxx) -std=c++20 -pthread -o $@ $(target_dir)/71-coroutines.cpp
tests/targets/72-sandbox: $(target_dir)/72-sandbox.c
	$(target_cc) -o $@ $(target_dir)/72-sandbox.c
tests/targets/73-address-space: $(target_dir)/73-address-space.c
	$(target_cc) -o $@ $(target_dir)/73-address-space.c
tests/targets/74-same-depth: $(target_dir)/74-same-depth.c
	$(target_cc) -pthread -o $@ $(target_dir)/74-same-depth.c
tests/targets/75-jump-out: $(target_dir)/75-jump-out.c tests/targets/lib61safe.so
	$(target_cc) -o $@ $(target_dir)/75-jump-out.c -Ltests/targets -l61safe '-Wl,-rpath,$$ORIGIN'
tests/targets/lib76late.so: $(target_dir)/76-made-then-loaded.c
	$(target_cc) -shared -fPIC -fomit-frame-pointer -DLIBRARY -o $@ $(target_dir)/76-made-then-loaded.c
tests/targets/76-made-then-loaded: $(target_dir)/76-made-then-loaded.c
	$(target_cc) -o $@ $(target_dir)/76-made-then-loaded.c -ldl
tests/targets/77-raw-processes: $(target_dir)/77-raw-processes.c
	$(target_cc) -pthread -o $@ $(target_dir)/77-raw-processes.c
tests/targets/78-no-descriptors: $(target_dir)/78-no-descriptors.c
	$(target_cc) -pthread -o $@ $(target_dir)/78-no-descriptors.c
tests/targets/79-mappings: $(target_dir)/79-mappings.c
	$(target_cc) -pthread -o $@ $(target_dir)/79-mappings.c
tests/targets/80-realloc-peak: $(target_dir)/80-realloc-peak.c
	$(target_cc) -o $@ $(target_dir)/80-realloc-peak.c
tests/targets/81-other-user: $(target_dir)/81-other-user.c
	$(target_cc) -o $@ $(target_dir)/81-other-user.c
tests/targets/82-late-keys: $(target_dir)/82-late-keys.c
	$(target_cc) -pthread -o $@ $(target_dir)/82-late-keys.c
tests/targets/83-strange: $(target_dir)/83-strange.c
	$(target_cc) -pthread -o $@ $(target_dir)/83-strange.c
tests/targets/84-libc-callers: $(target_dir)/84-libc-callers.c
	$(target_cc) -o $@ $(target_dir)/84-libc-callers.c
tests/targets/85-cancelled: $(target_dir)/85-cancelled.c tests/targets/lib61safe.so
	$(target_cc) -pthread -o $@ $(target_dir)/85-cancelled.c -Ltests/targets -l61safe '-Wl,-rpath,$$ORIGIN'
tests/targets/86-huge-pages: $(target_dir)/86-huge-pages.c
	$(target_cc) -o $@ $(target_dir)/86-huge-pages.c
tests/targets/87-entry-points: $(target_dir)/87-entry-points.c
	$(target_cc) -o $@ $(target_dir)/87-entry-points.c
tests/targets/88-hostile: $(target_dir)/88-hostile.c
	$(target_cc) -pthread -o $@ $(target_dir)/88-hostile.c -ldl
tests/targets/89-changed-callers: $(target_dir)/89-changed-callers.c
	$(target_cc) -o $@ $(target_dir)/89-changed-callers.c
tests/targets/90-same-places: $(target_dir)/90-same-places.c
	$(target_cc) -o $@ $(target_dir)/90-same-places.c -ldl
tests/targets/91-generations: $(target_dir)/91-generations.c
	$(target_cc) -o $@ $(target_dir)/91-generations.c
tests/targets/92-unlikely: $(target_dir)/92-unlikely.c
	$(target_cc) -pthread -o $@ $(target_dir)/92-unlikely.c
tests/targets/93-crowd: $(target_dir)/93-crowd.c
	$(target_cc) -o $@ $(target_dir)/93-crowd.c
tests/targets/94-locked: $(target_dir)/94-locked.c
	$(target_cc) -o $@ $(target_dir)/94-locked.c
tests/targets/lib95odd.so: $(target_dir)/95-unforeseen.c
	$(target_cc) -shared -fPIC -pthread -DLIBRARY -o $@ $(target_dir)/95-unforeseen.c
tests/targets/95-unforeseen: $(target_dir)/95-unforeseen.c tests/targets/lib95odd.so
	$(target_cc) -pthread -o $@ $(target_dir)/95-unforeseen.c -ldl
tests/targets/96-other-stack: $(target_dir)/96-other-stack.c
	$(target_cc) -pthread -o $@ $(target_dir)/96-other-stack.c
tests/targets/97-late-peak: $(target_dir)/97-late-peak.c
	$(target_cc) -o $@ $(target_dir)/97-late-peak.c
tests/targets/98-own-start: $(target_dir)/98-own-start.c
	$(target_cc) -nostartfiles -o $@ $(target_dir)/98-own-start.c
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
	tests/targets/61-interrupted.c \
	tests/targets/62-inert-child.c \
	tests/targets/63-very-deep.c \
	tests/targets/64-odd-frames.c \
	tests/targets/65-own-malloc.c \
	tests/targets/66-deepbind.c \
	tests/targets/67-daemon.c \
	tests/targets/68-small-threads.c \
	tests/targets/69-exit-race.c \
	tests/targets/70-operators.cpp \
	tests/targets/71-coroutines.cpp \
	tests/targets/72-sandbox.c \
	tests/targets/73-address-space.c \
	tests/targets/74-same-depth.c \
	tests/targets/75-jump-out.c \
	tests/targets/76-made-then-loaded.c \
	tests/targets/77-raw-processes.c \
	tests/targets/78-no-descriptors.c \
	tests/targets/79-mappings.c \
	tests/targets/80-realloc-peak.c \
	tests/targets/81-other-user.c \
	tests/targets/82-late-keys.c \
	tests/targets/83-strange.c \
	tests/targets/84-libc-callers.c \
	tests/targets/85-cancelled.c \
	tests/targets/86-huge-pages.c \
	tests/targets/87-entry-points.c \
	tests/targets/88-hostile.c \
	tests/targets/89-changed-callers.c \
	tests/targets/90-same-places.c \
	tests/targets/91-generations.c \
	tests/targets/92-unlikely.c \
	tests/targets/93-crowd.c \
	tests/targets/94-locked.c \
	tests/targets/95-unforeseen.c \
	tests/targets/96-other-stack.c \
	tests/targets/97-late-peak.c \
	tests/targets/98-own-start.c \
	tests/targets/56-inline.cpp \
	tests/targets/plug18.inc.c
