# plants.sh - the bugs: plant NAME CHECKERS FILE SED... Each is a mistake that somebody could make in
# good faith. The sed scripts see the whole file as one line (-z) and use extended expressions.

plant unknown_is_lost 'report' commit.c \
	's/(counters\.unknown\+\+;\n *)break;/\1return send_validation(commit, COMMIT_INTENT_LOST);/'
plant unknown_is_won 'report' commit.c \
	's/(counters\.unknown\+\+;\n *)break;/\1set_known(commit, manifest_retain(commit->sent)); return send_validation(commit, COMMIT_INTENT_WON);/'
plant exists_is_lost 'report' commit.c \
	's/(case STORE_EXISTS:)(\n *case STORE_NOT_FOUND:)/\1 return send_validation(commit, COMMIT_INTENT_LOST);\2/'
plant mine_by_epoch 'report|fence' commit_rebase.c \
	's/(enum commit_intent commit_judge\(struct commit \*commit\)\n\{)/\1 if (commit->known->author.producer == commit->options.producer) return commit->known->author.epoch == commit->sent->author.epoch ? COMMIT_INTENT_WON : COMMIT_INTENT_LOST;/' \
	's/assert\(is_mine\(commit, state\)\);//'
plant mine_by_attempt 'report|fence' commit_rebase.c \
	's/(enum commit_intent commit_judge\(struct commit \*commit\)\n\{)/\1 if (commit->known->author.producer == commit->options.producer) return commit->known->author.attempt == commit->attempts ? COMMIT_INTENT_WON : COMMIT_INTENT_LOST;/' \
	's/assert\(is_mine\(commit, state\)\);//'
plant sent_is_adopted 'report' commit.c \
	's/return send_validation\(commit, commit_judge\(commit\)\);/enum commit_intent intent = commit_judge(commit); if (intent == COMMIT_INTENT_WON) set_known(commit, manifest_retain(commit->sent)); return send_validation(commit, intent);/'
plant own_late_create_is_refused 'end' commit_rebase.c \
	's/if \(!offset_of\(commit, state->last_sequence/if (state->last_sequence != commit->committed_sequence || !offset_of(commit, state->last_sequence/'
plant no_floor_read_after 'report|end|chain|reclaim' commit.c \
	's/(static struct commit_effect on_validation[^{]*\{)/\1 commit->op.page.count = 0;/'
plant floor_is_not_compared 'report' commit.c \
	's/if \(commit->seen\.floor\.version > commit->lowest_used\)/if (0)/'
plant won_is_not_compared_with_the_floor 'report' commit.c \
	's/if \(commit->seen\.floor\.version > commit->lowest_used\)/if (commit->intent != COMMIT_INTENT_WON \&\& commit->seen.floor.version > commit->lowest_used)/'
plant lowest_floor_is_trusted 'report|end|chain|reclaim|reader' chain_view.c \
	's/(floor_seen = true;\n *raise_floor\(view, floor\);)/\1\n        break;/'
plant producer_removes_a_version 'chain|report' commit.c \
	's/(counters\.unknown\+\+;\n *)break;/\1store_op_prepare(\&commit->op, STORE_DELETE); name_version(commit->op.key, commit->sent->version); commit->intent = COMMIT_INTENT_LOST; return effect_submit(commit, COMMIT_VALIDATING);/'
plant epoch_check_is_forgotten 'fence|end' commit_rebase.c \
	's/if \(state->epoch > commit->epoch \|\| !is_mine\(commit, state\)\)/if (0)/'
plant fencing_keeps_the_epoch 'fence|end' commit_rebase.c \
	's/(uint32_t epoch = )\(state[^;]*\) \+ 1;/\1state != NULL ? state->epoch : 1;/'
plant one_rebase_is_skipped 'chain|steps' commit.c \
	's/(static struct commit_effect found_newest[^{]*\{)/\1 if (commit->known \&\& commit->epoch != 0 \&\& commit->seen.newest == commit->known->version + 1) { commit->lowest_used = commit->known->version; set_sent(commit, commit_build_next(commit, now_ns)); commit->sent->version++; commit->sent->base_version++; return send_create(commit, COMMIT_CREATING, commit->sent); }/'
plant offset_is_left_for_later 'steps' commit_rebase.c \
	's/change->state\.next_offset = last->end_offset;/change->state.next_offset = state->next_offset;/'
