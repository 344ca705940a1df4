#!/bin/bash
# Holds tests/fuzz/decoders.txt against the sources: each file that calls a function which reads or
# decodes bytes from outside has a row, each row a file and targets that there are, and each target
# a row.
#
#   tests/fuzz/decoders.sh BUILD          exit 1 names what is missing
set -euo pipefail
cd "$(dirname "$0")/../.."
list=tests/fuzz/decoders.txt
reads='\<(json_loads|json_loadb|json_loadf|json_load_file|fgets|getline|getc_unlocked|strptime|recv'
reads+='|fread|sscanf|read|pread|readdir|getenv|strtod|text_line_read|yaml_file_read)\('
targets=$("$1/test-fuzz" --list | sort)
rows=$(sed '/^#/d; /^$/d' $list)
wrong=$(
	comm -23 <(grep -rlE --include='*.c' "$reads" core sim backend experiments | sort) \
		<(awk '{print $1}' <<<"$rows" | sort) |
		sed "s|\$|: reads bytes from outside, and has no row in $list|"
	awk '{print $1}' <<<"$rows" | sort | uniq -d | sed "s|\$|: has two rows in $list|"
	awk '{print $1}' <<<"$rows" | while read -r file; do
		[ -f "$file" ] || echo "$file: is in $list, and not there"
	done
	named=$(awk '$2 != "-" {print $2}' <<<"$rows" | tr ',' '\n' | sort -u)
	comm -13 <(echo "$targets") <(echo "$named") | sed "s|\$|: no such target, named in $list|"
	comm -23 <(echo "$targets") <(echo "$named") | sed "s|\$|: a target without a row in $list|"
)
[ -z "$wrong" ] || {
	echo "$wrong"
	exit 1
} >&2
