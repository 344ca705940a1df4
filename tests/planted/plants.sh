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
plant no_floor_read_after 'report|end|chain' commit.c \
	's/(static struct commit_effect on_validation[^{]*\{)/\1 commit->op.page.count = 0;/'
plant lowest_floor_is_trusted 'report|end|chain' commit.c \
	's/(NAME_FLOOR_PREFIX\);\n *commit->op\.list_keys_max = )1;/\1STORE_LIST_KEYS_MAX;/' \
	's/list_page_key\(&commit->op\.page, 0\)/list_page_key(\&commit->op.page, commit->op.page.count - 1)/'
plant producer_removes_a_version 'chain|report' commit.c \
	's/(counters\.unknown\+\+;\n *)break;/\1prepare(commit, STORE_DELETE); name_version(commit->op.key, commit->sent->version); commit->intent = COMMIT_INTENT_LOST; return effect_submit(commit, COMMIT_VALIDATING);/'
plant epoch_check_is_forgotten 'fence|end' commit_rebase.c \
	's/if \(state->epoch > commit->epoch \|\| !is_mine\(commit, state\)\)/if (0)/'
plant fencing_keeps_the_epoch 'fence|end' commit_rebase.c \
	's/(uint32_t epoch = )\(state[^;]*\) \+ 1;/\1state != NULL ? state->epoch : 1;/'
plant one_rebase_is_skipped 'chain|steps' commit.c \
	's/(static struct commit_effect found_newest[^{]*\{)/\1 if (commit->known \&\& commit->epoch != 0 \&\& commit->newest == commit->known->version + 1) { commit->lowest_used = commit->known->version; set_sent(commit, commit_build_next(commit, now_ns)); commit->sent->version++; commit->sent->base_version++; return send_create(commit, COMMIT_CREATING, commit->sent); }/'
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
	's/\.first_step = commit->floor\.step,/.first_step = commit->floor.step > 0 ? commit->floor.step + 1 : 0,/'
