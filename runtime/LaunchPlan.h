// The launch plan: which kernels a compiled pattern consists of, what they are given and how
// large their buffers are, as plain data. The planner writes it, `Kernel` reads it, and JSON
// carries it between processes.
#ifndef SKIM_RUNTIME_LAUNCHPLAN_H
#define SKIM_RUNTIME_LAUNCHPLAN_H

#include "runtime/ShapeExpr.h"

#include <skim/DType.h>
#include <skim/Status.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skim {

/// Which axis of heads something has.
enum class HeadAxis : uint8_t { None, KvHead, QueryHead };

/// What the kernels were compiled for.
struct Signature {
  int64_t queryHeads = 1;
  int64_t kvHeads = 1; ///< divides queryHeads
  int64_t headDim = 1;
  int64_t valueDim = 1;
  DType operand = DType::F32; ///< f32, f16 or bf16: q, k and v
  DType output = DType::F32;  ///< f32, f16 or bf16
  /// 0: contiguous keys and values; > 0: paged with this page size; unset: the
  /// kernels serve every layout and page size.
  std::optional<int64_t> pageSize;
  bool noncausal = false;
  /// The kernels can write the kept relation.
  bool writesKept = false;
  /// The pattern has `compact`: for which heads positions are gathered, one row a request where
  /// they are the same for all.
  std::optional<HeadAxis> compactHeads = {};

  bool operator==(const Signature &) const = default;
};

enum class ParameterType : uint8_t { Index, F32, Bool };
/// "index", "f32", "bool".
const char *parameterTypeName(ParameterType type);

/// The parameter of slot i is `LaunchPlan::parameters[i]`.
struct ParameterDescription {
  std::string name;
  ParameterType type = ParameterType::Index;
  bool perHead = false;
  /// Empty: the launch must give a value. Otherwise one value for all heads, or one each (perHead).
  /// A bool is 0 or 1; an index is exact up to 2^53.
  std::vector<double> defaultValues;
  /// Labels of a `match` on this parameter that has no `_` arm; empty: any value will do.
  std::vector<int64_t> allowed;
  /// Bounds of the values of a number, as a mass or a threshold has them; unset: none.
  std::optional<double> least = {}, most = {};

  bool operator==(const ParameterDescription &) const = default;
};

enum class InputElement : uint8_t {
  Bool,       ///< u8
  Index,      ///< i32
  F32,        ///< f32
  Vector,     ///< f32, `vectorSize` a cell
  List,       ///< i32 indices of key blocks; the key-like axis is the capacity
  ListCounts, ///< i32 entries in use of the list in the slot before; optional at launch
};

/// As the language writes it: "bool", "index", "f32", "vec", "list"; "list_counts".
const char *inputElementName(InputElement element);

/// The input of slot i is `LaunchPlan::inputs[i]`. A list takes two slots: the indices, then a
/// `ListCounts` named NAME_counts with the same head and query axes. When the launch gives no
/// counts the kernel sees one count for all (strides 0), the capacity.
struct InputDescription {
  std::string name;
  InputElement element = InputElement::F32;
  HeadAxis head = HeadAxis::None;
  int64_t queryBlock = 0; ///< block size of the query-like axis; 0: absent
  int64_t keyBlock = 0;   ///< block size of the key-like axis; 0: absent
  bool diagonal = false;  ///< the key-like axis is q - k (keyBlock is 1, queryBlock 0)
  int64_t vectorSize = 1;
  /// A weight of a linear map: exactly so many output rows, which are the key-like axis (keyBlock
  /// is 1, queryBlock 0). 0: not a weight.
  int64_t weightRows = 0;

  bool operator==(const InputDescription &) const = default;
};

/// The workspace buffer of slot i is `LaunchPlan::buffers[i]`: axes (request, head, query-like,
/// key-like), the last fastest, each cell `cellElements` elements; an axis of extent 1 has stride
/// 0.
struct BufferDescription {
  std::string name;
  DType element = DType::F32;
  int64_t cellElements = 1;
  std::array<ShapeExpr, 4> extents = {ShapeExpr(1), ShapeExpr(1), ShapeExpr(1), ShapeExpr(1)};
  /// Cleared before the first kernel of every run; otherwise contents are arbitrary.
  bool zeroed = false;
  /// Scratch: each worker has a slice with these extents, of which the first is 1; excludes
  /// `zeroed`. The slot's first axis counts workers.
  bool perWorker = false;