plant batches_not_yet_uploaded 'steps|assert' batch_queue.c \
	's/queue->ready < queue->count && batch_queue_at\(queue, queue->ready\)->uploaded/queue->ready < queue->count/'
plant key_is_rebuilt_at_retry 'key|steps' producer.c \
	's/(static void upload_retry[^{]*\{\n[^\n]*\n)/\1 struct tgb_name name; if (name_parse_tgb(upload->op.key, \&name)) { name.bucket = bucket_at(producer, now_ns); name_tgb(upload->op.key, \&name); }/'
plant known_is_kept_after_a_404 'end' commit.c \
	's/(static struct commit_effect restart_search[^{]*\{\n *)set_known\(commit, NULL\);/\1/'
plant commit_time_follows_the_clock 'report' commit_rebase.c \
	's/if \(state->last_commit_ns > change->state\.last_commit_ns\)\n *change->state\.last_commit_ns = state->last_commit_ns;//g'
plant trim_goes_one_too_far 'steps' commit_rebase.c \
	's/\.first_step = commit->seen\.floor\.step,/.first_step = commit->seen.floor.step > 0 ? commit->seen.floor.step + 1 : 0,/'
# What is told of an attempt, and goes into estimators and results.
plant all_that_was_ready_is_called_committed 'report' commit_rebase.c \
	's/commit->detail\.batches = [^;]*;/commit->detail.batches = commit->queue->ready;/'
plant newest_is_called_the_one_that_holds_it 'report' commit_rebase.c \
	's/(commit->detail\.version = )won \? state->last_commit_version : known->version;/\1known->version;/'
plant own_version_counts_as_a_foreign_one 'report' commit_rebase.c \
	's/(\.foreign_versions = )won && seen > 0 \? seen - 1 : seen,/\1seen,/'

# ---- ranks and reclaimers ----

plant reclaim_deletes_before_the_floor 'reclaim|chain' reclaim.c \
	's/reclaim->phase = RECLAIM_RAISING;\n    name_floor\(reclaim->control\.key, floor\);\n    reclaim_put\(reclaim, effects\);/reclaim->floor = floor; sweep(reclaim, effects);/'
plant watermarks_are_listed_once 'reclaim' reclaim.c \
	's/list_watermarks\(reclaim, RECLAIM_LISTING_AGAIN, effects\);/read_chain(reclaim, RECLAIM_READING_AGAIN, effects);/'
# An assert of the reclaimer sees it within a few seeds. Without that assert a zombie must be read just
# before the next listing for a checker to see what follows: not once in 1,000 seeds for sure.
plant version_is_not_validated 'assert|reader|reclaim' chain_reader.c \
	's/if \(reader->seen\.floor\.version > found->version\)/if (0)/'
plant what_is_not_named_is_garbage 'reclaim' reclaim_sweep.c \
	's/if \(!is_decided\(state, &name\)\)/if (state == NULL)/'
# A version that lost, or landed late, names batches that are still to be committed: deleting by it is
# to take all of an incarnation's for decided.
plant what_a_zombie_names_is_garbage 'reclaim' reclaim_sweep.c \
	's/return name->sequence <= state->last_sequence;/return true;/'
plant highest_floor_is_deleted 'reclaim' reclaim_sweep.c \
	's/if \(floor_below\(floor, old\) && floor\.step <= old\.step\)/if (old.version > 0)/'
plant orphans_are_kept 'end' reclaim_sweep.c \
	's/if \(live_set_has\(&reclaim->live, &name\)\) \{/if (live_set_has(\&reclaim->live, \&name) || is_orphan(state, \&name)) {/'
plant any_number_counts 'reclaim' watermark.c \
	's/else if \(scan->number_step >= scan->floor_step\)/else if (scan->number_step >= scan->floor_step \&\& (scan->current.state != WATERMARK_HELD || scan->number_step > scan->current.step))/'
plant watermark_is_one_too_high 'reclaim' watermark.c \
	's/(settle\(scan, WATERMARK_HELD, scan->number_step)\)/\1 + 1)/'
plant intent_is_not_checked 'reclaim|reader' membership.c \
	's/if \(membership->published >= intent\)/if (1)/'
plant numbers_between_are_not_read 'reclaim' membership_view.c \
	's/return view->lowest > 0 && [^;]*;/return view->lowest > 0;/'
