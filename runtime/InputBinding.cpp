#include "runtime/InputBinding.h"

#include "runtime/TensorCheck.h"

#include <algorithm>
#include <array>
#include <limits>

namespace skim {

namespace {

DType elementType(InputElement element) {
  switch (element) {
  case InputElement::Bool:
    return DType::U8;
  case InputElement::F32:
  case InputElement::Vector:
    return DType::F32;
  case InputElement::Index:
  case InputElement::List:
  case InputElement::ListCounts:
    return DType::I32;
  }
  return DType::F32;
}

/// The four axes of skim_buffer; an axis that the input lacks has extent -1.
struct InputShape {
  int64_t head = -1;
  int64_t query = -1; ///< the least that the lengths need
  int64_t key = -1;
};

InputShape inputShape(const InputDescription &input, const Signature &signature,
                      const LengthBounds &bounds) {
  InputShape shape;
  if (input.head != HeadAxis::None)
    shape.head = input.head == HeadAxis::KvHead ? signature.kvHeads : signature.queryHeads;
  if (input.queryBlock > 0)
    shape.query = 0;
  if (input.keyBlock > 0)
    shape.key = 0;
  if (input.weightRows > 0) {
    shape.key = input.weightRows;
    return shape;
  }
  if (!bounds.lengths)
    return shape;
  const BatchLengths &lengths = *bounds.lengths;
  for (int64_t request = 0; request < lengths.requests; ++request) {
    if (lengths.queryLength(request) == 0)
      continue;
    if (input.queryBlock > 0)
      shape.query = std::max(shape.query, queryBlocks(lengths, request, input.queryBlock).count);
    if (input.keyBlock > 0 && input.element != InputElement::List)
      shape.key = std::max(shape.key, keyBlocks(lengths, request, input.keyBlock).count);
  }
  return shape;
}

/// Axes of the tensor that a launch gives, and for each the axis of skim_buffer it is (-1: the
/// vector).
struct TensorAxes {
  std::array<AxisRule, 5> rules{};
  std::array<int, 5> targets{};
  size_t count = 0;

  void push(AxisRule rule, int target) {
    rules[count] = rule;
    targets[count++] = target;
  }
};

TensorAxes tensorAxes(const InputDescription &input, const InputShape &shape, int64_t requests,
                      bool hasRequestAxis) {
  TensorAxes axes;
  if (hasRequestAxis)
    axes.push({"requests", requests}, 0);
  if (shape.head >= 0)
    axes.push({"heads", shape.head}, 1);
  if (shape.query >= 0)
    axes.push({"query blocks", shape.query, /*atLeast=*/true}, 2);
  const bool isWeight = input.weightRows > 0;
  if (shape.key >= 0)
    axes.push({input.element == InputElement::List ? "capacity"
               : isWeight                          ? "output rows"
                                                   : "key blocks",
               shape.key, /*atLeast=*/!isWeight},
              3);
  if (input.element == InputElement::Vector)
    axes.push({"vector", input.vectorSize}, -1);
  return axes;
}

Status bindInput(const InputDescription &input, const Signature &signature,
                 const TensorView &tensor, const LengthBounds &bounds, skim_buffer &slot) {
  const ArgumentName name{"input", input.name};
  const InputShape shape = inputShape(input, signature, bounds);
  const TensorAxes full = tensorAxes(input, shape, bounds.requests, true);
  // A weight belongs to the model, not to a request.
  const bool leftOut =
      input.weightRows > 0 ||
      (bounds.requests <= 1 && tensor.rank == static_cast<int64_t>(full.count) - 1);
  const TensorAxes axes = leftOut ? tensorAxes(input, shape, bounds.requests, false) : full;
  const bool isVector = input.element == InputElement::Vector;
  if (Status status = checkTensor(name, tensor, elementType(input.element),
                                  std::span(axes.rules).first(axes.count),
                                  isVector ? StrideRule::LastDense : StrideRule::Any,
                                  input.element == InputElement::Bool ? "bool (uint8)" : nullptr);
      !status)
    return status;

  slot.data = tensor.data;
  for (int axis = 0; axis < 4; ++axis) {
    slot.extents[axis] = 1;
    slot.strides[axis] = 0;
  }
  for (size_t i = 0; i < axes.count; ++i) {
    if (axes.targets[i] < 0)
      continue;
    slot.extents[axes.targets[i]] = tensor.shape[i];
    slot.strides[axes.targets[i]] = tensor.strides[i];
  }
  if (input.element == InputElement::List && slot.extents[3] > std::numeric_limits<int32_t>::max())
    return expectedButGot(name, "a capacity of at most 2^31 - 1", std::to_string(slot.extents[3]));
  return Status::ok();
}

/// Counts that were not given: the capacity of the list, at every cell.
void bindCapacity(const skim_buffer &list, skim_buffer &counts, int32_t &capacity) {
  capacity = static_cast<int32_t>(list.extents[3]);
  counts.data = &capacity;
  for (int axis = 0; axis < 4; ++axis) {
    counts.extents[axis] = 1;
    counts.strides[axis] = 0;
  }
}

} // namespace

Status bindInputs(const LaunchPlan &plan, std::span<const NamedTensor> inputs,
                  const LengthBounds &bounds, skim_buffer *slots, int32_t *capacities) {
  for (const NamedTensor &given : inputs)
    if (std::none_of(plan.inputs.begin(), plan.inputs.end(),
                     [&](const auto &input) { return input.name == given.name; }))
      return unknownName({"input", given.name}, plan.inputs);

  for (size_t slot = 0; slot < plan.inputs.size(); ++slot) {
    const InputDescription &input = plan.inputs[slot];
    const TensorView *tensor = nullptr;
    for (const NamedTensor &given : inputs) {
      if (given.name != input.name)
        continue;
      if (tensor)
        return expectedButGot({"input", input.name}, "one tensor", "several under this name");
      tensor = &given.tensor;
    }
    if (!tensor && input.element == InputElement::ListCounts) {
      bindCapacity(slots[slot - 1], slots[slot], capacities[slot]);
      continue;
    }
    if (Status status =
            bindInput(input, plan.signature, tensor ? *tensor : TensorView(), bounds, slots[slot]);
        !status)
      return status;
  }
  return Status::ok();
}

} // namespace skim
