#!/usr/bin/env bash
# A real S3 server for tests: Ceph's gateway (RGW) over one monitor and one object daemon, as plain
# processes of this user, on one address. No containers, no systemd.
#
#   tests/servers/rgw.sh start FOLDER          makes everything below FOLDER, which must be new or empty
#   tests/servers/rgw.sh up FOLDER             starts again what is not running
#   tests/servers/rgw.sh kill-gateway FOLDER   kill -9 of the gateway alone
#   tests/servers/rgw.sh stop FOLDER           ends all three; FOLDER stays
#
# start and up print lines for a shell to evaluate: export AWS_ENDPOINT_URL=... and so on.
# In the environment, for start; `up` goes on with what start was given:
#   ADDRESS=127.0.0.1   PORT=, TLS_PORT=   where it serves (none: free ports)
#   TLS=yes             serves https, too; prints HTTPS_ENDPOINT_URL and AWS_CA_BUNDLE
#   STORE=memstore      data in memory, up after 3 s; STORE=bluestore: on disk, outlives `stop`
#   ACCESS_KEY=, SECRET_KEY=
# Needs Debian's radosgw, ceph-mon and ceph-osd (make deps installs them), about 1 GB of memory.
set -euo pipefail
server=rgw.sh
# shellcheck source=tests/servers/common.sh
. "$(dirname "$0")/common.sh"

usage() { fail 2 "usage: rgw.sh start|up|kill-gateway|stop FOLDER"; }
[ $# -eq 2 ] || usage
action=$1
folder=$(folder_of "$2")
conf=$folder/ceph.conf
ceph_options=(--conf "$conf")
ceph() { command timeout 60 ceph "${ceph_options[@]}" "$@"; }

check_installed() {
	local program
	for program in radosgw radosgw-admin ceph ceph-mon ceph-osd monmaptool; do
		command -v "$program" >/dev/null || fail "$cannot_run" "$program is not installed; run:" \
			"apt-get install -y --no-install-recommends radosgw ceph-mon ceph-osd"
	done
}

# Settings of start, kept for `up`.
settle() {
	local ports
	mapfile -t ports < <(free_ports 4)
	address=${ADDRESS:-127.0.0.1}
	port=${PORT:-${ports[0]}}
	tls_port=
	[ "${TLS:-no}" != yes ] || tls_port=${TLS_PORT:-${ports[1]}}
	monitor_ports=("${ports[2]}" "${ports[3]}")
	store=${STORE:-memstore}
	case $store in memstore | bluestore) ;; *) fail 2 "STORE=$store: memstore or bluestore" ;; esac
	access_key=${ACCESS_KEY:-lakestream-access}
	secret_key=${SECRET_KEY:-lakestream-secret-0123456789abcdef}
	declare -p address port tls_port access_key secret_key >"$folder/settings"
}

write_conf() { # CLUSTER-UUID
	local frontend="endpoint=$address:$port tcp_nodelay=1"
	[ -z "$tls_port" ] || frontend+=" ssl_endpoint=$address:$tls_port ssl_certificate=$folder/tls/server.pem ssl_private_key=$folder/tls/server.key"
	cat >"$conf" <<CONF
[global]
fsid = $1
mon initial members = a
mon host = [v2:$address:${monitor_ports[0]},v1:$address:${monitor_ports[1]}]
public addr = $address
cluster addr = $address
auth cluster required = none
auth service required = none
auth client required = none
auth supported = none
keyring = /dev/null
# Without keys there is nothing to encrypt by; the gateway would wait for it for ever.
ms mon client mode = crc
ms bind ipv6 = false
run dir = $folder/run
admin socket = $folder/run/\$name.asok
pid file = $folder/run/\$name.pid
log file = $folder/log/\$name.log
crash dir = $folder/log
# One daemon holds everything, once.
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon max pg per osd = 5000
mon data avail crit = 1
mon data avail warn = 1
[mon.a]
mon data = $folder/mon
mon cluster log file = $folder/log/cluster.log
# Pools are made in many small steps: do not wait before each.
paxos propose interval = 0.05
paxos min wait = 0.01
[osd]
osd data = $folder/osd
osd objectstore = $store
memstore device bytes = 4294967296
bluestore block create = true
bluestore block size = 8589934592
osd class load list = *
osd memory target = 1073741824
[client.rgw.a]
rgw data = $folder/gateway
rgw frontends = beast $frontend
rgw enable apis = s3
rgw init timeout = 30
rgw gc obj min wait = 15
rgw gc processor period = 15
rgw gc processor max time = 15
rgw enable lc threads = false
rgw run sync thread = false
rgw rados pool pg num min = 1
rgw override bucket index max shards = 1
rgw dns name =
CONF
}

