// Everything of attention that a program needs.
#pragma once

#include "attention/block.h"
#include "attention/fused.h"
#include "attention/head.h"
#include "attention/kv_cache.h"
#include "attention/masks.h"
#include "attention/multi_head.h"
#include "attention/scaled_dot_product.h"
#include "attention/streaming.h"
