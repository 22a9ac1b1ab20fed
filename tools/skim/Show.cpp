// `skim show`: draws what a pattern keeps.
#include "tools/skim/Comparison.h"
#include "tools/skim/Failure.h"
#include "tools/skim/Job.h"
#include "tools/skim/Picture.h"
#include "tools/skim/Subcommands.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cstring>

namespace skim::tool {
namespace {

/// Rows and keys of a tile as the picture tells them apart.
constexpr int64_t tileSide = 64;
constexpr int64_t mostPanels = 16;

llvm::Expected<HostBatch> readBatch(const Options &options) {
  if (options.has(OPT_qkv)) {
    for (OptionId id : {OPT_q_len, OPT_kv_len, OPT_query_heads, OPT_kv_heads})
      if (options.has(id))
        return wrongUsage("--q-len, --kv-len, --query-heads and --kv-heads stand for a file; "
                          "with --qkv the file says them");
    llvm::Expected<int64_t> tokens = options.number(OPT_tokens, 0, 1, INT32_MAX);
    if (!tokens)
      return tokens.takeError();
    return HostBatch::read(options.text(OPT_qkv), options.text(OPT_inputs), *tokens);
  }
  if (options.has(OPT_tokens))
    return wrongUsage("--tokens cuts the file of --qkv; without one, use --kv-len");
  constexpr int64_t longest = 65536;
  llvm::Expected<int64_t> kvLength = options.number(OPT_kv_len, 1024, 1, longest);
  if (!kvLength)
    return kvLength.takeError();
  llvm::Expected<int64_t> queryLength = options.number(OPT_q_len, *kvLength, 1, longest);
  if (!queryLength)
    return queryLength.takeError();
  llvm::Expected<int64_t> kvHeads = options.number(OPT_kv_heads, 1, 1, 1024);
  if (!kvHeads)
    return kvHeads.takeError();
  llvm::Expected<int64_t> queryHeads = options.number(OPT_query_heads, *kvHeads, 1, 1024);
  if (!queryHeads)
    return queryHeads.takeError();
  if (*queryHeads % *kvHeads != 0)
    return wrongUsage("--query-heads: expected a multiple of the " + llvm::Twine(*kvHeads) +
                      " KV heads but got " + llvm::Twine(*queryHeads));
  // Before the operands are allocated.
  if (llvm::Expected<int64_t> bytes = keptBytes(*queryHeads, *queryLength, *kvLength); !bytes)
    return bytes.takeError();
  return HostBatch::zeros(*queryLength, *kvLength, *queryHeads, *kvHeads, options.text(OPT_inputs));
}

/// The rows of one request and head, cut to the request's keys.
std::vector<uint8_t> keptOf(const HostBatch &batch, const Outcome &outcome, int64_t request,
                            int64_t head) {
  int64_t rows = batch.queryLength(request);
  int64_t keys = batch.kvLens[request];
  std::vector<uint8_t> kept(rows * keys);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t token = batch.cuSeqlensQ[request] + row;
    const uint8_t *from =
        outcome.kept.data() + (head * batch.queryTokens() + token) * batch.longestKv();
    std::memcpy(kept.data() + row * keys, from, keys);
  }
  return kept;
}

double densityOf(const Picture &picture, llvm::ArrayRef<uint8_t> kept) {
  int64_t visible = 0;
  for (int64_t row = 0; row < picture.queries; ++row)
    visible += picture.causal ? std::clamp(picture.base + row + 1, int64_t(0), picture.keys)
                              : picture.keys;
  auto pairs = llvm::count_if(kept, [](uint8_t one) { return one != 0; });
  return visible == 0 ? 1 : double(pairs) / double(visible);
}

std::string headTitle(const HostBatch &batch, int64_t head) {
  if (batch.queryHeads == 1)
    return "all heads";
  return llvm::formatv("head {0} (KV head {1})", head, head / (batch.queryHeads / batch.kvHeads));
}

/// Titles and axes, without panels.
Picture emptyPicture(const PatternSource &source,
                     const std::map<std::string, ParameterSetting> &settings,
                     const HostBatch &batch, int64_t request) {
  Picture picture;
  picture.title = callText(source.entry(), settings);
  picture.queries = batch.queryLength(request);
  picture.keys = batch.kvLens[request];
  picture.base = picture.keys - picture.queries;
  picture.tileRows = picture.tileKeys = tileSide;
  picture.causal = source.isCausal();
  picture.subtitle = llvm::formatv("{0} queries at positions {1} to {2}, {3} keys", picture.queries,
                                   picture.base, picture.base + picture.queries - 1, picture.keys);
  return picture;
}

} // namespace

llvm::Error show(const Options &options) {
  llvm::StringRef path = options.text(OPT_output);
  if (!path.ends_with(".svg") && !path.ends_with(".png"))
    return wrongUsage("expected -o FILE.svg or -o FILE.png");
  llvm::Expected<Prepared> prepared = prepare(options);
  if (!prepared)
    return prepared.takeError();
  const PatternSource &source = *prepared->source;
  llvm::Expected<HostBatch> batch = readBatch(options);
  if (!batch)
    return batch.takeError();
  llvm::Expected<int64_t> request =
      options.number(OPT_request, 0, 0, std::max<int64_t>(batch->requests() - 1, 0));
  if (!request)
    return request.takeError();
  llvm::Expected<std::vector<int64_t>> heads = options.numbers(OPT_heads, 0, batch->queryHeads - 1);
  if (!heads)
    return heads.takeError();
  if (batch->requests() == 0 || batch->queryLength(*request) == 0 || batch->kvLens[*request] == 0)
    return wrongInput("request " + llvm::Twine(*request) + " has no query or no key to draw");

  Job job{source, *batch, prepared->settings, prepared->device, prepared->layer,
          0,      1,      /*wantKept=*/true};
  llvm::Expected<Outcome> outcome = run(job, Variant::Asked);
  if (!outcome)
    return outcome.takeError();
  if (!outcome->problem.empty())
    return wrongInput(outcome->problem);
  std::optional<Comparison> comparison;
  // The comparison is over all requests: with several it says nothing of this one.
  if (options.has(OPT_qkv) && !options.has(OPT_no_dense) && batch->requests() == 1) {
    llvm::Expected<Comparison> compared = compareWithDense(job, *outcome);
    if (!compared)
      return compared.takeError();
    comparison = std::move(*compared);
  }

  Picture picture = emptyPicture(source, prepared->settings, *batch, *request);
  if (heads->empty())
    for (int64_t head = 0; head < std::min(batch->queryHeads, mostPanels); ++head)
      heads->push_back(head);
  std::vector<std::vector<uint8_t>> planes;
  for (int64_t head : *heads)
    planes.push_back(keptOf(*batch, *outcome, *request, head));
  // Without masses to tell apart, equal heads are one panel.
  bool same = !comparison && llvm::all_equal(planes);
  for (size_t i = 0; i < (same ? 1 : planes.size()); ++i) {
    Panel panel{same && planes.size() > 1 ? "all heads" : headTitle(*batch, (*heads)[i]), planes[i],
                densityOf(picture, planes[i]), std::nullopt};
    if (comparison)
      panel.mass = comparison->heads[(*heads)[i]].keptMass;
    picture.panels.push_back(std::move(panel));
  }
  return draw(picture, path);
}

} // namespace skim::tool