plant published_before_durable 'reclaim' consumer.c \
	's/consumer->control_state = CONSUMER_MACHINE_SAVING;\n    consumer_effect\(effects, CONSUMER_EFFECT_SAVE, 0, 0\);\n\}/perform_control(consumer, 0, membership_publish(\&consumer->membership), effects);\n}/' \
	's/(case CONSUMER_CONTROL_CHECKPOINT:\n)/\1 consumer->control_state = CONSUMER_MACHINE_SAVING; consumer_effect(effects, CONSUMER_EFFECT_SAVE, 0, 0); return;\n/' \
	's/(assert\(consumer->control_state == CONSUMER_MACHINE_SAVING\);\n)/\1 if (consumer->phase == CONSUMER_RUNNING) { consumer->control_state = CONSUMER_MACHINE_IDLE; return; }\n/'
plant checkpoint_is_where_fetching_is 'reader' consumer.c \
	's/\{\.step = consumer->cursor,/{.step = consumer->next_fetch,/'
plant order_is_that_of_arrival 'reader' consumer_fetch.c \
	's/(const struct consumer_delivery \*consumer_delivery[^{]*\{)/\1 const struct fetch *later = \&consumer->fetches[(consumer->cursor + 1) % consumer->options.fetches_max]; if (consumer->offered \&\& later->state == FETCH_ARRIVED \&\& later->delivery.step == consumer->cursor + 1) return \&later->delivery;/'
plant another_rank_s_slice 'reader' consumer_fetch.c \
	's/tgb_layout_offset\(&layout, consumer->options\.slice\)/tgb_layout_offset(\&layout, 0)/'
plant rollback_goes_to_the_newest 'reader' membership.c \
	's/if \(target == 0\)/if (1)/'
plant missing_slice_is_a_loss 'reader' consumer_fetch.c \
	's/fetch->state = FETCH_MISSING;/consumer_stop(consumer, CONSUMER_LOST, "404"); return;/'

# ---- what is seen only where somebody comes late, stands still, or looks at all that is left ----

# What versions were trimmed by hides it mostly: both are forgotten.
plant step_of_the_highest_floor_counts 'reclaim' chain_view.c \
	's/if \(floor\.step > view->floor\.step\)/if (floor.version == view->floor.version)/'
# To take a rank without a value in the second listing for one that needs nothing is no bug that can show:
# it publishes after the intent, and reads it, unless it goes on from checkpoints by a number that was valued
# in the first listing; then it needs nothing below that value. Nor is falling to the lower number where the
# highest has no value: pages are whole in the virtual store, so such a number is a newcomer's, who reads the
# intent. (watermark/* hold the rule for listings that tear.)
plant lower_value_listed_again_is_ignored 'reclaim' reclaim.c \
	's/else if \(tally->step < reclaim->needed\)\n *reclaim->needed = tally->step;//'
plant ranks_that_never_came_are_not_waited_for 'reclaim' reclaim.c \
	's/(reclaim->needed = reclaim->floor\.step;\n *if \()!watermark_tally_complete\(tally\)/\1tally->consumers == 0/'
plant versions_below_the_floor_are_kept 'end' reclaim_sweep.c \
	's/return version < reclaim->floor\.version \? VERDICT_DELETE : VERDICT_STOP;/return VERDICT_STOP;/'
plant lower_floors_are_kept 'end' reclaim_sweep.c \
	's/if \(floor_below\(floor, old\) && floor\.step <= old\.step\)\n *return VERDICT_DELETE;//'
plant lower_intents_are_kept 'end' reclaim_sweep.c \
	's/step < reclaim->old_intent \|\| //'
plant nothing_is_trimmed 'reclaim' commit_rebase.c \
	's/\.first_step = [^,]*,/.first_step = 0,/'
# Batches of another incarnation of the same epoch (reclaim_sweep.c:is_decided) are nobody's here: who
# uploads has validated the version that gave it the epoch, and each epoch is given once.
plant superseded_is_not_seen 'reader' membership.c \
	's/(static struct membership_effect on_checked[^{]*\{[^;]*;\n *)if \(overtaken\(membership, &effect\)\)\n *return effect;/\1(void)effect;/'
plant stamps_are_not_saved 'reader' membership.c \
	's/membership->phase = MEMBERSHIP_SAVING;\n *return \(struct membership_effect\)\{\.kind = MEMBERSHIP_SAVE\};/return allow(membership);/'

# ---- damaged answers ----

plant damaged_slice_is_believed 'reader' tgb.c \
	's/if \(XXH3_64bits_withSeed\(data, read\.stored_bytes, tgb_slice_seed\(place, &read\)\) !=\n *read\.checksum\)/if (0)/'
