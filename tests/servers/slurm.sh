#!/usr/bin/env bash
# A real Slurm cluster on this machine: one slurmctld, and NODES nodes, each a slurmd of its own.
#
#   tests/servers/slurm.sh start FOLDER
#   tests/servers/slurm.sh stop FOLDER
#
# start prints a line for a shell to evaluate, export SLURM_CONF=...; srun, sbatch and sinfo then talk to this
# cluster. NODES=4 in the environment says how many nodes. All listen on free ports of 127.0.0.1, run as the user who
# starts them, and trust whoever reaches them: for tests only.
# Needs Debian's slurmctld, slurmd and slurm-client, 12 MB, which make deps-servers installs.
set -euo pipefail
server=slurm.sh
# shellcheck source=tests/servers/common.sh
. "$(dirname "$0")/common.sh"

usage() { fail 2 "usage: slurm.sh start|stop FOLDER"; }
[ $# -eq 2 ] || usage
folder=$(folder_of "$2")
nodes=${NODES:-4}
unset "${!SLURM_@}"
export SLURM_CONF=$folder/slurm.conf PATH=$PATH:/usr/sbin:/sbin

write_config() {
	local ports host user
	mapfile -t ports < <(free_ports $((nodes + 1)))
	host=$(hostname -s)
	user=$(id -un)
	{
		cat <<-CONF
			ClusterName=test
			SlurmctldHost=$host(127.0.0.1)
			SlurmctldPort=${ports[0]}
			SlurmUser=$user
			SlurmdUser=$user
			AuthType=auth/none
			CredType=cred/none
			StateSaveLocation=$folder/state
			SlurmdSpoolDir=$folder/spool-%n
			SlurmctldPidFile=$folder/slurmctld.pid
			SlurmdPidFile=$folder/slurmd-%n.pid
			ProctrackType=proctrack/linuxproc
			TaskPlugin=task/none
			MpiDefault=none
			SwitchType=switch/none
			SlurmdParameters=config_overrides
			ReturnToService=2
			PartitionName=test Nodes=ALL Default=YES State=UP
		CONF
		for ((i = 0; i < nodes; i++)); do
			echo "NodeName=n$i NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[i + 1]} CPUs=1"
		done
	} >"$SLURM_CONF"
}

all_idle() { [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = "$nodes" ]; }

start() {
	local missing
	for missing in slurmctld slurmd srun sinfo; do
		command -v $missing >/dev/null || fail "$cannot_run" "$missing is not installed here; make deps-servers says how"
	done
	[ ! -e "$folder" ] || fail 2 "$folder is there already; stop it and remove it, or name another"
	mkdir -p "$folder/state"
	write_config
	slurmctld -D -f "$SLURM_CONF" >"$folder/slurmctld.log" 2>&1 </dev/null &
	for ((i = 0; i < nodes; i++)); do
		mkdir "$folder/spool-n$i"
		slurmd -D -f "$SLURM_CONF" -N "n$i" >"$folder/slurmd-n$i.log" 2>&1 </dev/null &
	done
	for _ in $(seq 200); do
		! all_idle || break
		sleep 0.1
	done
	all_idle || {
		tail -n 3 -- "$folder"/*.log >&2
		stop
		fail 1 "the nodes did not come up in 20 s"
	}
	echo "export SLURM_CONF=$SLURM_CONF"
}

stop() {
	local file
	for file in "$folder"/slurmd-*.pid "$folder/slurmctld.pid"; do
		stop_process "$file" "$SLURM_CONF" TERM
	done
}

case $1 in
start) start ;;
stop) stop ;;
*) usage ;;
esac
