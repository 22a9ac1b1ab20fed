// The C interface to what comes after runs: merged states and gathered tokens.
#include "runtime/c/Arguments.h"
#include "runtime/c/Handles.h"

#include <skim/GatherTokens.h>
#include <skim/MergeStates.h>

using namespace skim;
using namespace skim::c;

skim_status_code skim_merge_states(const skim_attention_state *parts, size_t count,
                                   const skim_attention_state *merged) {
  if (!merged || (!parts && count > 0))
    return refuse("expected parts and where to merge them but got null");
  Arrays arrays;
  std::vector<AttentionState> states;
  states.reserve(count);
  for (size_t i = 0; i < count; ++i)
    states.push_back({arrays.view("out", parts[i].out), arrays.view("lse", parts[i].lse)});
  const AttentionState into = {arrays.view("merged.out", merged->out),
                               arrays.view("merged.lse", merged->lse)};
  if (arrays.isRefused())
    return refuse(arrays.refusal());
  return answer(mergeStates(states, into));
}

skim_status_code skim_gather_tokens(const skim_token_gather *given) {
  if (!given)
    return refuse("gather: expected what to gather but got null");
  const Versioned<skim_token_gather> gather(given);
  if (!gather.isValid())
    return gather.refusal("gather");
  Arrays arrays;
  TokenGather tokens;
  tokens.tokens = arrays.view("tokens", gather->tokens);
  tokens.cuSeqlens = arrays.view("cu_seqlens", gather->cu_seqlens);
  tokens.kvLens = arrays.view("kv_lens", gather->kv_lens);
  tokens.positions = arrays.view("positions", gather->positions);
  tokens.counts = arrays.view("counts", gather->counts);
  tokens.head = gather->head;
  tokens.gathered = arrays.view("gathered", gather->gathered);
  tokens.gatheredCuSeqlens = arrays.view("gathered_cu_seqlens", gather->gathered_cu_seqlens);
  tokens.gatheredPositions = arrays.view("gathered_positions", gather->gathered_positions);
  if (arrays.isRefused())
    return refuse(arrays.refusal());
  return answer(gatherTokens(tokens));
}
