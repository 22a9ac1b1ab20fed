/* What the kernel that packs truths of keys is given by value. Host and device include this file.
 */
#ifndef SKIM_RUNTIME_CUDA_DEVICE_PACKKEYSARGUMENTS_H
#define SKIM_RUNTIME_CUDA_DEVICE_PACKKEYSARGUMENTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SKIM_PACK_THREADS = 256,
  /* Keys whose bits a warp writes at once, as 16 bytes. */
  SKIM_PACK_KEYS = 128,
  /* Keys that a block looks at before it takes its next share. */
  SKIM_PACK_SHARE = SKIM_PACK_KEYS * SKIM_PACK_THREADS / 32
};

typedef struct skim_pack_arguments {
  const uint8_t *truths; /* [requests][heads][keys], a byte that is not 0 is true */
  int64_t request_stride;
  int64_t head_stride;
  int64_t key_stride;
  /* [requests][heads][blocks of 128 keys] bits at multiples of 16 bytes, the first key's lowest.
   * Bits of keys behind the last one are 0; blocks that hold no key are left as they are. */
  uint8_t *bits;
  int64_t request_bytes;
  int64_t head_bytes;
  const int32_t *kv_lens; /* [requests] */
  /* What lengths must stay within; of a request beyond it nothing is read. */
  int32_t max_kv_length;
  int32_t requests;
} skim_pack_arguments;

#ifdef __cplusplus
}
#endif

#endif /* SKIM_RUNTIME_CUDA_DEVICE_PACKKEYSARGUMENTS_H */
