/* Selections over one row of scores, called by generated code. They allocate nothing, keep
 * no state and may run on many threads. A NaN score is an undefined cell: never selected,
 * never counted. `selected` receives 1 or 0 for each of the `count` cells. Returns how
 * many were selected. */
#ifndef SKIM_RUNTIME_CPU_SELECTION_H
#define SKIM_RUNTIME_CPU_SELECTION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The n largest scores, n = ceil(x - 1e-6 * max(1, x)) clamped to the cells that exist; ties go to
 * the smaller index. A radix selection: four passes, no scratch. */
int64_t skim_select_top_k(const float *scores, int64_t count, double x, uint8_t *selected);

/* The smallest prefix in descending order (ties: smaller index first) whose sum
 * reaches `mass` times the sum of all cells, negative scores counting as 0, at least one cell where
 * one exists. Sums are f64 in descending order. `order` is scratch for `count` numbers. */
int64_t skim_select_top_p(const float *scores, int64_t count, double mass, uint8_t *selected,
                          int32_t *order);

#ifdef __cplusplus
}
#endif

#endif /* SKIM_RUNTIME_CPU_SELECTION_H */
