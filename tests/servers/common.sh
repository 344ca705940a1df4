# What the scripts that start test servers share; sourced. Messages begin with $server.
#
# Exit status of those scripts: 0 done, 1 failed, 2 usage, 3 something is not installed here.
# shellcheck shell=bash disable=SC2034,SC2154
cannot_run=3

fail() { # STATUS MESSAGE...
	echo "$server: ${*:2}" >&2
	exit "$1"
}

# What the person who runs this has set for S3 is not used, and nobody is asked for keys.
forget_user() {
	unset AWS_PROFILE AWS_SESSION_TOKEN AWS_ENDPOINT_URL AWS_ENDPOINT_URL_S3 AWS_DEFAULT_REGION AWS_CA_BUNDLE
	export AWS_SHARED_CREDENTIALS_FILE=/dev/null AWS_CONFIG_FILE=/dev/null AWS_EC2_METADATA_DISABLED=true
}

# folder_of TEXT: as an absolute path; the folder need not be there.
folder_of() { realpath -m -- "$1"; }

alive() { # PID
	local stat
	stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
	stat=${stat##*) }
	[ "${stat:0:1}" != Z ]
}

# is_ours PID TEXT: the process lives, and its command line holds TEXT (a path in our folder). A pid
# file may be older than the process that has its number now.
is_ours() {
	alive "$1" && tr '\0' ' ' <"/proc/$1/cmdline" 2>/dev/null | grep -qF -- "$2"
}

# stop_process PID-FILE TEXT SIGNAL: ends the process of the pid file, if it is ours; kills it after
# 5 s.
stop_process() {
	local pid
	pid=$(cat "$1" 2>/dev/null) || return 0
	[ -n "$pid" ] && is_ours "$pid" "$2" || return 0
	kill "-$3" "$pid" 2>/dev/null || true
	for _ in $(seq 100); do
		alive "$pid" || return 0
		sleep 0.05
	done
	kill -KILL "$pid" 2>/dev/null || true
}

listens() { # ADDRESS PORT
	(exec 3<>"/dev/tcp/$1/$2") 2>/dev/null
}

# free_ports COUNT: so many different ports that nobody listens at now, on lines. Below those that
# the system hands out to clients.
free_ports() {
	local used port count=0
	used=$(cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | awk '{split($2, a, ":"); print a[2]}')
	while [ "$count" -lt "$1" ]; do
		port=$((10000 + ($(od -An -N2 -tu2 /dev/urandom)) % 20000))
		grep -qi "^$(printf %04X "$port")$" <<<"$used" && continue
		used+=$'\n'$(printf %04X "$port")
		echo "$port"
		count=$((count + 1))
	done
}

# wait_until_listens PID-FILE ADDRESS PORT: up to 20 s, or until the process is gone.
wait_until_listens() {
	local pid
	for _ in $(seq 400); do
		listens "$2" "$3" && return 0
		pid=$(cat "$1" 2>/dev/null) || pid=
		[ -z "$pid" ] || alive "$pid" || return 1
		sleep 0.05
	done
	return 1
}

# make_certificate FOLDER ADDRESS: a certificate authority of our own (ca.pem) and a certificate
# (server.pem, server.key) for the address and for localhost, good for ten days.
make_certificate() {
	mkdir -p "$1"
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 10 \
		-subj '/CN=Lakestream test authority' -keyout "$1/ca.key" -out "$1/ca.pem" 2>/dev/null
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
		-subj "/CN=$2" -keyout "$1/server.key" -out "$1/server.csr" 2>/dev/null
	openssl x509 -req -in "$1/server.csr" -CA "$1/ca.pem" -CAkey "$1/ca.key" -CAcreateserial \
		-days 10 -out "$1/server.pem" 2>/dev/null \
		-extfile <(printf 'subjectAltName=IP:%s,DNS:localhost\n' "$2")
}
