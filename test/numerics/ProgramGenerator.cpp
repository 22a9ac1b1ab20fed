#include "ProgramGenerator.h"

#include "PatternWriter.h"

#include <sstream>

namespace skim::numerics {

static Case generate(Profile profile, uint64_t seed, bool withOperands) {
  Case result;
  result.profile = profile;
  result.seed = seed;
  Random random(seed * 2 + (profile == Profile::whole ? 1 : 0));
  drawShape(result, random);

  Draw draw{result, random};
  draw.noncausal = random.chance(0.12);
  int64_t callees = random.pick<int64_t>({0, 0, 1, 2});
  for (int64_t i = 0; i < callees; ++i) {
    PatternWriter writer(draw, "part" + std::to_string(i), false);
    result.program += writer.write() + "\n";
    draw.callees.push_back(writer.callee());
  }
  result.pattern = "program";
  result.program += PatternWriter(draw, result.pattern, true).write();
  if (withOperands)
    drawOperands(result, random);
  return result;
}

Case generateCase(Profile profile, uint64_t seed) { return generate(profile, seed, true); }

Case generateProgram(Profile profile, uint64_t seed) { return generate(profile, seed, false); }

std::string Case::describe() const {
  std::ostringstream os;
  os << "profile "
     << (profile == Profile::whole    ? "whole"
         : profile == Profile::hopper ? "hopper"
                                      : "staticAndInputs")
     << ", seed " << seed << "\n"
     << program << "heads " << problem.q.heads << " / " << problem.k.heads << ", dimensions "
     << problem.q.dim << " / " << problem.v.dim << ", operands "
     << (operand == OperandType::f32    ? "f32"
         : operand == OperandType::bf16 ? "bf16"
                                        : "f16")
     << ", page size " << pageSize << ", layer " << problem.layer << "\nrequests (q_len, kv_len):";
  for (size_t i = 0; i < problem.kvLens.size(); ++i)
    os << " (" << problem.cuSeqlensQ[i + 1] - problem.cuSeqlensQ[i] << ", " << problem.kvLens[i]
       << ")";
  os << "\n";
  for (const auto &[name, values] : problem.parameters) {
    os << name << " =";
    for (double value : values)
      os << " " << value;
    os << "\n";
  }
  for (const auto &[name, value] : problem.inputs) {
    os << name << ": " << inputElements.at(name) << " [";
    for (size_t i = 0; i < value.shape.size(); ++i)
      os << (i ? ", " : "") << value.shape[i];
    os << "]\n";
  }
  return os.str();
}

} // namespace skim::numerics
