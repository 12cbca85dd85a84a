# Styles and scripts as C strings: flame.css becomes export_flame_css.
FNR == 1 {
	if (NR > 1)
		print ";"
	else
		print "/* Made by assets.awk. */\n#include \"src/exchange/export_priv.h\"\n"
	name = FILENAME
	sub(/.*\//, "", name)
	gsub(/[^A-Za-z0-9_]/, "_", name)
	printf "const char export_%s[] =", name
}
{
	gsub(/\\/, "&&")
	gsub(/"/, "\\\"")
	gsub(/\t/, " ")
	printf "\n\t\"%s\\n\"", $0
}
END {
	print ";"
}
