# fish completion for neap(1)

function __neap_needs_verb
    test (count (commandline -opc)) -eq 1
end

function __neap_verb_is
    set -l words (commandline -opc)
    test (count $words) -gt 1; and contains -- $words[2] $argv
end

complete -c neap -f
complete -c neap -n __neap_needs_verb -a record -d 'run a program and record its heap'
complete -c neap -n __neap_needs_verb -a report -d 'show where a profile\'s memory went'
complete -c neap -n __neap_needs_verb -a info -d 'show what a profile holds'
complete -c neap -n __neap_needs_verb -a help -d 'explain a command'
complete -c neap -n __neap_needs_verb -l version -d 'print the version'
complete -c neap -s h -l help -d 'explain this command'

complete -c neap -n '__neap_verb_is record' -s o -l output -r -F -d 'name of the profile'
complete -c neap -n '__neap_verb_is record' -l interval -x -d 'time between two snapshots (10ms, 1s)'
complete -c neap -n '__neap_verb_is record' -l children -x -a 'none all' -d 'also record child processes'
complete -c neap -n '__neap_verb_is record' -l wait-all -d 'wait for all recorded processes'
complete -c neap -n '__neap_verb_is record' -s q -l quiet -d 'no progress, no summary'
complete -c neap -n '__neap_verb_is record' -l force -d 'replace an existing profile'
complete -c neap -n '__neap_verb_is record' -a '(__fish_complete_subcommand --fcs-skip=2)'

complete -c neap -n '__neap_verb_is report' -s n -l top -x -d 'rows of each table'
complete -c neap -n '__neap_verb_is report' -l full-stacks -d 'show whole call paths'
complete -c neap -n '__neap_verb_is report' -l color -x -a 'auto always never' -d 'use colour'
complete -c neap -n '__neap_verb_is report' -l width -x -d 'columns of a line'
complete -c neap -n '__neap_verb_is report info' -k -a '(__fish_complete_suffix .neap)'

complete -c neap -n '__neap_verb_is info' -l json -d 'for programs'
complete -c neap -n '__neap_verb_is info' -l dump -d 'every block of the file'
complete -c neap -n '__neap_verb_is info' -l check -d 'compare the counters with each other'

complete -c neap -n '__neap_verb_is help' -a 'record report info'
