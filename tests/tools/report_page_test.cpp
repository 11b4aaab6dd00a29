// The report's page: what tables say once, what frames hold.
#include "tools/report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tools/report/section.h"

namespace lookback::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

Section with_table(const Table& table) {
  Section section;
  section.id = "s";
  section.tables = {table};
  return section;
}

std::string body_of(const std::string& page) { return page.substr(page.find("<main>")); }

TEST(Page, SaysOnceWhatRowsHaveInCommon) {
  Table table;
  table.header = {"theorem", "path", "statement", "kind", "verdict"};
  table.rows = {{"simplex", "composed", "A < 1", "exact", "proved"},
                {"simplex", "fused", "A < 1", "exact", "FAILED: row 1"},
                {"hull", "fused", "inside", "exact", "proved"}};
  table.said_once = {"theorem", "statement", "kind"};
  const std::string html = body_of(page({}, {with_table(table)}));
  EXPECT_THAT(html, HasSubstr("<tr><th>path</th><th>verdict</th></tr>"));
  EXPECT_THAT(html, HasSubstr("colspan=\"2\"><b>simplex</b> A &lt; 1<br><small>kind: exact</small>"
                              "</th></tr><tr><td>composed</td><td>proved</td></tr>"
                              "<tr><td>fused</td><td class=\"bad\">FAILED: row 1</td></tr>"));
  EXPECT_THAT(html, HasSubstr("<b>hull</b> inside"));
  EXPECT_EQ(html.find("<b>simplex"), html.rfind("<b>simplex"));
}

TEST(Page, OtherTablesHaveTheirRowsAlone) {
  Table table;
  table.title = "Numbers";
  table.header = {"a", "b"};
  table.rows = {{"1", "[2, 3]"}, {"1", "words enough that they should not be squeezed, whatever"}};
  const std::string html = body_of(page({}, {with_table(table)}));
  EXPECT_THAT(html, HasSubstr("<figcaption>Numbers</figcaption><div class=\"frame\">"));
  EXPECT_THAT(html, HasSubstr("<tr><td>1</td><td class=\"keep\">[2, 3]</td></tr>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"words\">words"));
  EXPECT_THAT(html, Not(HasSubstr("rowgroup")));
}

TEST(Page, DrawingsHaveTheWidthThatGraphvizGaveThem) {
  Section section;
  Drawing drawing;
  drawing.svg = "<?xml?>\n<svg width=\"438pt\" height=\"9pt\"></svg>";
  section.drawings = {drawing};
  EXPECT_THAT(body_of(page({}, {section})), HasSubstr("style=\"--natural: 438pt\""));
}

}  // namespace
}  // namespace lookback::tools
