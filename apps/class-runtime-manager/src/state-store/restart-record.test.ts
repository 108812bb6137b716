import { describe, expect, test } from "vitest";
import {
  answerTurn,
  formatRestartRecord,
  parseRestartRecord,
  TURN_MS,
  type RestartRecord,
  type TurnRequest,
} from "./restart-record.ts";

const NOW = 1_000_000;
const open = { id: "t1", nodeId: 1, podUid: "pod-1", grantedAtMs: NOW - 1_000 };
const asked: TurnRequest = { id: "t1", nodeId: 1, podUid: "pod-1", isMember: true, isNeeded: true, nowMs: NOW };

describe("answers requests for turns", () => {
  test.each<{ why: string; record?: RestartRecord; request?: Partial<TurnRequest>; want: object }>([
    {
      why: "a node that waits",
      want: { accepted: true, record: { turn: { ...open, grantedAtMs: NOW }, attempts: {} } },
    },
    {
      why: "the same turn again lasts no longer",
      record: { turn: open, attempts: { 1: 2 } },
      want: { accepted: true, record: { turn: open, attempts: { 1: 2 } } },
    },
    {
      why: "a node that needs no restart gives the turn back",
      record: { turn: open, attempts: { 1: 2 } },
      request: { isNeeded: false },
      want: { accepted: false, record: { declined: "t1", attempts: { 1: 2 } } },
    },
    {
      why: "a declined turn stays declined, however late its request arrives",
      record: { declined: "t1", attempts: {} },
      want: { accepted: false, record: { declined: "t1", attempts: {} } },
    },
    {
      why: "an expired turn is not extended",
      record: { turn: { ...open, grantedAtMs: NOW - TURN_MS }, attempts: {} },
      want: { accepted: false, record: { declined: "t1", attempts: {} } },
    },
    {
      why: "the turn of a node without a running pod may be in use, whatever the status says",
      record: { attempts: { 1: 1 } },
      request: { podUid: undefined, isNeeded: false },
      want: { accepted: true, record: { attempts: { 1: 1 } } },
    },
    {
      why: "a declined turn stays declined without a pod",
      record: { declined: "t1", attempts: {} },
      request: { podUid: undefined },
      want: { accepted: false, record: { declined: "t1", attempts: {} } },
    },
    {
      why: "a node of another cluster has nothing to restart",
      request: { podUid: undefined, isMember: false },
      want: { accepted: false, record: { declined: "t1", attempts: {} } },
    },
    {
      why: "the successor of a restarted pod still needs it",
      record: { turn: open, attempts: {} },
      request: { podUid: "pod-2" },
      want: { accepted: true, record: { turn: { ...open, podUid: "pod-2", grantedAtMs: NOW }, attempts: {} } },
    },
    {
      why: "a late request for another turn that is not needed leaves the open one",
      record: { turn: open, attempts: {} },
      request: { id: "t0", isNeeded: false },
      want: { accepted: false, record: { turn: open, declined: "t0", attempts: {} } },
    },
    {
      why: "the next turn replaces the last",
      record: { turn: open, declined: "t0", attempts: {} },
      request: { id: "t2", nodeId: 2, podUid: "pod-2" },
      want: {
        accepted: true,
        record: { turn: { id: "t2", nodeId: 2, podUid: "pod-2", grantedAtMs: NOW }, declined: "t0", attempts: {} },
      },
    },
  ])("$why", ({ record = { attempts: {} }, request, want }) =>
    expect(answerTurn(record, { ...asked, ...request })).toEqual(want),
  );
});

test("restores what it wrote", () => {
  const record = { turn: open, declined: "t0", attempts: { 4711: 2 } };
  expect(parseRestartRecord(formatRestartRecord(record))).toEqual(record);
  expect(formatRestartRecord({ attempts: {} })).toBeUndefined();
});

test.each([undefined, "", "null", "[]", "{", '{"turn":{"id":1}}', '{"attempts":{"1":"x","2":-1}}', '{"attempts":[]}'])(
  "takes %j for an empty record",
  (text) => expect(parseRestartRecord(text)).toEqual({ attempts: {} }),
);
