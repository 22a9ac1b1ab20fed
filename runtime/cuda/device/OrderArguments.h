/* What the kernels that order work items are given by value. Host and device include this file. */
#ifndef SKIM_RUNTIME_CUDA_DEVICE_ORDERARGUMENTS_H
#define SKIM_RUNTIME_CUDA_DEVICE_ORDERARGUMENTS_H

#include "runtime/cuda/device/SetupArguments.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SKIM_ORDER_THREADS = 256,
  /* Visits are told apart in so many steps of the most that an item of the group has. */
  SKIM_ORDER_BINS = 32,
  /* The most groups, each of which looks at all. */
  SKIM_ORDER_GROUPS = 4096
};

typedef struct skim_order_arguments {
  const skim_work_item *items; /* with their visits */
  skim_work_item *ordered;
  skim_item_group *groups; /* one a block */
  int32_t group_count;
  int32_t reserved;
} skim_order_arguments;

#ifdef __cplusplus
}
#endif

#endif /* SKIM_RUNTIME_CUDA_DEVICE_ORDERARGUMENTS_H */
