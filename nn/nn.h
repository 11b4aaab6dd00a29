// Everything of nn that a program needs.
#pragma once

#include "nn/embedding.h"
#include "nn/init.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"
#include "nn/loss.h"
#include "nn/mlp.h"
#include "nn/module.h"
#include "nn/optimizer.h"
