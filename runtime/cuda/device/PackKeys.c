/* The truths that an input says of keys, a bit each, so that a search reads an eighth of the bytes.
 * Freestanding C for clang's NVPTX target. */
#include "runtime/cuda/device/PackKeysArguments.h"

#define KERNEL __attribute__((nvptx_kernel))

enum { WARP = 32, WORDS = SKIM_PACK_KEYS / WARP };

typedef uint32_t words __attribute__((ext_vector_type(4)));

static int32_t existing_keys(const skim_pack_arguments *pack, int64_t request) {
  const int32_t keys = pack->kv_lens[request];
  return keys < 0 || keys > pack->max_kv_length ? 0 : keys;
}

static void pack_row(const skim_pack_arguments *pack, int64_t request, int64_t head) {
  const int64_t shares = (int64_t)__nvvm_read_ptx_sreg_nctaid_x();
  const int32_t thread = (int32_t)__nvvm_read_ptx_sreg_tid_x();
  const int32_t lane = thread % WARP;
  const int32_t keys = existing_keys(pack, request);
  const uint8_t *truths = pack->truths + request * pack->request_stride + head * pack->head_stride;
  uint8_t *bits = pack->bits + request * pack->request_bytes + head * pack->head_bytes;

  for (int64_t first = (int64_t)__nvvm_read_ptx_sreg_ctaid_x() * SKIM_PACK_SHARE +
                       thread / WARP * SKIM_PACK_KEYS;
       first < keys; first += shares * SKIM_PACK_SHARE) {
    uint8_t truth[WORDS];
#pragma unroll
    for (int32_t i = 0; i < WORDS; ++i) {
      const int64_t key = first + i * WARP + lane;
      truth[i] = key < keys ? truths[key * pack->key_stride] : 0;
    }
    words packed;
#pragma unroll
    for (int32_t i = 0; i < WORDS; ++i)
      packed[i] = __nvvm_vote_ballot_sync(-1U, truth[i] != 0);
    if (lane == 0)
      *(words *)(bits + first / 8) = packed;
  }
}

/* Block (share, head, request). A warp asks 128 keys at a time, and votes on 32 at once. */
KERNEL void skim_pack_keys(const skim_pack_arguments pack) {
  const int64_t head = (int64_t)__nvvm_read_ptx_sreg_ctaid_y();
  for (int64_t request = (int64_t)__nvvm_read_ptx_sreg_ctaid_z(); request < pack.requests;
       request += (int64_t)__nvvm_read_ptx_sreg_nctaid_z())
    pack_row(&pack, request, head);
}
