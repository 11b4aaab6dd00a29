// The fast attention; for now it only forwards to its plain twin.
#include <hwy/base.h>

#include "engine/kernels/attention.h"

namespace lookback::kernels {

void attention_forward(const AttentionShape& shape, Operand<float> q, Operand<float> k,
                       Operand<float> v, MayAttend mask, MutableOperand<float> out, float* lse) {
  attention_forward_reference(shape, q, k, v, mask, out, lse);
}

void attention_forward(const AttentionShape& shape, Operand<double> q, Operand<double> k,
                       Operand<double> v, MayAttend mask, MutableOperand<double> out, double* lse) {
  attention_forward_reference(shape, q, k, v, mask, out, lse);
}

void attention_backward(const AttentionShape& shape, Operand<float> q, Operand<float> k,
                        Operand<float> v, MayAttend mask, Operand<float> out, const float* lse,
                        Operand<float> dout, MutableOperand<float> dq, MutableOperand<float> dk,
                        MutableOperand<float> dv) {
  attention_backward_reference(shape, q, k, v, mask, out, lse, dout, dq, dk, dv);
}

void attention_backward(const AttentionShape& shape, Operand<double> q, Operand<double> k,
                        Operand<double> v, MayAttend mask, Operand<double> out, const double* lse,
                        Operand<double> dout, MutableOperand<double> dq, MutableOperand<double> dk,
                        MutableOperand<double> dv) {
  attention_backward_reference(shape, q, k, v, mask, out, lse, dout, dq, dk, dv);
}

}  // namespace lookback::kernels
