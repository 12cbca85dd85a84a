/* Broken queries and what is said about them, whole. */
#ifndef NEAP_TESTS_UNIT_QUERY_MISTAKES_H
#define NEAP_TESTS_UNIT_QUERY_MISTAKES_H

static const struct query_mistake {
	const char *text, *message;
} query_mistakes[] = {
	{"live siez > 64K", "error: unknown field 'siez'\n"
			    " --> query:1:6\n"
			    " | live siez > 64K\n"
			    " |      ^~~~\n"
			    " = expected: func, file, line, module, ...\n"
			    " = help: did you mean 'size'?\n"},
	{"live in 1s..2s", "error: 'live' takes an instant, not a window\n"
			   " --> query:1:6\n"
			   " | live in 1s..2s\n"
			   " |      ^~\n"
			   " = expected: of, at\n"
			   " = help: did you mean 'survivors in' or 'allocated in'?\n"},
	{"live func='main'", "error: single quotes mean nothing here\n"
			     " --> query:1:11\n"
			     " | live func='main'\n"
			     " |           ^\n"
			     " = help: use double quotes: \"...\"\n"},
	{"live func==main", "error: unknown operator '=='\n"
			    " --> query:1:10\n"
			    " | live func==main\n"
			    " |          ^~\n"
			    " = help: write '='\n"},
	{"live func=~main", "error: unknown operator '=~'\n"
			    " --> query:1:10\n"
			    " | live func=~main\n"
			    " |          ^~\n"
			    " = help: write '~'\n"},
	{"live a && b", "error: unknown operator '&&'\n"
			" --> query:1:8\n"
			" | live a && b\n"
			" |        ^~\n"
			" = help: write 'and'\n"},
	{"live a || b", "error: unknown operator '||'\n"
			" --> query:1:8\n"
			" | live a || b\n"
			" |        ^~\n"
			" = help: write 'or'\n"},
	{"live | bz", "error: unknown stage 'bz'\n"
		      " --> query:1:8\n"
		      " | live | bz\n"
		      " |        ^~\n"
		      " = expected: where, by, sort, top, ...\n"
		      " = help: did you mean 'by'?\n"},
	{"| group func", "error: unknown stage 'group'\n"
			 " --> query:1:3\n"
			 " | | group func\n"
			 " |   ^~~~~\n"
			 " = expected: where, by, sort, top, ...\n"
			 " = help: write 'by'\n"},
	{"live | as cvs", "error: unknown format 'cvs'\n"
			  " --> query:1:11\n"
			  " | live | as cvs\n"
			  " |           ^~~\n"
			  " = expected: table, tsv, csv, json, ...\n"
			  " = help: did you mean 'csv'?\n"},
	{"live | json", "error: unknown stage 'json'\n"
			" --> query:1:8\n"
			" | live | json\n"
			" |        ^~~~\n"
			" = expected: where, by, sort, top, ...\n"
			" = help: write 'as json'\n"},
	{"live lifetime > 10", "error: the duration '10' has no unit\n"
			       " --> query:1:17\n"
			       " | live lifetime > 10\n"
			       " |                 ^~\n"
			       " = expected: a duration such as 10ms\n"
			       " = help: write 10s, 10ms, 10us, ...\n"},
	{"live at 5", "error: the duration '5' has no unit\n"
		      " --> query:1:9\n"
		      " | live at 5\n"
		      " |         ^\n"
		      " = expected: start, end, peak, cursor, '@', a duration such as 10ms, a "
		      "percentage of the run\n"
		      " = help: write 5s, 5ms, 5us, ...\n"},
	{"live | by time", "error: the query ends too early\n"
			   " --> query:1:15\n"
			   " | live | by time\n"
			   " |               ^\n"
			   " = expected: ':'\n"
			   " = help: say how wide the slices are: time:100ms\n"},
	{"live size > 64k", "error: unknown unit 'k'\n"
			    " --> query:1:15\n"
			    " | live size > 64k\n"
			    " |               ^\n"
			    " = expected: B, K, M, G, T, KiB, MiB, GiB, KB, MB, GB\n"
			    " = help: did you mean 'K'?\n"},
	{"live size > 5 MiB", "error: space before the unit 'MiB'\n"
			      " --> query:1:15\n"
			      " | live size > 5 MiB\n"
			      " |               ^~~\n"
			      " = help: write it right after the number\n"},
	{"live size > 10s", "error: '10s' is a duration, where something else is meant\n"
			    " --> query:1:13\n"
			    " | live size > 10s\n"
			    " |             ^~~\n"
			    " = expected: a size such as 64K\n"},
	{"live size > x", "error: unexpected 'x'\n"
			  " --> query:1:13\n"
			  " | live size > x\n"
			  " |             ^\n"
			  " = expected: a size such as 64K\n"},
	{"live line=abc", "error: unexpected 'abc'\n"
			  " --> query:1:11\n"
			  " | live line=abc\n"
			  " |           ^~~\n"
			  " = expected: a whole number\n"},
	{"live | where count > 2K", "error: '2K' has a unit, where a plain number is meant\n"
				    " --> query:1:22\n"
				    " | live | where count > 2K\n"
				    " |                      ^~\n"
				    " = expected: a whole number\n"
				    " = help: write the number in full: 2048\n"},
	{"live | where share > 5", "error: the percentage '5' has no unit\n"
				   " --> query:1:22\n"
				   " | live | where share > 5\n"
				   " |                      ^\n"
				   " = expected: a percentage such as 5%\n"
				   " = help: write 5%\n"},
	{"live 64K", "error: '64K' is a number, not a condition\n"
		     " --> query:1:6\n"
		     " | live 64K\n"
		     " |      ^~~\n"
		     " = help: compare something with it: size >= 64K\n"},
	{"live \"abc", "error: this string is never closed\n"
		       " --> query:1:6\n"
		       " | live \"abc\n"
		       " |      ^~~~\n"
		       " = help: end it with \" on the same line\n"},
	{"live func~/abc", "error: this regular expression is never closed\n"
			   " --> query:1:11\n"
			   " | live func~/abc\n"
			   " |           ^~~~\n"
			   " = help: end it with / on the same line; a / inside is written \\/\n"},
	{"live (a or (b)", "error: '(' is never closed\n"
			   " --> query:1:6\n"
			   " | live (a or (b)\n"
			   " |      ^\n"
			   " = expected: ')'\n"},
	{"live any[func=x", "error: '[' is never closed\n"
			    " --> query:1:9\n"
			    " | live any[func=x\n"
			    " |         ^\n"
			    " = expected: ']'\n"},
	{"live thread in (1, 2", "error: '(' is never closed\n"
				 " --> query:1:16\n"
				 " | live thread in (1, 2\n"
				 " |                ^\n"
				 " = expected: ')'\n"},
	{"live a) b", "error: unexpected ')'\n"
		      " --> query:1:7\n"
		      " | live a) b\n"
		      " |       ^\n"
		      " = expected: and, func, file, line, ...\n"
		      " = help: there is no open bracket for it\n"},
	{"live func~//", "error: empty regular expression\n"
			 " --> query:1:11\n"
			 " | live func~//\n"
			 " |           ^~\n"
			 " = help: it would match everything\n"},
	{"live \"a\\qb\"", "error: unknown escape in a string\n"
			   " --> query:1:8\n"
			   " | live \"a\\qb\"\n"
			   " |        ^~\n"
			   " = help: known are \\\" \\\\ \\n \\t\n"},
	{"peak at 3s", "error: 'peak' takes no time: it is one instant by itself\n"
		       " --> query:1:6\n"
		       " | peak at 3s\n"
		       " |      ^~\n"
		       " = expected: of\n"
		       " = help: did you mean 'live at'?\n"},
	{"allocated at 3s", "error: 'allocated' takes a window, not an instant\n"
			    " --> query:1:11\n"
			    " | allocated at 3s\n"
			    " |           ^~\n"
			    " = expected: of, in\n"
			    " = help: did you mean 'allocated in' or 'live at'?\n"},
	{"leaked in 1s..2s", "error: 'leaked' takes no time: it is one instant by itself\n"
			     " --> query:1:8\n"
			     " | leaked in 1s..2s\n"
			     " |        ^~\n"
			     " = expected: of\n"
			     " = help: did you mean 'survivors in'?\n"},
	{"live at 1s at 2s", "error: 'at' is given twice\n"
			     " --> query:1:12\n"
			     " | live at 1s at 2s\n"
			     " |            ^~\n"
			     " = expected: +, -, of\n"},
	{"survivors | sum", "error: 'survivors' needs a window\n"
			    " --> query:1:1\n"
			    " | survivors | sum\n"
			    " | ^~~~~~~~~\n"
			    " = expected: of, in\n"
			    " = help: write 'survivors in FROM..TO'\n"},
	{"allocated in 5s", "error: the query ends too early\n"
			    " --> query:1:16\n"
			    " | allocated in 5s\n"
			    " |                ^\n"
			    " = expected: +, -, '..'\n"
			    " = help: a window has two ends: FROM..TO\n"},
	{"allocated in pek..end", "error: unknown instant 'pek'\n"
				  " --> query:1:14\n"
				  " | allocated in pek..end\n"
				  " |              ^~~\n"
				  " = expected: start, end, peak, cursor, '@', a duration such as "
				  "10ms, a percentage of the run, '..'\n"
				  " = help: did you mean 'peak'?\n"},
	{"live a at 3s", "error: unexpected 'at'\n"
			 " --> query:1:8\n"
			 " | live a at 3s\n"
			 " |        ^~\n"
			 " = expected: and, func, file, line, ...\n"
			 " = help: 'at' comes right after the population\n"},
	{"live at 120%", "error: an instant past 100% of the run\n"
			 " --> query:1:9\n"
			 " | live at 120%\n"
			 " |         ^~~~\n"
			 " = expected: start, end, peak, cursor, '@', a duration such as 10ms, a "
			 "percentage of the run\n"},
	{"live | by fnc", "error: unknown key 'fnc'\n"
			  " --> query:1:11\n"
			  " | live | by fnc\n"
			  " |           ^~~\n"
			  " = expected: func, file, line, module, ...\n"
			  " = help: did you mean 'func'?\n"},
	{"live | by", "error: the query ends too early\n"
		      " --> query:1:10\n"
		      " | live | by\n"
		      " |          ^\n"
		      " = expected: func, file, line, module, ...\n"},
	{"live | top", "error: the query ends too early\n"
		       " --> query:1:11\n"
		       " | live | top\n"
		       " |           ^\n"
		       " = expected: a whole number\n"},
	{"live | top 0", "error: the number must be at least 1\n"
			 " --> query:1:12\n"
			 " | live | top 0\n"
			 " |            ^\n"},
	{"live | top 10 by totl", "error: unknown column 'totl'\n"
				  " --> query:1:18\n"
				  " | live | top 10 by totl\n"
				  " |                  ^~~~\n"
				  " = expected: self, total, count, allocs, ...\n"
				  " = help: did you mean 'total'?\n"},
	{"live | sort func down", "error: unexpected 'down'\n"
				  " --> query:1:18\n"
				  " | live | sort func down\n"
				  " |                  ^~~~\n"
				  " = expected: asc, desc, ',', '|', ';', end of the query\n"},
	{"live | percent some", "error: unknown base of percentages 'some'\n"
				" --> query:1:16\n"
				" | live | percent some\n"
				" |                ^~~~\n"
				" = expected: all, selection\n"},
	{"live | top 3 4", "error: unexpected '4'\n"
			   " --> query:1:14\n"
			   " | live | top 3 4\n"
			   " |              ^\n"
			   " = expected: by, '|', ';', end of the query\n"},
	{"live | tree x", "error: unexpected 'x'\n"
			  " --> query:1:13\n"
			  " | live | tree x\n"
			  " |             ^\n"
			  " = expected: a whole number, '|', ';', end of the query\n"},
	{"live | by size:0", "error: slices must be larger than 0\n"
			     " --> query:1:16\n"
			     " | live | by size:0\n"
			     " |                ^\n"},
	{"live | min -1%", "error: the smallest share cannot be negative\n"
			   " --> query:1:12\n"
			   " | live | min -1%\n"
			   " |            ^~~\n"},
	{"live | min 3s", "error: '3s' is a duration, where something else is meant\n"
			  " --> query:1:12\n"
			  " | live | min 3s\n"
			  " |            ^~\n"
			  " = expected: a percentage such as 1%, a size such as 64K\n"},
	{"live $x", "error: '$x' is not defined before it is used\n"
		    " --> query:1:6\n"
		    " | live $x\n"
		    " |      ^~\n"},
	{"let a = x or $a; live $a", "error: '$a' is used in its own definition\n"
				     " --> query:1:14\n"
				     " | let a = x or $a; live $a\n"
				     " |              ^~\n"},
	{"let known = a; live $knwon", "error: '$knwon' is not defined before it is used\n"
				       " --> query:1:21\n"
				       " | let known = a; live $knwon\n"
				       " |                     ^~~~~~\n"
				       " = expected: known\n"
				       " = help: did you mean 'known'?\n"},
	{"let a = x; let a = y", "error: 'a' is defined twice\n"
				 " --> query:1:16\n"
				 " | let a = x; let a = y\n"
				 " |                ^\n"},
	{"let $a = x", "error: unexpected '$a'\n"
		       " --> query:1:5\n"
		       " | let $a = x\n"
		       " |     ^~\n"
		       " = expected: a name\n"
		       " = help: write the name without '$' here\n"},
	{"let a = total > 3; live $a",
	 "error: '$a' uses the column 'total', which allocations do not have\n"
	 " --> query:1:25\n"
	 " | let a = total > 3; live $a\n"
	 " |                         ^~\n"},
	{"let a = size > 3; live any[$a]", "error: '$a' uses 'size', which a frame does not have\n"
					   " --> query:1:28\n"
					   " | let a = size > 3; live any[$a]\n"
					   " |                            ^~\n"},
	{"let a = x | sum", "error: unexpected '|'\n"
			    " --> query:1:11\n"
			    " | let a = x | sum\n"
			    " |           ^\n"
			    " = expected: and, func, file, line, ...\n"
			    " = help: a let ends before '|': put ';' after it\n"},
	{"live func > 3", "error: 'func' cannot be compared by '>': it is text\n"
			  " --> query:1:11\n"
			  " | live func > 3\n"
			  " |           ^\n"
			  " = expected: =, !=, ~, !~, in\n"},
	{"live size ~ x", "error: 'size' cannot be compared by '~': it is a number\n"
			  " --> query:1:11\n"
			  " | live size ~ x\n"
			  " |           ^\n"
			  " = expected: =, !=, <, <=, >, >=, in\n"},
	{"live thread in 3", "error: unexpected '3'\n"
			     " --> query:1:16\n"
			     " | live thread in 3\n"
			     " |                ^\n"
			     " = expected: '('\n"},
	{"live size in 3", "error: the query ends too early\n"
			   " --> query:1:15\n"
			   " | live size in 3\n"
			   " |               ^\n"
			   " = expected: '..'\n"
			   " = help: a range is FROM..TO, FROM.. or ..TO\n"},
	{"live leaf.size > 3", "error: 'size' belongs to the allocation, not to a frame\n"
			       " --> query:1:11\n"
			       " | live leaf.size > 3\n"
			       " |           ^~~~\n"
			       " = expected: func, file, line, module, addr\n"
			       " = help: write 'size' alone\n"},
	{"live leef.func=x", "error: unknown quantifier 'leef'\n"
			     " --> query:1:6\n"
			     " | live leef.func=x\n"
			     " |      ^~~~\n"
			     " = expected: any, all, none, leaf, root, caller\n"
			     " = help: did you mean 'leaf'?\n"},
	{"live total > 3", "error: 'total' is a column, not a field of allocations\n"
			   " --> query:1:6\n"
			   " | live total > 3\n"
			   " |      ^~~~~\n"
			   " = expected: func, file, line, module, ...\n"
			   " = help: use it in '| where' after '| by'\n"},
	{"live any[size>3]", "error: 'size' belongs to the allocation, not to a frame\n"
			     " --> query:1:10\n"
			     " | live any[size>3]\n"
			     " |          ^~~~\n"
			     " = expected: func, file, line, module, addr\n"
			     " = help: write 'size' outside the brackets\n"},
	{"live any[leaf.func=x]", "error: unexpected 'leaf'\n"
				  " --> query:1:10\n"
				  " | live any[leaf.func=x]\n"
				  " |          ^~~~\n"
				  " = expected: not, func, file, line, module, addr, '(', a "
				  "function, \"a string\", /a regular expression/\n"
				  " = help: inside [...] everything is about one frame\n"},
	{"live root", "error: the query ends too early\n"
		      " --> query:1:10\n"
		      " | live root\n"
		      " |          ^\n"
		      " = expected: '.', '['\n"
		      " = help: write root.FIELD or root[...]; as a name: \"root\"\n"},
	{"live path a > func=b", "error: unexpected '='\n"
				 " --> query:1:19\n"
				 " | live path a > func=b\n"
				 " |                   ^\n"
				 " = expected: >, >>, $\n"
				 " = help: a condition is a step in brackets: [func=NAME]\n"},
	{"live path a >",
	 "error: the query ends too early\n"
	 " --> query:1:14\n"
	 " | live path a >\n"
	 " |              ^\n"
	 " = expected: a function, \"a string\", /a regular expression/, '[', *, **\n"},
	{"live foo(int)", "error: a name ends where '(' begins\n"
			  " --> query:1:9\n"
			  " | live foo(int)\n"
			  " |         ^\n"
			  " = help: put a name with brackets in double quotes\n"},
	{"live func=std::vector<int>", "error: a name ends where '<' begins\n"
				       " --> query:1:22\n"
				       " | live func=std::vector<int>\n"
				       " |                      ^\n"
				       " = help: put a name with brackets in double quotes\n"},
	{"live func=operator[]", "error: a name ends where '[' begins\n"
				 " --> query:1:19\n"
				 " | live func=operator[]\n"
				 " |                   ^\n"
				 " = help: put a name with brackets in double quotes\n"},
	{"live foo* | sum", "error: unexpected '*'\n"
			    " --> query:1:9\n"
			    " | live foo* | sum\n"
			    " |         ^\n"
			    " = expected: and, func, file, line, ...\n"
			    " = help: wildcards work after '=' only: func=abc*\n"},
	{"", "error: the query is empty\n"
	     " --> query:1:1\n"
	     " | \n"
	     " | ^\n"
	     " = expected: let, diff, live, peak, ...\n"},
	{"  # nothing", "error: the query is empty\n"
			" --> query:1:1\n"
			" |   # nothing\n"
			" | ^\n"
			" = expected: let, diff, live, peak, ...\n"},
	{"foo", "error: unknown population or stage 'foo'\n"
		" --> query:1:1\n"
		" | foo\n"
		" | ^~~\n"
		" = expected: let, diff, live, peak, ...\n"
		" = help: a query begins with a population: live, peak, leaked, allocated, ...\n"},
	{"siez > 3",
	 "error: unknown population or stage 'siez'\n"
	 " --> query:1:1\n"
	 " | siez > 3\n"
	 " | ^~~~\n"
	 " = expected: let, diff, live, peak, ...\n"
	 " = help: a query begins with a population: live, peak, leaked, allocated, ...\n"},
	{"live |", "error: the query ends too early\n"
		   " --> query:1:7\n"
		   " | live |\n"
		   " |       ^\n"
		   " = expected: where, by, sort, top, ...\n"},
	{"live and x", "error: unexpected 'and'\n"
		       " --> query:1:6\n"
		       " | live and x\n"
		       " |      ^~~\n"
		       " = expected: of, at, func, file, ...\n"
		       " = help: to mean a name, put it in double quotes\n"},
	{"live a or", "error: the query ends too early\n"
		      " --> query:1:10\n"
		      " | live a or\n"
		      " |          ^\n"
		      " = expected: not, func, file, line, ...\n"},
	{"live not", "error: the query ends too early\n"
		     " --> query:1:9\n"
		     " | live not\n"
		     " |         ^\n"
		     " = expected: not, func, file, line, ...\n"},
	{"live\n| by func\n| tpo 3", "error: unknown stage 'tpo'\n"
				     " --> query:3:3\n"
				     " | | tpo 3\n"
				     " |   ^~~\n"
				     " = expected: where, by, sort, top, ...\n"
				     " = help: did you mean 'top'?\n"},
	{"live \t\"\346\227\245\346\234\254\" \tsiez=3",
	 "error: unknown field 'siez'\n"
	 " --> query:1:13\n"
	 " | live \t\"\346\227\245\346\234\254\" \tsiez=3\n"
	 " |      \t       \t^~~~\n"
	 " = expected: func, file, line, module, ...\n"
	 " = help: did you mean 'size'?\n"},
	{"peak\nlive siez=1\npeak", "error: unknown field 'siez'\n"
				    " --> query:2:6\n"
				    " | live siez=1\n"
				    " |      ^~~~\n"
				    " = expected: func, file, line, module, ...\n"
				    " = help: did you mean 'size'?\n"},
	{"live \303\251t\303\251 siez=1", "error: unknown field 'siez'\n"
					  " --> query:1:10\n"
					  " | live \303\251t\303\251 siez=1\n"
					  " |          ^~~~\n"
					  " = expected: func, file, line, module, ...\n"
					  " = help: did you mean 'size'?\n"},
	{"live func~\"\346\227\245\346\234\254\350\252\236\"x siez=3",
	 "error: unknown field 'siez'\n"
	 " --> query:1:18\n"
	 " | live func~\"\346\227\245\346\234\254\350\252\236\"x siez=3\n"
	 " |                     ^~~~\n"
	 " = expected: func, file, line, module, ...\n"
	 " = help: did you mean 'size'?\n"},
	{"live \"\" | sum", "error: empty name\n"
			    " --> query:1:6\n"
			    " | live \"\" | sum\n"
			    " |      ^~\n"
			    " = help: every name contains it\n"},
	{"live of", "error: the query ends too early\n"
		    " --> query:1:8\n"
		    " | live of\n"
		    " |        ^\n"
		    " = expected: the name of a file\n"},
	{"live of a of b", "error: 'of' is given twice\n"
			   " --> query:1:11\n"
			   " | live of a of b\n"
			   " |           ^~\n"
			   " = expected: at\n"},
	{"live size > 99999999T", "error: the number '99999999T' is too large\n"
				  " --> query:1:13\n"
				  " | live size > 99999999T\n"
				  " |             ^~~~~~~~~\n"
				  " = expected: a size such as 64K\n"},
	{"live size > 1.2.3", "error: '1.2.3' is not a number\n"
			      " --> query:1:13\n"
			      " | live size > 1.2.3\n"
			      " |             ^~~~~\n"
			      " = expected: a size such as 64K\n"},
	{"live | assert totl < 3", "error: unknown column 'totl'\n"
				   " --> query:1:15\n"
				   " | live | assert totl < 3\n"
				   " |               ^~~~\n"
				   " = expected: self, total, count, allocs, ...\n"
				   " = help: did you mean 'total'?\n"},
	{"live | assert total < 3 \"x\" \"y\"", "error: unexpected '\"y\"'\n"
						" --> query:1:29\n"
						" | live | assert total < 3 \"x\" \"y\"\n"
						" |                             ^~~\n"
						" = expected: '|', ';', end of the query\n"},
	{"live \001", "error: control character\n"
		      " --> query:1:6\n"
		      " | live \357\277\275\n"
		      " |      ^\n"},
};
#define QUERY_MISTAKE_COUNT (sizeof query_mistakes / sizeof query_mistakes[0])

#endif
