#!/usr/bin/env bash
# Counts what ranks fetch on real servers, by the number of ranks, and keeps it for the figure p6, so that the
# figure can be drawn where the servers are not: a few minutes, about 4 GB of memory.
#
#   tools/read_amplification.sh FOLDER [STEP...]
#
# Steps, all where none is named:
#   start       Ceph RGW and VersityGW (tests/servers) below FOLDER, and their bucket
#   live        for 1, 2, 4, 8 and 16 ranks: a run of STEPS=64 steps is made by `produce`, sliced for them, then read
#               by `consume`; FOLDER/<server>-<ranks>.json holds what it counted
#   keep        configs/reference/p6.csv, from those
#   stop        both servers
# LAKESTREAM names the program (build/lakestream).
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:?usage: tools/read_amplification.sh FOLDER [start|live|keep|stop...]}
shift
todo=${*:-start live keep stop}
program=${LAKESTREAM:-build/lakestream}
reference=configs/reference/p6.csv
bucket=lakestream
servers='rgw versitygw'
worlds='1 2 4 8 16'
slice=1048576
declare -A port=([rgw]=7680 [versitygw]=7690)

# of SERVER: its address and keys, into the environment.
reach() {
    eval "$(cat "$folder/$1.env")"
}

start() {
    mkdir -p "$folder"
    for server in $servers; do
        PORT=${port[$server]} tests/servers/$server.sh start "$folder/$server" >"$folder/$server.env"
        (reach $server && tests/servers/request.sh PUT /$bucket >/dev/null)
    done
}

stop() {
    for server in $servers; do
        tests/servers/$server.sh stop "$folder/$server"
    done
}

# A TGB with room for slices of exactly so many bytes: an index, and a header and a row of it for each.
tgb_bytes() { # RANKS
    echo $((64 + $1 * (slice + 64)))B
}

live() {
    for server in $servers; do
        for ranks in $worlds; do
            (
                reach "$server"
                url=s3://$bucket/p6-$ranks
                "$program" produce "$url" --count "${STEPS:-64}" --bytes "$(tgb_bytes "$ranks")" --policy fixed \
                    --set policy.fixed.gap=200ms --set "tgb.mesh=${ranks}x1" >/dev/null
                "$program" consume "$url" --ranks "$ranks" --steps "${STEPS:-64}" --from 1 --json >"$folder/$server-$ranks.json"
                "$program" remove "$url" --yes >/dev/null
            )
        done
    done
}

processor() {
    sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1
}

keep() {
    {
        echo "# What ranks fetched on real servers, kept by tools/read_amplification.sh."
        echo "# Machine: $(processor), $(nproc) cores, Linux $(uname -r | cut -d- -f1); servers, producer and ranks share it."
        echo "# Program: $("$program" --version | cut -d " " -f 2), $(date -u +%Y-%m-%d)."
        echo "# Servers: Ceph RGW $(radosgw --version | awk '{print $3}') on memstore;" \
            "VersityGW $(sed -n 's/^version=//p' tests/servers/versitygw.sh) over a directory."
        echo 'server,ranks,given,needed_bytes,slice_requests,slice_bytes,chain_bytes,requests,wire_bytes'
        for server in $servers; do
            for ranks in $worlds; do
                python3 - "$server" "$ranks" "$folder/$server-$ranks.json" <<'PYTHON'
import json, sys
server, ranks, path = sys.argv[1:]
rows = json.load(open(path))["ranks"]
assert len(rows) == int(ranks)
asked = lambda kind, what: sum(row["asked"][kind][what] for row in rows)
total = lambda name: sum(row[name] for row in rows)
requests = sum(part["requests"] for row in rows for part in row["asked"].values())
print(server, ranks, total("steps"), total("bytes"), asked("slice", "requests"), asked("slice", "bytes"),
      asked("chain", "bytes"), requests, total("wire_bytes"), sep=",")
PYTHON
            done
        done
    } >"$reference"
    echo "$(grep -vc '^#' "$reference") lines in $reference"
}

for step in $todo; do
    case $step in
    start | live | keep | stop) "$step" ;;
    *)
        echo "tools/read_amplification.sh: no step '$step'" >&2
        exit 2
        ;;
    esac
done
