/* query.h - `lakestream query`: reads the results database; never changes it. */
#ifndef EXPERIMENTS_QUERY_H
#define EXPERIMENTS_QUERY_H

/* argv[0] is the verb. Prints to stdout, errors to stderr. Exit status: 0 done, 1 the database
 * could not be read or the SQL failed, 2 usage. */
int query_main(int argc, char **argv);

#endif
