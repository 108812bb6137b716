import { describe, expect, test } from "vitest";
import { configHelp, configReference, configReport, configReportText, maskText, readCommandLine } from "../index.ts";
import { maskInvalid } from "./mask.ts";
import { crmLike } from "../testing/crm-like.ts";

describe("help and reference", () => {
  test("help lists name, type, defaults and description of every variable", () => {
    const help = configHelp(crmLike);
    expect(help).toContain(
      "  OPRC_CRM_FEATURES_HPA  <true | false>  default: false (edge, full: true)\n      Uses HPAs.\n",
    );
    expect(help).toContain("  GRPC_PORT  <port>  optional\n");
    expect(help).toContain("  CRM_CLUSTER_<NAME>_URL  <URL>  required\n");
    expect(help).toContain("  OPRC_CRM_ENFORCEMENT_COOLDOWN_SECS  <duration or number of seconds>  default: 2m\n");
    expect(help).toContain("Aliases: OPRC_CRM_LOG, SERVICE_LOG, RUST_LOG.");
    expect(help).toContain("OPRC_CRM_TOKEN_FILE can name a file with the value.");
    expect(help).toContain("Removed\n\n  OPRC_CRM_MEMORY_HEADROOM\n      Memory has other margins.\n");
    for (const { at } of crmLike.variables) expect(help).toContain(`  ${at.name}  <`);
  });

  test("the reference has one row per variable with escaped bars", () => {
    const page = configReference([crmLike]);
    const [used = "", unused = ""] = page.split("### Removed");
    expect(unused).toContain("| `OPRC_CRM_MEMORY_HEADROOM` | Memory has other margins. |");
    expect(unused).toContain("| `TRACING_ENDPOINT` | Traces are not emitted. |");
    const rows = used.split("\n").filter((line) => line.startsWith("| `"));
    expect(rows).toHaveLength(crmLike.variables.length + 3);
    for (const row of rows) expect(row.replaceAll(String.raw`\|`, "").split("|")).toHaveLength(6);
    expect(page).toContain("| `HTTP_PORT` | port | 8088 | Port of gRPC and HTTP. |");
    expect(page).toContain("| `OPRC_CRM_PROFILE` | dev \\| edge \\| full | dev |");
    expect(page).toContain("### Enforcement");
    expect(page).toContain("A variable `OPRC_CRM_*`, `CRM_CLUSTER_*` that is not listed here is an error.");
  });
});

describe("report", () => {
  test("lists effective values and origins with secrets masked", () => {
    const text = configReportText(
      configReport(crmLike, {
        env: {
          OPRC_CRM_PROFILE: "edge",
          SERVICE_LOG: "warn",
          OPRC_CRM_TOKEN_FILE: "/run/token",
          OPRC_CRM_PROM_URL: "http://me:hunter2@prom:9090/x",
          GRPC_PORT: "x",
          CRM_CLUSTER_EU_URL: "http://eu",
          TRACING_ENDPOINT: "http://me:hunter4@otel:4318",
        },
        args: ["--http-port=1"],
        readFile: () => "hunter3",
      }),
    );
    const lines = text.split("\n").map((line) => line.replace(/\s+#/, " #"));
    expect(lines).toEqual(
      expect.arrayContaining([
        "OPRC_CRM_PROFILE=edge # environment",
        "HTTP_PORT=1 # flag --http-port",
        "GRPC_PORT is invalid # environment",
        "OPRC_CRM_TOKEN=*** # file /run/token, from OPRC_CRM_TOKEN_FILE",
        "OPRC_CRM_PROM_URL=http://me:***@prom:9090/x # environment",
        "LOG_LEVEL=warn # environment, as SERVICE_LOG",
        "OPRC_CRM_FEATURES_HPA=true # default of profile edge",
        "OPRC_CRM_LIMITS_MAX_REPLICAS=20 # default",
        "OPRC_CRM_PIN= # not set",
        "CRM_CLUSTER_EU_URL=http://eu # environment",
        "CRM_CLUSTER_EU_TIMEOUT=30s # default",
        "TRACING_ENDPOINT=http://me:***@otel:4318 # no effect: Traces are not emitted.",
      ]),
    );
    expect(text).not.toMatch(/hunter|ENFORCEMENT_MODE/);
  });
});

test.each([
  ["http://user:pw@host/p", "http://user:***@host/p"],
  ["http://token@host", "http://***@host"],
  ["http://u:a/b@c@host", "http://u:***@host"],
  ["http://a:1@x,http://b:2@y", "http://a:***@x,http://b:***@y"],
  ["http://host/p?api_key=1&b=2", "http://host/p?api_key=***&b=2"],
  ["mail me@host", "mail me@host"],
  ["http://host/path", "http://host/path"],
])("masks %s as %s", (text, want) => {
  expect(maskText(text)).toBe(want);
});

test.each([
  ["nonsense://u:p w,x@y@host", "nonsense://***@host"],
  ["u:p@host:1", "***@host:1"],
  ["ht!tp://x?token=a b", "ht!tp://x?token=***"],
  ["many", "many"],
])("masks the invalid %s as %s", (text, want) => {
  expect(maskInvalid(text)).toBe(want);
});

test.each([
  { args: [], mode: "run", rest: [] },
  { args: ["--a=1", "--help"], mode: "help", rest: ["--a=1"] },
  { args: ["-h", "--print-config"], mode: "help", rest: [] },
  { args: ["--print-config", "--a=1"], mode: "print-config", rest: ["--a=1"] },
])("the command line $args selects $mode", ({ args, mode, rest }) => {
  expect(readCommandLine(args)).toEqual({ mode, args: rest });
});
