/* query.h - `lakestream query`: reads the results database; never changes it. */
#ifndef EXPERIMENTS_QUERY_H
#define EXPERIMENTS_QUERY_H

#include <stdbool.h>

/* argv[0] is the verb. Prints to stdout, errors to stderr. Exit status: 0 done, 1 the database
 * could not be read or the SQL failed, 2 usage. */
int query_main(int argc, char **argv);

/* The same summary of these arms of one experiment and no others. */
struct query_shown {
    const char *db;
    const char *experiment;
    const char *arms; /* names as a JSON array */
    bool json;
};

int query_show(const struct query_shown *shown);

#endif
