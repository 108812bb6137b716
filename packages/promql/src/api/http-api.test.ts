import { describe, expect, it } from "vitest";
import { TimeSeriesStore } from "../store/time-series-store.ts";
import { createPrometheusApi } from "./http-api.ts";

const NOW = 1_700_000_000_000;
const store = new TimeSeriesStore();
for (let second = 0; second <= 60; second += 15) {
  for (const pod of ["a", "b"]) store.append({ __name__: "up", pod, job: "web" }, NOW - 60_000 + second * 1000, second);
}
store.append({ __name__: "version_info", version: "1" }, NOW, 1);
const api = createPrometheusApi({ store, now: () => NOW, version: "1.2.3" });

function get(path: string, parameters: Record<string, string> | string = {}): { status: number; body: unknown } {
  const { status, body, contentType } = api({
    method: "GET",
    path,
    search: new URLSearchParams(parameters).toString(),
  });
  return { status, body: contentType === "application/json" ? JSON.parse(body) : body };
}

const success = (data: unknown): unknown => ({ status: 200, body: { status: "success", data } });

describe("createPrometheusApi", () => {
  it("answers instant queries with the shapes of Prometheus", () => {
    expect(get("/api/v1/query", { query: 'up{pod="a"}' })).toEqual(
      success({
        resultType: "vector",
        result: [{ metric: { __name__: "up", job: "web", pod: "a" }, value: [1_700_000_000, "60"] }],
      }),
    );
    expect(get("/api/v1/query", { query: "1 / 0", time: "10.5" })).toEqual(
      success({ resultType: "scalar", result: [10.5, "+Inf"] }),
    );
    expect(get("/api/v1/query", { query: '"x"', time: "1970-01-01T00:00:10Z" })).toEqual(
      success({ resultType: "string", result: [10, "x"] }),
    );
    expect(get("/api/v1/query", { query: "count(up[30s:15s])" })).toMatchObject({ status: 400 });
  });

  it("answers range queries, also by POST with a form", () => {
    const form = new URLSearchParams({
      query: "sum(up)",
      start: "1699999985",
      end: "1700000000",
      step: "15s",
    }).toString();
    const expected = {
      status: "success",
      data: {
        resultType: "matrix",
        result: [
          {
            metric: {},
            values: [
              [1_699_999_985, "90"],
              [1_700_000_000, "120"],
            ],
          },
        ],
      },
    };
    expect(get("/api/v1/query_range", form)).toEqual({ status: 200, body: expected });
    const posted = api({ method: "POST", path: "/api/v1/query_range", search: "", body: form });
    expect(JSON.parse(posted.body)).toEqual(expected);
  });

  it("lists series, label names and label values", () => {
    expect(get("/api/v1/series", 'match[]=up{pod="b"}&match[]=version_info')).toEqual(
      success([
        { __name__: "up", job: "web", pod: "b" },
        { __name__: "version_info", version: "1" },
      ]),
    );
    expect(get("/api/v1/series", `match[]=up&end=${NOW / 1000 - 3600}`)).toEqual(success([]));
    expect(get("/api/v1/labels")).toEqual(success(["__name__", "job", "pod", "version"]));
    expect(get("/api/v1/label/pod/values")).toEqual(success(["a", "b"]));
    expect(get("/api/v1/label/__name__/values", "match[]=up")).toEqual(success(["up"]));
  });

  it("is ready and shows its version", () => {
    expect(get("/-/ready").status).toBe(200);
    expect(get("/api/v1/status/buildinfo")).toMatchObject({ body: { data: { version: "1.2.3" } } });
  });

  it.each([
    ["/api/v1/query", {}, 400, "bad_data", 'parameter "query" is missing'],
    ["/api/v1/query", { query: "sum(" }, 400, "bad_data", 'invalid parameter "query"'],
    ["/api/v1/query", { query: "up", time: "yesterday" }, 400, "bad_data", 'invalid parameter "time"'],
    [
      "/api/v1/query_range",
      { query: "up", start: "0", end: "1", step: "x" },
      400,
      "bad_data",
      'invalid parameter "step"',
    ],
    [
      "/api/v1/query_range",
      { query: "up", start: "0", end: "99999", step: "1" },
      400,
      "bad_data",
      "exceeded maximum resolution",
    ],
    ["/api/v1/query", { query: "up * on (job) up" }, 422, "execution", "many-to-many matching not allowed"],
    ["/api/v1/query", { query: "mad_over_time(up[5m])" }, 422, "execution", "function mad_over_time is not supported"],
    ["/api/v1/series", {}, 400, "bad_data", "no match[] parameter"],
    ["/api/v1/series", { "match[]": "rate(up[5m])" }, 400, "bad_data", "not a series selector"],
  ])("%s with %j is %i", (path, parameters, status, errorType, error) => {
    const answer = get(path, parameters);
    expect(answer).toMatchObject({
      status,
      body: { status: "error", errorType, error: expect.stringContaining(error) as string },
    });
  });

  it("refuses other paths and methods", () => {
    expect(get("/api/v1/admin/tsdb/delete_series").status).toBe(404);
    expect(api({ method: "DELETE", path: "/api/v1/query", search: "" }).status).toBe(405);
  });
});
