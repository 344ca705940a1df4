#!/usr/bin/env bash
# Calibrates two real stores on this machine, runs the experiment sim_vs_live on them, and keeps what
# it found, so that the figure can be drawn where they are not: about half an hour, on an idle machine.
#
#   tools/sim_vs_live.sh FOLDER [STEP...]
#
# Steps, all where none is named:
#   start       both servers (tests/servers) below FOLDER, and their bucket
#   calibrate   configs/profiles/rgw-loopback.yaml and versitygw-loopback.yaml
#   live        the experiment, SEEDS=1 times, into FOLDER/sim_vs_live.db (what is there is left out)
#   keep        configs/reference/sim_vs_live.csv, from that database
#   stop        both servers
# LAKESTREAM names the program (build/lakestream).
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:?usage: tools/sim_vs_live.sh FOLDER [start|calibrate|live|keep|stop...]}
shift
steps=${*:-start calibrate live keep stop}
program=${LAKESTREAM:-build/lakestream}
experiment=configs/experiments/sim_vs_live.yaml
reference=configs/reference/sim_vs_live.csv
database=$folder/sim_vs_live.db
bucket=lakestream
declare -A port=([rgw]=7680 [versitygw]=7690)

# of SERVER: its address and keys, into the environment.
reach() {
    eval "$(cat "$folder/$1.env")"
}

start() {
    mkdir -p "$folder"
    for server in rgw versitygw; do
        PORT=${port[$server]} tests/servers/$server.sh start "$folder/$server" >"$folder/$server.env"
        (reach $server && tests/servers/request.sh PUT /$bucket >/dev/null)
    done
}

stop() {
    for server in rgw versitygw; do
        tests/servers/$server.sh stop "$folder/$server"
    done
}

calibrate() {
    for server in rgw versitygw; do
        (reach $server && "$program" calibrate s3://$bucket --out configs/profiles/$server-loopback.yaml)
    done
}

# Both servers know the same keys; the config says where each of them is.
live() {
    (reach rgw && unset AWS_ENDPOINT_URL && "$program" live $experiment --db "$database" --missing --seeds "${SEEDS:-1}" >/dev/null)
}

# value KEY: of the config that all arms share.
value() {
    "$program" query --db "$database" --csv --sql "SELECT config FROM current_run LIMIT 1" |
        awk -v key="$1" '$1 == key {print $2; exit}'
}

processor() {
    sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1
}

keep() {
    mkdir -p "$(dirname "$reference")"
    {
        echo "# Live runs of $experiment, kept by tools/sim_vs_live.sh."
        echo "# Machine: $(processor), $(nproc) cores, Linux $(uname -r | cut -d- -f1); servers and producers share it."
        echo "# Servers: Ceph RGW $(radosgw --version | awk '{print $3}') on memstore;" \
            "VersityGW $(sed -n 's/^version=//p' tests/servers/versitygw.sh) over a directory."
        "$program" query --db "$database" --csv --sql "
            SELECT r.arm AS arm, r.seed AS seed, s.value AS success, m.value AS committed_mb_s,
                a.value AS attempts, '$(value workload.rate)' AS rate, '$(value workload.tgb)' AS tgb,
                $(value run.duration | tr -d s) AS duration_s, r.\"commit\" AS \"commit\",
                r.started AS started
            FROM current_run r JOIN metric s ON s.run = r.id AND s.name = 'success'
                JOIN metric m ON m.run = r.id AND m.name = 'committed_mb_s'
                JOIN metric a ON a.run = r.id AND a.name = 'attempts'
            WHERE r.experiment = 'sim_vs_live' AND r.mode = 'live' AND NOT EXISTS
                (SELECT 1 FROM metric g WHERE g.run = r.id AND g.name = 'resumed' AND g.value > 0)
            ORDER BY r.id"
    } >"$reference"
    echo "$(grep -vc '^#' "$reference") lines in $reference"
}

for step in $steps; do
    case $step in
    start | calibrate | live | keep | stop) "$step" ;;
    *)
        echo "tools/sim_vs_live.sh: no step '$step'" >&2
        exit 2
        ;;
    esac
done