plant damaged_plain_batch_is_believed 'reader' consumer_fetch.c \
	's/return known && checksum != entry->tgb_checksum \? tgb_error_text\(TGB_BAD_CHECKSUM\) : NULL;/(void)known; return NULL;/'
plant damage_is_told_and_handed_over 'reader' consumer_fetch.c \
	's/retry\(consumer, now_ns, fetch, CONSUMER_CORRUPT, damage, effects\);\n *return;//'
plant first_damage_ends_the_rank 'reader' consumer_fetch.c \
	's/fetch->damaged > CONSUMER_DAMAGED_MAX/fetch->damaged > 0/'
plant rollback_drops_the_older_ones_too 'reader' membership.c \
	's/(membership->checkpoints\.count = kept_at_start\(membership\);)/\1 if (membership->options.rollback_step > 0 \&\& membership->checkpoints.count > 1) { membership->checkpoints.items[0] = membership->checkpoints.items[membership->checkpoints.count - 1]; membership->checkpoints.count = 1; }/'
plant one_checkpoint_fewer_is_kept 'reader' checkpoint.c \
	's/while \(set->count >= kept\)/while (set->count > 1 \&\& set->count >= kept - 1)/'

# ---- a chain that another config made ----

plant genesis_of_another_is_taken_for_mine 'chain' commit.c \
	's/(static struct commit_effect on_genesis[^{]*\{\n *if \()(commit->op\.outcome == STORE_OK)\)/\1\2 || commit->op.outcome == STORE_EXISTS)/'

# ---- what is refused for good ----

plant refused_request_is_sent_again 'refusal' retry.c \
	's/if \(!retry_is_open\(op->outcome\)\)/if (!retry_is_open(op->outcome) \&\& op->outcome != STORE_FAILED)/'
plant refused_create_is_a_lost_one 'refusal|report' commit.c \
	's/(bool create = op->verb == STORE_PUT_IF_ABSENT;)/\1 if (op->outcome == STORE_FAILED \&\& commit->phase == COMMIT_CREATING) { commit->answered_ns = now_ns; *effect = send_validation(commit, COMMIT_INTENT_LOST); return true; }/'
# The version is there, and living mostly: only that the process must end now gives it away.
plant refused_validation_is_passed_over 'refusal|report' commit.c \
	's/(bool create = op->verb == STORE_PUT_IF_ABSENT;)/\1 if (op->outcome == STORE_FAILED \&\& commit->phase == COMMIT_VALIDATING \&\& commit->intent != COMMIT_INTENT_END) { *effect = decide(commit, now_ns); return true; }/'
plant refused_upload_is_an_upload 'steps|refusal' producer.c \
	's/(case RETRY_ANSWERED:)(\n *batch_queue_uploaded)/\1\n    case RETRY_REFUSED:\2/' \
	's/case RETRY_REFUSED:\n( *case RETRY_SILENT:\n *upload_free)/\1/'
plant refused_producer_is_called_stopped 'refusal' producer.c \
	's/return PRODUCER_STORE_FAILED;/return PRODUCER_STOPPED;/'
plant refused_slice_is_asked_for_again 'refusal' consumer_fetch.c \
	's/(case STORE_EXISTS:\n) *case STORE_FAILED:\n/\1/' \
	's/(case STORE_THROTTLED:\n)( *retry\(consumer, now_ns, fetch, CONSUMER_STORE_FAILED)/\1    case STORE_FAILED:\n\2/'
plant refused_value_counts_as_published 'refusal|reader' membership_request.c \
	's/case RETRY_REFUSED:\n/case RETRY_REFUSED: if (membership->phase == MEMBERSHIP_VALUING) return false;\n/'
plant refused_rank_says_not_why 'refusal' consumer.c \
	's/consumer_stop\(consumer, CONSUMER_STORE_FAILED, consumer->membership\.error\)/consumer_stop(consumer, CONSUMER_STORE_FAILED, consumer_end_text(CONSUMER_STORE_FAILED))/'
plant refused_floor_is_swept_by 'refusal|reclaim|chain' reclaim_request.c \
	's/case RETRY_REFUSED:\n/case RETRY_REFUSED: if (reclaim->phase == RECLAIM_RAISING) return false;\n/'
plant refused_deletion_is_passed_over 'refusal' reclaim_sweep.c \
	's/if \(verdict == RETRY_REFUSED && !failed\)/if (0)/'
