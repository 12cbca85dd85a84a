# Writers; their styles and scripts become strings.
src_exchange_libexchange_la_SOURCES += \
	src/exchange/callgrind_out.c \
	src/exchange/chart_layers.c \
	src/exchange/chart_out.c \
	src/exchange/chart_priv.h \
	src/exchange/dot_out.c \
	src/exchange/export.h \
	src/exchange/export_priv.h \
	src/exchange/export_text.c \
	src/exchange/flame_out.c \
	src/exchange/html_out.c \
	src/exchange/massif_out.c \
	src/exchange/pprof_out.c \
	src/exchange/speedscope_out.c
exchange_assets = \
	src/exchange/chart.css \
	src/exchange/chart.js \
	src/exchange/flame.css \
	src/exchange/flame.js \
	src/exchange/page.css \
	src/exchange/page.js
nodist_src_exchange_libexchange_la_SOURCES += src/exchange/assets.c
CLEANFILES += src/exchange/assets.c
EXTRA_DIST += $(exchange_assets) src/exchange/assets.awk

src/exchange/assets.c: src/exchange/assets.awk $(exchange_assets)
	$(AM_V_GEN)$(MKDIR_P) src/exchange && cd $(srcdir)/src/exchange && \
		LC_ALL=C $(AWK) -f assets.awk $(notdir $(exchange_assets)) >$(abs_builddir)/$@.new && \
		mv $(abs_builddir)/$@.new $(abs_builddir)/$@
