import { expect, test } from "vitest";
import { selectMetricsFormat } from "./metrics-format.ts";

const OPEN = "application/openmetrics-text";

test.each([
  { accept: undefined, format: "prometheus", why: "no header" },
  { accept: "*/*", format: "prometheus", why: "curl reads text" },
  { accept: "text/html,*/*;q=0.8", format: "prometheus", why: "a browser reads text" },
  {
    accept: `${OPEN};version=1.0.0,${OPEN};version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1`,
    format: "openmetrics",
    why: "the header of Prometheus 2",
  },
  { accept: `text/plain;version=0.0.4;q=0.5, ${OPEN};q=0.3`, format: "prometheus", why: "text is preferred" },
  { accept: `${OPEN};version=0.0.1`, format: "prometheus", why: "a draft version that is not served" },
  { accept: `${OPEN};q=0`, format: "prometheus", why: "q=0 means not acceptable" },
  { accept: `${OPEN};q=x`, format: "prometheus", why: "an invalid weight" },
  { accept: `APPLICATION/OpenMetrics-Text; Version=1.0.0`, format: "openmetrics", why: "types ignore case" },
  { accept: `${"a/b,".repeat(1000)}${OPEN}`, format: "prometheus", why: "only the first ranges are read" },
])("selects $format for $accept ($why)", ({ accept, format }) => {
  expect(selectMetricsFormat(accept)).toBe(format);
});
