// Everything of the engine that a program needs.
#pragma once

#include "engine/backward.h"
#include "engine/grad_check.h"
#include "engine/graph_dot.h"
#include "engine/kernels/threads.h"
#include "engine/ops.h"
#include "engine/random.h"
#include "engine/tensor.h"
