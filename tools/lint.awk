# The line checks of the lint: reads lint.rules first, then C files, and prints what breaks a rule.

function trim(s) { gsub(/^[ \t]+|[ \t]+$/, "", s); return s }

function say(file, line, what) { printf "%s:%d: %s\n", file, line, what }

function refuse(file, line, what) { say(file, line, what); errors++ }

function over(name, value, file, line, what) {
	if (value > hard[name]) refuse(file, line, what " (at most " hard[name] "): " advice[name])
	else if (value > soft[name]) say(file, line, "warning: " what " (aim at " soft[name] "): " advice[name])
}

function read_rule(    n, f, i) {
	if ($0 ~ /^#/ || NF == 0) return
	gsub(/\\\|/, "\001")
	n = split($0, f, "|")
	for (i = 1; i <= n; i++) { f[i] = trim(f[i]); gsub("\001", "|", f[i]) }
	if (f[1] == "limit") { soft[f[2]] = f[3] + 0; hard[f[2]] = f[4] + 0; advice[f[2]] = f[5] }
	else if (f[1] == "include") { allow[++allows] = f[2]; allow_where[allows] = f[3] }
	else if (f[1] == "ban") add_ban(f)
	else { print FILENAME ":" FNR ": unknown kind of rule " f[1]; errors++ }
}

function add_ban(f,    words) {
	words = f[2]
	gsub(/ +/, "|", words)
	ban[++bans] = "(^|[^A-Za-z0-9_.>])(" words ")[ \t]*\\("
	ban_where[bans] = f[3]; ban_not[bans] = f[4]; ban_advice[bans] = f[5]
}

# Takes comments and the insides of strings out of a line; comment says whether one is open.
function code_of(s,    out, c, d) {
	out = ""
	while (s != "") {
		c = substr(s, 1, 1); d = substr(s, 1, 2)
		if (comment) {
			if (d == "*/") { comment = 0; s = substr(s, 3) } else s = substr(s, 2)
		} else if (d == "/*") { comment = 1; s = substr(s, 3)
		} else if (d == "//") { return out
		} else if (c == "\"" || c == "'") {
			s = match(substr(s, 2), c == "\"" ? /^([^"\\]|\\.)*"/ : /^([^'\\]|\\.)*'/) ? \
				substr(s, RLENGTH + 2) : ""
			out = out c c
		} else if (match(s, /^[^"'\/]+/)) { out = out substr(s, 1, RLENGTH); s = substr(s, RLENGTH + 1)
		} else { out = out c; s = substr(s, 2) }
	}
	return out
}

function check_include(s,    header, layered, i) {
	sub(/^[ \t]*#[ \t]*include[ \t]*/, "", s)
	if (!match(s, /^(<[^>]*>|"[^"]*")/)) { refuse(FILENAME, FNR, "include names no file"); return }
	header = substr(s, 1, RLENGTH)
	if (header ~ /\.c[>"]$/) {
		refuse(FILENAME, FNR, "include of " header ": a source is compiled once, in its own layer")
		return
	}
	for (i = 1; i <= allows; i++) {
		if (FILENAME !~ allow_where[i]) continue
		layered = 1
		if (header ~ "^" allow[i] "$") return
	}
	if (layered) refuse(FILENAME, FNR, "include of " header " is not for this layer (tools/lint.rules lists what is)")
}

function check_calls(code,    i, name) {
	for (i = 1; i <= bans; i++) {
		if (FILENAME !~ ban_where[i] || (ban_not[i] != "-" && FILENAME ~ ban_not[i])) continue
		if (!match(code, ban[i])) continue
		name = substr(code, RSTART, RLENGTH)
		gsub(/[^A-Za-z0-9_]/, "", name)
		refuse(FILENAME, FNR, name " is banned here: " ban_advice[i])
	}
}

function end_file() {
	if (file == "") return
	over("file_lines", lines, file, lines, "file of " lines " lines")
	comment = 0
	opened = 0
}

NR == FNR { read_rule(); next }

FNR == 1 { end_file(); file = FILENAME }

{
	lines = FNR
	over("line_columns", length($0), FILENAME, FNR, "line of " length($0) " columns")
	if ($0 ~ /[ \t]+$/) refuse(FILENAME, FNR, "space at the end of the line: remove it")
	code = code_of($0)
	if (code ~ /^[ \t]*#[ \t]*include/) check_include($0)
	else check_calls(code)
	if (code ~ /^\{/) opened = FNR
	if (code ~ /^\}/ && opened) {
		over("function_lines", FNR - opened + 1, FILENAME, opened, "function of " FNR - opened + 1 " lines")
		opened = 0
	}
}

END { end_file(); exit errors > 0 }
