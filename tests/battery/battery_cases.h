/* battery_cases.h - the cases of the battery by what they are about; store_battery.c has the rest
 * and the table of all. Each blocks until its operations are done. */
#ifndef TESTS_BATTERY_CASES_H
#define TESTS_BATTERY_CASES_H

#include "tests/battery/store_battery.h"

/* battery_keys.c: names. */
void battery_odd_keys(const struct store_battery *battery);
void battery_longest_key(const struct store_battery *battery);
void battery_key_below_a_key(const struct store_battery *battery);

/* battery_listings.c: pages. */
void battery_empty_listing(const struct store_battery *battery);
void battery_listing_order(const struct store_battery *battery);
void battery_listing_prefix_and_after(const struct store_battery *battery);
void battery_paging(const struct store_battery *battery);

/* battery_bounds.c: how much is read. */
void battery_longer_than_asked_for(const struct store_battery *battery);
void battery_as_long_as_its_head_says(const struct store_battery *battery);

/* battery_races.c: many at once. */
void battery_one_winner(const struct store_battery *battery);
void battery_one_large_winner(const struct store_battery *battery);
void battery_mixed_at_once(const struct store_battery *battery);
void battery_resubmit_in_done(const struct store_battery *battery);

#endif