  bool operator==(const BufferDescription &) const = default;
};

/// What a work item's tile counts: `tileSize` query positions, `tileSize` keys, or nothing
/// (tile is 0).
enum class ItemAxis : uint8_t { None, Queries, Keys };

/// A bool input with a cell for each key, of which a kernel reads bits in place of bytes: `buffer`
/// receives 16 bytes for every 128 keys of a request and head. Slots.
struct PackedKeys {
  int64_t input = 0, buffer = 0;

  bool operator==(const PackedKeys &) const = default;
};

/// How a kernel is launched on a CUDA device. Boxes are those of the tensor maps, which hold q, k
/// and v as panels of 64 or 32 columns (cuda/Panels.h) with a swizzle as wide.
struct CudaLaunch {
  int64_t threads = 128;               ///< of a block
  int64_t sharedBytes = 0;             ///< dynamic shared memory of a block
  int64_t blocksPerMultiprocessor = 1; ///< blocks of the grid for each multiprocessor
  /// The kernel copies through tensor maps: operands of 16 bits, dimensions a multiple of 32.
  bool tensorMaps = false;
  int64_t rowsPerTile = 0; ///< box of q, of each head; 0: no maps
  int64_t keysPerTile = 0; ///< box of k and v; 0: the kernel copies their rows on its own
  /// The buffer that receives, for each request and KV head, the largest sum of squares of a key,
  /// by which the kernel bounds its scores: of f32, cleared, operands of bf16. It stays 0, which
  /// bounds nothing, where too few rows would gain by it. Unset: the kernel does not ask.
  std::optional<int64_t> keyNorms = {};
  /// The kernel, earlier in the plan and with the same items, that counts the visits of each. The
  /// items of a KV head of a request are then taken one after the other, the longest first. Neither
  /// the counting kernel nor the order is run where too few items, or too many groups of them,
  /// would gain by it. Unset: items come in the order that their positions say.
  std::optional<int64_t> orderedBy = {};
  /// The inputs that the runtime packs ahead of the kernel.
  std::vector<PackedKeys> packedKeys = {};

  bool operator==(const CudaLaunch &) const = default;
};

/// A kernel runs once for each work item. Requests without query rows have none. An axis of queries
/// has the absolute tiles that the request's rows touch (all rows, also those at negative
/// positions); an axis of keys has the ceil(kv_len / tileSize) blocks of keys.
struct KernelDescription {
  std::string symbol;
  HeadAxis head = HeadAxis::QueryHead;
  ItemAxis axis = ItemAxis::Queries;
  int64_t tileSize = 1;
  /// Keys of each tile that its statistics count as visited; 0: unknown, or it visits none.
  int64_t keyTile = 0;
  /// Set in plans for CUDA devices.
  std::optional<CudaLaunch> cuda = {};

  bool operator==(const KernelDescription &) const = default;
};

struct LaunchPlan {
  std::string pattern; ///< the pattern's name
  Signature signature;
  std::vector<ParameterDescription> parameters;
  std::vector<InputDescription> inputs;
  std::vector<BufferDescription> buffers;
  std::vector<KernelDescription> kernels; ///< in launch order
  /// Labels of a `match` on `layer` that has no `_` arm; empty: any value will do.
  std::vector<int64_t> allowedLayers;

  bool operator==(const LaunchPlan &) const = default;
};

/// Fails, naming the field, when a plan contradicts itself.
Status verify(const LaunchPlan &plan);

/// One JSON object. Integers are exact in 64 bits.
std::string toJson(const LaunchPlan &plan);
/// Reads and verifies what toJson wrote; anything else is an error that names the field.
Expected<LaunchPlan> launchPlanFromJson(std::string_view text);

} // namespace skim

#endif // SKIM_RUNTIME_LAUNCHPLAN_H
