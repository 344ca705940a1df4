#!/bin/bash
# The list of what the paper leaves open and this code assumes, as Markdown, one line an assumption.
#
#   tools/assumed.sh            prints the list, collected from the sources and configs
#   tools/assumed.sh --listed   prints the list as it stands in PAPER_REPRO.md
#   tools/assumed.sh --write    rewrites it there
#
# An assumption is a comment or a help string "ASSUMED: <text> [config.key]". It may run over
# several lines; the key in brackets ends it.
set -euo pipefail
cd "${LINT_ROOT:-$(dirname "$0")/..}"

page=PAPER_REPRO.md
begin='<!-- assumed:begin -->'
end='<!-- assumed:end -->'

collect() {
	find core sim backend experiments configs -type f \
		\( -name '*.[ch]' -o -name '*.yaml' \) -print0 2>/dev/null |
		LC_ALL=C sort -z |
		xargs -0 -r awk '
		function trim(s) {
			gsub(/^[ \t]*(\/\*+|\*\/|\*|\/\/+|#+|")?[ \t]*/, "", s)
			gsub(/[ \t]*(\*\/|",?|\\)?[ \t]*$/, "", s)
			return s
		}
		function broken(why) {
			printf "%s:%d: %s\n", file, start, why >"/dev/stderr"
			bad = 1
			text = ""
		}
		FNR == 1 && text != "" { broken("ASSUMED has no [config.key] behind it") }
		{ line = $0 }
		text == "" {
			file = FILENAME; start = FNR
			if (line ~ /ASSUMED: +[.][.]/) broken("ASSUMED goes on from elsewhere; say it in full")
			if (!match(line, /ASSUMED: +[A-Za-z0-9]/)) next
			line = substr(line, RSTART + length("ASSUMED:"))
			sub(/^[ \t]+/, "", line)
			text = " "
		}
		{
			text = text " " trim(line)
			if (match(text, /\[[a-z][a-z0-9_.]*\]/)) {
				key = substr(text, RSTART + 1, RLENGTH - 2)
				said = substr(text, 1, RSTART - 1)
				gsub(/[ \t]+/, " ", said); gsub(/^ | $/, "", said)
				if (said == "") broken("ASSUMED says nothing before its key")
				else printf "- `%s`: %s (`%s`)\n", key, said, file
				text = ""
			} else if (FNR - start >= 5) broken("ASSUMED has no [config.key] within six lines")
		}
		END {
			if (text != "") broken("ASSUMED has no [config.key] behind it")
			exit bad
		}' | LC_ALL=C sort -u
}

listed() {
	awk -v begin="$begin" -v end="$end" '
		$0 == begin { on = 1; next }
		$0 == end { on = 0 }
		on && NF' "$page"
}

rewrite() {
	grep -qxF -- "$begin" "$page" && grep -qxF -- "$end" "$page" || {
		echo "$page: the lines $begin and $end must stand in it" >&2
		exit 1
	}
	local list
	list=$(collect)
	LIST="$list" awk -v begin="$begin" -v end="$end" '
		$0 == end { on = 0 }
		!on { print }
		$0 == begin { on = 1; print ENVIRON["LIST"] }' "$page" >"$page.new"
	mv "$page.new" "$page"
}

case "${1:-}" in
'') collect ;;
--listed) listed ;;
--write) rewrite ;;
*)
	echo "usage: tools/assumed.sh [--listed | --write]" >&2
	exit 2
	;;
esac
