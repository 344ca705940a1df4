/* results_schema.h - the results database's schema. A change raises RESULTS_SCHEMA and adds a step
 * that brings an older file up to date. */
#ifndef EXPERIMENTS_RESULTS_SCHEMA_H
#define EXPERIMENTS_RESULTS_SCHEMA_H

#define RESULTS_APPLICATION_ID 0x4c6b5374 /* "LkSt": what file(1) and this program know it by */

/* All in one transaction. */
static const char results_schema_sql[] =
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE run("
    "  id INTEGER PRIMARY KEY,"
    "  experiment TEXT NOT NULL, arm TEXT NOT NULL, arm_group TEXT NOT NULL,"
    "  sweep_key TEXT NOT NULL, sweep_value REAL,"
    "  mode TEXT NOT NULL CHECK(mode IN ('sim', 'live')),"
    "  store TEXT NOT NULL, config_hash TEXT NOT NULL, config TEXT NOT NULL,"
    "  seed INTEGER NOT NULL, \"commit\" TEXT NOT NULL, started TEXT NOT NULL,"
    "  wall_s REAL NOT NULL, digest TEXT NOT NULL, violations INTEGER NOT NULL,"
    "  machine TEXT NOT NULL,"
    "  UNIQUE(experiment, arm, mode, config_hash, seed));"
    "CREATE TABLE metric("
    "  run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,"
    "  name TEXT NOT NULL, unit TEXT NOT NULL, value REAL NOT NULL,"
    "  PRIMARY KEY(run, name)) WITHOUT ROWID;"
    "CREATE TABLE series("
    "  run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,"
    "  name TEXT NOT NULL, t REAL NOT NULL, value REAL NOT NULL,"
    "  PRIMARY KEY(run, name, t)) WITHOUT ROWID;"
    "CREATE TABLE series_unit(name TEXT PRIMARY KEY, unit TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE selected("
    "  experiment TEXT NOT NULL, arm TEXT NOT NULL, mode TEXT NOT NULL,"
    "  config_hash TEXT NOT NULL,"
    "  PRIMARY KEY(experiment, arm, mode)) WITHOUT ROWID;"
    "CREATE VIEW current_run AS SELECT run.* FROM run"
    "  JOIN selected USING(experiment, arm, mode, config_hash);";

#endif