# run WHAT COMMAND...: its output is only shown when it fails.
run() {
	"${@:2}" >"$folder/log/start" 2>&1 ||
		fail 1 "$1 failed: $(tail -n 3 "$folder/log/start" | tr '\n' ' ')(logs: $folder/log)"
}

make_cluster() {
	local cluster daemon
	cluster=$(cat /proc/sys/kernel/random/uuid)
	daemon=$(cat /proc/sys/kernel/random/uuid)
	write_conf "$cluster"
	run monmaptool monmaptool --create --clobber --fsid "$cluster" \
		--addv a "[v2:$address:${monitor_ports[0]},v1:$address:${monitor_ports[1]}]" "$folder/monmap"
	run 'ceph-mon --mkfs' ceph-mon "${ceph_options[@]}" --mkfs -i a --monmap "$folder/monmap" \
		--keyring /dev/null
	run ceph-mon ceph-mon "${ceph_options[@]}" -i a
	run 'ceph osd new' ceph osd new "$daemon" 0
	run 'ceph-osd --mkfs' ceph-osd "${ceph_options[@]}" -i 0 --mkfs --osd-uuid "$daemon"
	run 'ceph osd crush' ceph osd crush add osd.0 1.0 root=default host=localhost
	run ceph-osd ceph-osd "${ceph_options[@]}" -i 0
	for _ in $(seq 100); do
		ceph osd stat 2>/dev/null | grep -q '1 up' && break
		sleep 0.1
	done
	run 'radosgw-admin user create' radosgw-admin "${ceph_options[@]}" --name client.rgw.a \
		user create --uid=test --display-name=test \
		--access-key="$access_key" --secret-key="$secret_key"
}

start_gateway() {
	rm -f "$folder/run/client.rgw.a.pid" # of one that was killed
	run radosgw radosgw "${ceph_options[@]}" --name client.rgw.a
	wait_until_listens "$folder/run/client.rgw.a.pid" "$address" "$port" ||
		fail 1 "the gateway does not serve at $address:$port; logs: $folder/log"
}

say_environment() {
	echo "export AWS_ACCESS_KEY_ID=$access_key AWS_SECRET_ACCESS_KEY=$secret_key AWS_REGION=us-east-1"
	echo "export AWS_ENDPOINT_URL=http://$address:$port"
	[ -z "$tls_port" ] ||
		echo "export HTTPS_ENDPOINT_URL=https://$address:$tls_port AWS_CA_BUNDLE=$folder/tls/ca.pem"
}

stop_daemon() { stop_process "$folder/run/$1.pid" "$conf" "$2"; }
runs() { # NAME
	local pid
	pid=$(cat "$folder/run/$1.pid" 2>/dev/null) && is_ours "$pid" "$conf"
}
stop_all() {
	stop_daemon client.rgw.a KILL
	stop_daemon osd.0 TERM
	stop_daemon mon.a TERM
}

check_made_here() {
	[ -f "$folder/settings" ] || fail 1 "$folder: rgw.sh start has not made it"
}

case $action in
start)
	check_installed
	mkdir -p "$folder"
	[ -z "$(ls -A "$folder")" ] || fail 1 "$folder is not empty; take a new folder, or use up"
	mkdir "$folder"/{mon,osd,run,log,gateway}
	settle
	[ -z "$tls_port" ] || make_certificate "$folder/tls" "$address"
	trap stop_all EXIT
	make_cluster
	start_gateway
	trap - EXIT
	say_environment
	;;
up)
	check_installed
	check_made_here
	# shellcheck source=/dev/null
	. "$folder/settings"
	runs mon.a || run ceph-mon ceph-mon "${ceph_options[@]}" -i a
	runs osd.0 || run ceph-osd ceph-osd "${ceph_options[@]}" -i 0
	runs client.rgw.a || start_gateway
	say_environment
	;;
kill-gateway)
	check_made_here
	stop_daemon client.rgw.a KILL
	;;
stop)
	stop_all
	;;
*) usage ;;
esac
