/* inspect_payload.h - reads the TGBs that the chain names, and checks what they hold. */
#ifndef EXPERIMENTS_INSPECT_PAYLOAD_H
#define EXPERIMENTS_INSPECT_PAYLOAD_H

#include "experiments/live/inspect.h"

/* Of every live entry whose TGB has its size: the checksum, where the entry has one, and, where the
 * marker says that the payload is synthetic, every byte. Blocks. */
void inspect_payload(struct live_session *session, const struct inspect_options *options,
                     struct inspection *inspection);

#endif
