/* incident_list.c - see incident_list.h. */
#include "experiments/config/incident_list.h"

#include <stdio.h>
#include <string.h>

#include "experiments/config/config.h"
#include "experiments/config/units.h"

#define EXAMPLE "such as producer:0-1@60s+20s or outage@4min+15s"

static bool refuse(const char *text, const char *wrong, struct diagnostic *diagnostic)
{
    diagnostic_set(diagnostic, "'%.80s': %.200s; an incident is written %s", text, wrong, EXAMPLE);
    return false;
}

static bool find_kind(const char *word, enum incident_kind *kind)
{
    for (int k = 0; k < INCIDENT_KIND_COUNT; k++)
        if (strcmp(word, incident_kind_name((enum incident_kind)k)) == 0) {
            *kind = (enum incident_kind)k;
            return true;
        }
    return false;
}

/* Cuts the text at the first of this character. NULL if there is none. */
static char *cut(char *text, char at)
{
    char *found = text != NULL ? strchr(text, at) : NULL;
    if (found == NULL)
        return NULL;
    *found = '\0';
    return found + 1;
}

/* "2" or "0-7". */
static bool parse_processes(char *word, struct incident *incident, struct diagnostic *diagnostic)
{
    uint64_t first;
    uint64_t last;
    char *end = cut(word, '-');
    if (!unit_parse_count(word, &first, diagnostic))
        return false;
    last = first;
    if (end != NULL && !unit_parse_count(end, &last, diagnostic))
        return false;
    if (last < first || last >= CONFIG_RANKS_MAX) {
        diagnostic_set(diagnostic, "there are no processes %s to %s", word,
                       end != NULL ? end : word);
        return false;
    }
    incident->first = (uint32_t)first;
    incident->count = (uint32_t)(last - first + 1);
    return true;
}

static bool parse_one(const char *text, struct incident *incident, struct diagnostic *diagnostic)
{
    char kind[CONFIG_PATH_MAX];
    struct diagnostic reason;
    snprintf(kind, sizeof(kind), "%s", text);
    char *at = cut(kind, '@');
    char *length = cut(at, '+');
    char *processes = cut(kind, ':');
    *incident = (struct incident){.count = 1};
    if (!find_kind(kind, &incident->kind))
        return refuse(text, "its kind is not producer, rank, rollback or outage", diagnostic);
    bool names_processes = incident->kind != INCIDENT_OUTAGE;
    if (length == NULL || (processes != NULL) != names_processes)
        return refuse(text, "not a kind, its processes, when, and for how long", diagnostic);
    if ((names_processes && !parse_processes(processes, incident, &reason)) ||
        !unit_parse_duration(at, &incident->at_ns, &reason) ||
        !unit_parse_duration(length, &incident->for_ns, &reason))
        return refuse(text, reason.text, diagnostic);
    return incident->for_ns > 0 || refuse(text, "it lasts no time", diagnostic);
}

bool incident_list_parse(const char *text, struct incident_list *list,
                         struct diagnostic *diagnostic)
{
    char copy[CONFIG_PATH_MAX];
    assert(strlen(text) < sizeof(copy));
    snprintf(copy, sizeof(copy), "%s", text);
    *list = (struct incident_list){0};
    for (char *one = *copy != '\0' ? copy : NULL; one != NULL;) {
        char *next = cut(one, ',');
        if (list->count == INCIDENT_LIST_MAX)
            return refuse(one, "it is one too many, 32 are allowed", diagnostic);
        if (!parse_one(one, &list->items[list->count++], diagnostic))
            return false;
        one = next;
    }
    return true;
}
