# fish completion for neap(1)

function __neap_needs_verb
    test (count (commandline -opc)) -eq 1
end

function __neap_verb_is
    set -l words (commandline -opc)
    test (count $words) -gt 1; and contains -- $words[2] $argv
end

# Inside a query: what neap says may follow, behind what is typed already.
function __neap_query_words
    set -l text (commandline -ct | string trim -l -c '\'"')
    neap query --complete "$text" 2>/dev/null | while read -l -d \t bytes word meaning
        set -l kept (math (string length -- "$text") - $bytes)
        printf '%s%s\t%s\n' (string sub -l $kept -- "$text") $word $meaning
    end
end

complete -c neap -f
complete -c neap -n __neap_needs_verb -a record -d 'run a program and record its heap'
complete -c neap -n __neap_needs_verb -a browse -d 'explore a profile in the terminal'
complete -c neap -n __neap_needs_verb -a report -d 'show where a profile\'s memory went'
complete -c neap -n __neap_needs_verb -a query -d 'ask a profile a question'
complete -c neap -n __neap_needs_verb -a diff -d 'compare two profiles'
complete -c neap -n __neap_needs_verb -a symbolize -d 'add names that were missing'
complete -c neap -n __neap_needs_verb -a info -d 'show what a profile holds'
complete -c neap -n __neap_needs_verb -a import -d 'read a profile of another tool'
complete -c neap -n __neap_needs_verb -a export -d 'write a profile for another tool'
complete -c neap -n __neap_needs_verb -a help -d 'explain a command'
complete -c neap -n __neap_needs_verb -l version -d 'print the version'
complete -c neap -s h -l help -d 'explain this command'

complete -c neap -n '__neap_verb_is record' -s o -l output -r -F -d 'name of the profile'
complete -c neap -n '__neap_verb_is record' -l interval -x -d 'time between two snapshots (10ms, 1s)'
complete -c neap -n '__neap_verb_is record' -l children -x -a 'none all' -d 'also record child processes'
complete -c neap -n '__neap_verb_is record' -l wait-all -d 'wait for all recorded processes'
complete -c neap -n '__neap_verb_is record' -l mmap -d 'also count what the program maps'
complete -c neap -n '__neap_verb_is record' -s q -l quiet -d 'no progress, no summary'
complete -c neap -n '__neap_verb_is record' -l force -d 'replace an existing profile'
complete -c neap -n '__neap_verb_is record' -a '(__fish_complete_subcommand --fcs-skip=2)'

complete -c neap -n '__neap_verb_is browse' -l glyphs -x -a 'braille block ascii' -d 'what the terminal can draw'
complete -c neap -n '__neap_verb_is browse' -l color -x -a 'auto always never' -d 'use colour'
complete -c neap -n '__neap_verb_is browse' -l plain -d 'no boxes and no bars'
complete -c neap -n '__neap_verb_is browse' -l no-mouse -d 'leave the mouse to the terminal'
complete -c neap -n '__neap_verb_is browse' -l follow -d 'show what is recorded while it is'
complete -c neap -n '__neap_verb_is browse' -l no-state -d 'neither use nor keep the view of last time'
complete -c neap -n '__neap_verb_is browse' -l keys -r -F -d 'list the keys, or press those of a file'

complete -c neap -n '__neap_verb_is report' -s n -l top -x -d 'rows of each table'
complete -c neap -n '__neap_verb_is report' -l full-stacks -d 'show whole call paths'
complete -c neap -n '__neap_verb_is report' -l suspects -d 'only places that kept growing'
complete -c neap -n '__neap_verb_is report' -l color -x -a 'auto always never' -d 'use colour'
complete -c neap -n '__neap_verb_is report' -l width -x -d 'columns of a line'
complete -c neap -n '__neap_verb_is query' -s f -l file -r -F -d 'queries from a file'
complete -c neap -n '__neap_verb_is query diff' -l explain -d 'show the plan'
complete -c neap -n '__neap_verb_is query diff' -l strict -d 'names that match nothing are errors'
complete -c neap -n '__neap_verb_is query' -l fields -d 'list fields, keys and columns'
complete -c neap -n '__neap_verb_is query' -l formats -d 'list output formats'
complete -c neap -n '__neap_verb_is query' -l populations -d 'list populations'
complete -c neap -n '__neap_verb_is query' -l complete -x -d 'what may follow this text'
complete -c neap -n '__neap_verb_is query diff' -l color -x -a 'auto always never' -d 'use colour'
complete -c neap -n '__neap_verb_is query diff' -l width -x -d 'columns of a line'
complete -c neap -n '__neap_verb_is query diff' -a '(__neap_query_words)'

complete -c neap -n '__neap_verb_is browse report query diff symbolize info export' -k -a '(__fish_complete_suffix .neap)'

complete -c neap -n '__neap_verb_is browse report query diff export' -l wrapper -x -d 'functions that only hand out memory'
complete -c neap -n '__neap_verb_is browse query' -l source-path -x -d 'where sources lie now (FROM=TO)'

complete -c neap -n '__neap_verb_is symbolize' -s o -l output -r -F -d 'where the result goes'
complete -c neap -n '__neap_verb_is symbolize' -l debug-dir -x -a '(__fish_complete_directories)' -d 'also look here'
complete -c neap -n '__neap_verb_is symbolize' -l debuginfod -d 'also ask the servers in DEBUGINFOD_URLS'
complete -c neap -n '__neap_verb_is symbolize' -s q -l quiet -d 'no progress, no summary'

complete -c neap -n '__neap_verb_is import' -s o -l output -r -F -d 'name of the profile'
complete -c neap -n '__neap_verb_is import' -l format -x -a '(neap import --formats 2>/dev/null | sed "1d;s/ .*//")' -d 'what the file is'
complete -c neap -n '__neap_verb_is import' -l formats -d 'list the formats'
complete -c neap -n '__neap_verb_is import' -l force -d 'replace an existing profile'
complete -c neap -n '__neap_verb_is import' -F
complete -c neap -n '__neap_verb_is export' -s o -l output -r -F -d 'where to'
complete -c neap -n '__neap_verb_is export' -l format -x -a '(neap export --formats 2>/dev/null | sed "1d;s/ .*//")' -d 'what to write'
complete -c neap -n '__neap_verb_is export' -l formats -d 'list the formats'
complete -c neap -n '__neap_verb_is export' -l strict -d 'names that match nothing are errors'
complete -c neap -n '__neap_verb_is export' -a '(__neap_query_words)'

complete -c neap -n '__neap_verb_is info' -l json -d 'for programs'
complete -c neap -n '__neap_verb_is info' -l dump -d 'every block of the file'
complete -c neap -n '__neap_verb_is info' -l check -d 'compare the counters with each other'
complete -c neap -n '__neap_verb_is info' -l missing-symbols -d 'modules without names'

complete -c neap -n '__neap_verb_is help' -a 'record browse report query diff symbolize info import export'
