/* verbs.h - the entry points of the verbs that have no header of their own. argv[0] is the verb;
 * the result is the process's exit status. */
#ifndef EXPERIMENTS_VERBS_H
#define EXPERIMENTS_VERBS_H

int list_main(int argc, char **argv);
int sim_main(int argc, char **argv);
int live_main(int argc, char **argv);
int reproduce_main(int argc, char **argv);
int produce_main(int argc, char **argv);
int consume_main(int argc, char **argv);
int digest_main(int argc, char **argv);
int gc_main(int argc, char **argv);
int probe_main(int argc, char **argv);
int remove_main(int argc, char **argv);
int inspect_main(int argc, char **argv);
int swarm_main(int argc, char **argv);
int calibrate_main(int argc, char **argv);
int validate_main(int argc, char **argv);
int bench_main(int argc, char **argv);

#endif
