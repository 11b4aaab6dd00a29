// Everything that draws: canvas and theme, the figures, PNG and CSV files.
#pragma once

#include "tools/plot/bars.h"
#include "tools/plot/canvas.h"
#include "tools/plot/color.h"
#include "tools/plot/csv.h"
#include "tools/plot/heatmap.h"
#include "tools/plot/lines.h"
#include "tools/plot/panel.h"
#include "tools/plot/png.h"
#include "tools/plot/table.h"
#include "tools/plot/theme.h"
